#include "emu/chip/machines/nearest_keys.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/edit_distance.h"

namespace palladion::machines {
namespace {

constexpr std::size_t kShown = 3, kLongest = 60;

// Letters apart; those of one group first, as the group is what people remember.
std::size_t Far(std::string_view name, const KeyRow& key) {
  const std::string_view group = name.substr(0, name.find('.'));
  return EditDistance(name, key.name) + (group == key.group() ? 0 : key.name.size());
}

}  // namespace

std::size_t RowOf(std::string_view name) {
  const auto* found = std::find_if(std::begin(key_table::kRows), std::end(key_table::kRows),
                                   [&](const KeyRow& key) { return key.name == name; });
  return static_cast<std::size_t>(found - std::begin(key_table::kRows));
}

std::string UnknownKey(std::string_view name, const Machine* machine) {
  const std::string_view word = name.substr(0, kLongest);
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (std::size_t row = 0; row < key_table::kCount; ++row) {
    const KeyRow& key = key_table::kRows[row];
    if (machine == nullptr || machine->At(row).has_value()) near.emplace_back(Far(word, key), key.name);
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string names;
  for (std::size_t i = 0; i < std::min(kShown, near.size()); ++i) Append(&names, i == 0 ? "" : ", ", near[i].second);
  return Cat(machine == nullptr ? "there is no number '" : Cat(machine->name(), " has no number '"), word,
             "'; the nearest are ", names);
}

}  // namespace palladion::machines
