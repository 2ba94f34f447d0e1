// Every limit of a GPU kernel, by a kernel that breaks it and a twin that keeps it (conformance/golden/gpu_limits.txt).
#include "emu/check/legality/gpu/limits.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <string>

#include "emu/check/contracts.h"
#include "semantics/base/cat.h"
#include "semantics/ir/parser.h"

namespace palladion::legality {
namespace {

// One pair, still with <<broken||kept>> in it.
struct Pair {
  std::string name;
  std::map<std::string, std::string> lines;  // by their first word
};

std::vector<Pair> ReadPairs() {
  std::ifstream file(PALLADION_SOURCE_DIR "/conformance/golden/gpu_limits.txt");
  std::vector<Pair> pairs;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line.starts_with("=== ")) {
      pairs.push_back({line.substr(4), {}});
      continue;
    }
    const std::size_t space = line.find(' ');
    std::string& text = pairs.back().lines[line.substr(0, space)];
    if (line.starts_with("do ")) {
      text += line.substr(3) + ";\n";
    } else {
      text = line.substr(space + 1);
    }
  }
  return pairs;
}

std::string Choose(std::string text, bool broken) {
  for (std::size_t open = text.find("<<"); open != std::string::npos; open = text.find("<<", open)) {
    if (text.substr(open, 3) == "<<<") ++open;  // ref<<<...
    const std::size_t middle = text.find("||", open), close = text.find(">>", middle);
    const std::string chosen =
        broken ? text.substr(open + 2, middle - open - 2) : text.substr(middle + 2, close - middle - 2);
    text = text.substr(0, open) + chosen + text.substr(close + 2);
  }
  return text;
}

struct Twin {
  std::string text, target, producer = {};
};

Twin TwinOf(const Pair& pair, bool broken) {
  const auto line = [&](const std::string& key, const std::string& otherwise) {
    const auto found = pair.lines.find(key);
    return Choose(found == pair.lines.end() ? otherwise : found->second, broken);
  };
  const std::string x = line("x", "f16[64,64]");
  const std::string one = "grid=[1], grid_names=[\"g\"], cluster=[], cluster_names=[], threads=none, thread_name=none";
  const std::string devices = line("devices", "");
  return {Cat("pkir 1;\nkernel @k {\n  backend mosaic_gpu;\n  params ", line("params", "{}"), ";\n",
              devices.empty() ? "" : Cat("  devices ", devices, ";\n"), "  in %x: ", x, " space gmem;\n  mesh gpu {",
              line("mesh", one), "};\n  body @k (%xr: ref<gmem,", x,
              ">) {\n    run_scoped{collective_axes=", line("axes", "[]"), "}() (", line("scope", ""), ") {\n",
              line("do", ""), "      return;\n    };\n    return;\n  }\n}\n"),
          line("target", "mosaic_gpu/h100"), line("producer", "")};
}

std::vector<Finding> FindingsOf(const Twin& twin) {
  const absl::StatusOr<Module> module = Parse(twin.text, "k.pkir");
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << twin.text;
  const absl::StatusOr<Target> target = TargetFromName(twin.target);
  EXPECT_TRUE(target.ok()) << target.status();
  if (!module.ok() || !target.ok()) return {};
  return check::StaticFindingsOfParsed(module->kernels[0], *target, twin.producer);
}

TEST(GpuLimits, EachIsFoundWhereItIsBrokenAndNotInItsTwin) {
  std::set<std::string> seen;
  for (const Pair& pair : ReadPairs()) {
    seen.insert(pair.name);
    const Twin broken = TwinOf(pair, true), kept = TwinOf(pair, false);
    const std::vector<Finding> findings = FindingsOf(broken);
    EXPECT_FALSE(findings.empty()) << pair.name << "\n" << broken.text;
    for (const Finding& finding : findings) {
      EXPECT_TRUE(finding.message.ends_with(Cat("[", pair.name, "]"))) << finding.message << "\n" << broken.text;
      EXPECT_NE(std::string::npos, finding.message.find("; found "));
      EXPECT_FALSE(finding.fix.empty());
      EXPECT_GT(finding.text_line, 0);
    }
    for (const Finding& finding : FindingsOf(kept))
      ADD_FAILURE() << pair.name << ": " << finding.message << "\n" << kept.text;
  }
  for (const LimitText& limit : AllGpuLimits())
    EXPECT_EQ(1u, seen.count(std::string(limit.name))) << "no kernel breaks " << limit.name;
  EXPECT_EQ(seen.size(), AllGpuLimits().size());
}

// A kernel that mixes them is illegal for that, too, so this is no pair of the file.
TEST(GpuLimits, AProductOfAPairSaysThatItsLeftOperandIsOfOneBlock) {
  const auto said = [](std::string_view collective) {
    const Twin twin{
        Cat("pkir 1;\nkernel @k {\n  backend mosaic_gpu;\n  mesh gpu {grid=[1], grid_names=[\"g\"], cluster=[2], "
            "cluster_names=[\"c\"], threads=none, thread_name=none};\n  body @k () {\n    "
            "run_scoped{collective_axes=[]}() (%c: ref<tmem,f32[128,64] {collective=true}>, %a: "
            "ref<tmem,f16[128,64] {packing=2, collective=",
            std::string(collective),
            "}>, %b: ref<smem,f16[4,1,8,64]>, %w: ref<smem,barrier{arrivals=1, orders_tensor_core=true}[1]>) {\n      "
            "tcgen05_mma{collective_axis=\"c\", arrive=true, scaled=false, sparse=false}(acc=%c, a=%a, "
            "b=%b.unswizzle(128).untile[8,64].transpose[1,0], accumulate=false, barrier=%w);\n      return;\n    };\n"
            "    return;\n  }\n}\n"),
        "mosaic_gpu/b200"};
    std::string all;
    for (const Finding& finding : FindingsOf(twin)) all += finding.message + "\n";
    return all;
  };
  EXPECT_EQ(said("true"), "");
  EXPECT_NE(std::string::npos, said("false").find("a in tensor memory without collective=True [mma.pair]"))
      << said("false");
}

TEST(GpuLimits, NamesAreUniqueAndRulesAreSentences) {
  std::set<std::string_view> names;
  for (const LimitText& limit : AllGpuLimits()) {
    EXPECT_TRUE(names.insert(limit.name).second) << limit.name;
    EXPECT_NE(std::string_view::npos, limit.name.find('.'));
    EXPECT_FALSE(limit.rule.empty() || limit.rule.ends_with(".")) << limit.rule;
    EXPECT_FALSE(limit.source.empty() || limit.fix.empty()) << limit.name;
  }
}

// What the scope's allocations are called over the limit, "" where they fit.
std::string Capacity(const std::string& scope, const std::string& body = "", const std::string& params = "{}") {
  const Pair pair{"", {{"scope", scope}, {"do", body}, {"params", params}}};
  const std::vector<Finding> findings = FindingsOf(TwinOf(pair, true));
  for (const Finding& finding : findings) EXPECT_EQ(FindingCode::kCapacity, finding.code) << finding.message;
  return findings.empty() ? "" : findings[0].message;
}

std::string Bytes(const std::string& name, int bytes) { return Cat("%", name, ": ref<smem,i8[", bytes, "]>"); }

TEST(GpuCapacity, SharedMemoryIsWhatNestedScopesHoldAtOnce) {
  // Of 227 KiB the compiled kernel needs some itself: an H100 refuses the launch where arrays fill them all.
  constexpr int kKiB = 1024, kAll = 226 * kKiB;
  const std::string barrier = "ref<smem,barrier{arrivals=1, orders_tensor_core=false}[1]>";
  EXPECT_EQ("", Capacity(Bytes("s", kAll)));
  EXPECT_NE("", Capacity(Bytes("s", kAll + 1)));
  EXPECT_EQ("", Capacity(Bytes("s", kAll) + ", %b: " + barrier));
  const std::string full = Capacity(Bytes("s", kAll + kKiB) + ", %b: " + barrier);
  EXPECT_NE(std::string::npos, full.find("227.0078 KiB of shared memory")) << full;
  EXPECT_NE(std::string::npos, full.find("8 bytes for barriers")) << full;
  // Each array begins at a multiple of 1024 bytes.
  EXPECT_EQ("", Capacity(Bytes("s", kAll - 2 * kKiB) + ", " + Bytes("t", 1) + ", " + Bytes("u", 1)));
  EXPECT_NE("", Capacity(Bytes("s", kAll - 2 * kKiB + 1) + ", " + Bytes("t", 1) + ", " + Bytes("u", 1)));
  // Scopes one after another, and branches, use the same bytes; nested ones do not. Two bits, four to a byte.
  const auto scope = [](const std::string& params, const std::string& body = "") {
    return Cat("run_scoped{collective_axes=[]}() (", params, ") { ", body, " return; };\n");
  };
  EXPECT_EQ("", Capacity("", scope(Bytes("s", kAll)) + scope(Bytes("t", kAll))));
  EXPECT_EQ("", Capacity("", Cat("cond(0:i32) { ", scope(Bytes("s", kAll)), " return; } { ", scope(Bytes("t", kAll)),
                                 " return; };\n")));
  EXPECT_NE("", Capacity("", scope(Bytes("s", kAll), scope(Bytes("t", 1)))));
  EXPECT_EQ("", Capacity(Cat("%s: ref<smem,i2[", 4 * kAll, "]>")));
  // Equal groups of barriers of later scopes have one place, nested ones two.
  std::string nearly = Bytes("s", kAll);  // and 126 barriers
  for (const int count : {32, 31, 30, 29, 4})
    Append(&nearly, ", %l", count, ": ref<smem,barrier{arrivals=2, orders_tensor_core=false}[", count, "]>");
  EXPECT_EQ("", Capacity(nearly, scope("%b: " + barrier) + scope("%c: " + barrier)));
  EXPECT_NE("", Capacity(nearly, scope("%b: " + barrier, scope("%c: " + barrier))));
}

TEST(GpuCapacity, AReductionNeedsScratch) {
  const std::string reduce = "%v = iota{dim=0}() : i32[128];\n%r = reduce_max{axes=[0]}(%v) : i32[];\n";
  EXPECT_EQ("", Capacity(Bytes("s", 224 * 1024), reduce));
  EXPECT_NE("", Capacity(Bytes("s", 224 * 1024 + 1), reduce));
  EXPECT_EQ("", Capacity(Bytes("s", 223 * 1024), reduce, "{reduction_scratch_bytes=3000}"));
  EXPECT_NE("", Capacity(Bytes("s", 224 * 1024), reduce, "{reduction_scratch_bytes=3000}"));
}

}  // namespace
}  // namespace palladion::legality
