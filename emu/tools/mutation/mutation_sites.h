// Where a kernel can be mutated, each place with the edit that does it.
#ifndef PALLADION_EMU_TOOLS_MUTATION_MUTATION_SITES_H_
#define PALLADION_EMU_TOOLS_MUTATION_MUTATION_SITES_H_

#include <functional>
#include <string>
#include <vector>

#include "emu/tools/mutation/mutants.h"
#include "semantics/ir/module.h"

namespace palladion::mutation {

struct MutationSite {
  Mutation mutation = Mutation::kDropMask;
  int line = 0;
  std::string what;
  std::function<void()> apply;  // edits the kernel that the sites were found in; of all of them only one may be applied
};

// In the order of the text, kind by kind. The kernel must be one that the verifier accepted, in a module that outlives
// the sites.
std::vector<MutationSite> MutationSites(const Module& module, Kernel& kernel);

// Those of one operand's block: emu/tools/mutation/mutation_blocks.cc.
void AddBlockSites(Kernel& kernel, std::vector<MutationSite>& sites);

// Those of synchronisation: emu/tools/mutation/mutation_sync.cc.
void AddSyncSites(const Module& module, Kernel& kernel, std::vector<MutationSite>& sites);

}  // namespace palladion::mutation

#endif  // PALLADION_EMU_TOOLS_MUTATION_MUTATION_SITES_H_
