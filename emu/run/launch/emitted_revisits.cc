#include "emu/run/launch/emitted_revisits.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "memory_model/sets/region.h"

namespace palladion::launch {
namespace {

using memory_model::BoxReach;

std::int64_t ElementsOf(absl::Span<const std::int64_t> shape) {
  std::int64_t elements = 1;
  for (const std::int64_t size : shape) elements *= size;
  return elements;
}

}  // namespace

EmittedRevisits::EmittedRevisits(const Module& module) {
  for (std::size_t i = 0; i < module.locs.size(); ++i) {
    const Loc& loc = module.locs[i];
    if (loc.function.ends_with("BufferedRef.copy_out") &&
        module.files[loc.file.index()].ends_with("pallas/mosaic/pipeline.py"))
      copies_out_.insert(static_cast<std::int32_t>(i));
  }
}

memory_model::WitnessAccess EmittedRevisits::AccessOf(AccessKind kind, const BoxAccess& access,
                                                      const CodeSite& site) const {
  const BoxReach reach = memory_model::ReachOf(memory_->ShapeOf(access.buffer), access);
  memory_model::ElementBox box;
  memory_model::ExtentOf(access, reach, &box);
  return {.kind = kind,
          .program = program_,
          .box = memory_model::ToString(box),
          .loc = site.loc,
          .text_line = site.text_line};
}

// The body of the block's last step is over.
void EmittedRevisits::Issued(const Who& who, const AsyncRequest& request) {
  if (who.at_once || !copies_out_.contains(request.site.loc.value)) return;
  if (request.sources.size() != 1 || request.destinations.size() != 1) return;
  const auto* source = std::get_if<BoxAccess>(&request.sources[0].where);
  const auto* destination = std::get_if<BoxAccess>(&request.destinations[0].where);
  if (source == nullptr || destination == nullptr) return;
  Buffer& buffer = buffers_[source->buffer.value];
  const absl::Span<const std::int64_t> shape = memory_->ShapeOf(source->buffer);
  const absl::Span<const std::int64_t> array_shape = memory_->ShapeOf(destination->buffer);
  buffer.stale.resize(static_cast<std::size_t>(ElementsOf(shape)));
  std::vector<bool>& flushed = buffer.flushed[destination->buffer.value];
  flushed.resize(static_cast<std::size_t>(ElementsOf(array_shape)));
  bool again = false;
  memory_model::VisitElements(*destination, memory_model::ReachOf(array_shape, *destination), array_shape,
                              [&](std::int64_t element, std::int64_t) {
                                const auto at = static_cast<std::size_t>(element);
                                again |= flushed[at];
                                flushed[at] = true;
                              });
  std::vector<bool> sent(buffer.stale.size());
  memory_model::VisitElements(*source, memory_model::ReachOf(shape, *source), shape,
                              [&](std::int64_t element, std::int64_t) {
                                sent[static_cast<std::size_t>(element)] = true;
                                buffer.stale[static_cast<std::size_t>(element)] = true;
                              });
  const auto is_sent = [&](const StaleRead& read) { return sent[static_cast<std::size_t>(read.element)]; };
  const auto read = std::find_if(buffer.reads.begin(), buffer.reads.end(), is_sent);
  if (again && read != buffer.reads.end()) {
    Add({.buffer = std::string(memory_->NameOf(source->buffer)),
         .array = std::string(memory_->NameOf(destination->buffer)),
         .read = read->access,
         .flush = AccessOf(AccessKind::kWrite, *destination, request.site)});
  }
  buffer.reads.erase(std::remove_if(buffer.reads.begin(), buffer.reads.end(), is_sent), buffer.reads.end());
}

void EmittedRevisits::Box(const Who&, AccessKind kind, const BoxAccess& access, const BoxReach& reach,
                          const std::byte*) {
  const auto found = buffers_.find(access.buffer.value);
  if (found == buffers_.end() || copies_out_.contains(access.site.loc.value)) return;
  Buffer& buffer = found->second;
  std::int64_t stale = -1;
  memory_model::VisitElements(access, reach, memory_->ShapeOf(access.buffer), [&](std::int64_t element, std::int64_t) {
    const auto at = static_cast<std::size_t>(element);
    if (kind != AccessKind::kRead) buffer.stale[at] = false;
    if (stale < 0 && buffer.stale[at]) stale = element;
  });
  constexpr std::size_t kMost = 16;  // one for each buffer would do
  if (kind != AccessKind::kRead || stale < 0 || buffer.reads.size() >= kMost) return;
  buffer.reads.push_back({stale, AccessOf(AccessKind::kRead, access, CodeSite::Of(access.site))});
}

void EmittedRevisits::Add(EmittedRevisit revisit) {
  for (EmittedRevisit& known : found_) {
    if (known.array != revisit.array || known.flush.text_line != revisit.flush.text_line) continue;
    ++known.count;
    return;
  }
  found_.push_back(std::move(revisit));
}

}  // namespace palladion::launch
