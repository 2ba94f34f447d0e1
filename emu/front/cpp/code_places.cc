#include "emu/front/cpp/code_places.h"

#include <string_view>
#include <utility>

namespace palladion {

LocId CodePlaces::IdOf(const CodePlace& place) {
  const auto [file, is_new] = files_.try_emplace(place.file, FileId{static_cast<std::int32_t>(module_.files.size())});
  if (is_new) module_.files.emplace_back(place.file);
  const LocId next{static_cast<std::int32_t>(module_.locs.size())};
  const auto [id, added] = ids_.try_emplace({file->second.value, place.line, place.function}, next);
  if (added) module_.locs.push_back({.file = file->second, .line = place.line, .function = place.function, .via = {}});
  return id->second;
}

std::string CodePlaces::TextOf(LocId loc) const {
  return loc.valid() ? PlaceText(module_, loc, 0) : "the end of the kernel";
}

namespace {

constexpr std::pair<std::string_view, std::string_view> kWords[] = {
    {"plgpu.barrier_wait", "ctx.wait"},
    {"plgpu.barrier_arrive", "ctx.arrive"},
    {"plgpu.commit_smem_to_gmem_group()", "ctx.commit_copies()"},
    {"plgpu.commit_smem()", "ctx.commit_smem()"},
    {"plgpu.wait_smem_to_gmem(0)", "ctx.wait_copies()"},
    {"plgpu.Barrier", "ctx.make_barrier"},
    {"pl.semaphore_signal", "ctx.signal"},
    {"pl.semaphore_wait", "ctx.wait"},
};

void SayInCpp(std::string& text) {
  for (const auto& [python, cpp] : kWords) {
    for (std::size_t at = text.find(python); at != std::string::npos; at = text.find(python, at + cpp.size()))
      text.replace(at, python.size(), cpp);
  }
  constexpr std::string_view kAt = ".at[";  // an element of an array of barriers
  for (std::size_t at = text.find(kAt); at != std::string::npos; at = text.find(kAt, at)) {
    text[at + kAt.size() - 1] = '(';
    const std::size_t end = text.find(']', at);
    if (end != std::string::npos) text[end] = ')';
  }
}

}  // namespace

void SayInCpp(Finding& finding) {
  for (std::string* text : {&finding.message, &finding.why, &finding.fix}) SayInCpp(*text);
}

}  // namespace palladion
