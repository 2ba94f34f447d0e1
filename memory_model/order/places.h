// Where things are. An allocation is named by its site and occurrence and exists at a place; the same name at another
// place is another piece of memory, and a view of a peer's memory changes the place only. What this does not know:
// which places a mesh has, and what lies at an address.
#ifndef PALLADION_MEMORY_MODEL_ORDER_PLACES_H_
#define PALLADION_MEMORY_MODEL_ORDER_PLACES_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace palladion {

enum class PlaceLevel : std::uint8_t { kDevice, kCluster, kBlock, kThread, kWarp };  // a TPU core is a block
inline constexpr std::size_t kPlaceLevels = 5;

// Numbers down to some level; kNone below it.
struct Place {
  static constexpr std::int32_t kNone = -1;
  std::array<std::int32_t, kPlaceLevels> number = {0, kNone, kNone, kNone, kNone};

  std::int32_t at(PlaceLevel level) const { return number[static_cast<std::size_t>(level)]; }
  // The place of this level that this place is in: without everything below.
  Place UpTo(PlaceLevel level) const;
  // The same place but for one number: where a view of a peer leads.
  Place With(PlaceLevel level, std::int32_t value) const;

  friend bool operator==(const Place& a, const Place& b) { return a.number == b.number; }
  friend bool operator!=(const Place& a, const Place& b) { return a.number != b.number; }
  friend bool operator<(const Place& a, const Place& b) { return a.number < b.number; }
};
std::string Describe(const Place& place);  // "device 0, block 3, thread 1"

struct AllocationName {
  std::int64_t site = 0;        // where in the kernel: the machine's number for it
  std::int64_t occurrence = 0;  // the how-maniest time at this site and place, from 0
  friend bool operator==(const AllocationName& a, const AllocationName& b) {
    return a.site == b.site && a.occurrence == b.occurrence;
  }
};

// What exists where, under which name: memory, barriers, semaphores, each by its id. Names stay when an object ends: a
// peer that comes late is told so.
template <class ObjectId>
class NamedObjects {
 public:
  // The next occurrence of the site at the place.
  AllocationName Add(std::int64_t site, const Place& place, ObjectId object) {
    const AllocationName name{site, occurrences_[{site, place}]++};
    by_name_[{name.site, name.occurrence, place}] = object;
    objects_[object] = {name, place, false};
    return name;
  }
  void End(ObjectId object) { objects_.at(object).ended = true; }
  bool Has(ObjectId object) const { return objects_.contains(object); }

  struct Found {
    ObjectId object;
    bool ended = false;
  };
  // nullopt: nothing has been made under that name there yet.
  std::optional<Found> Find(const AllocationName& name, const Place& place) const {
    const auto at = by_name_.find({name.site, name.occurrence, place});
    if (at == by_name_.end()) return std::nullopt;
    // The id may have been given to a later object: then this one is gone.
    const Object& now = objects_.at(at->second);
    return Found{at->second, now.ended || !(now.name == name) || now.place != place};
  }
  // The same name at another place. Add was told of `object`.
  std::optional<Found> PeerOf(ObjectId object, const Place& place) const {
    return Find(objects_.at(object).name, place);
  }
  const Place& PlaceOf(ObjectId object) const { return objects_.at(object).place; }
  const AllocationName& NameOf(ObjectId object) const { return objects_.at(object).name; }

 private:
  struct Object {
    AllocationName name;
    Place place;
    bool ended = false;
  };
  std::map<std::tuple<std::int64_t, std::int64_t, Place>, ObjectId> by_name_;
  std::map<std::pair<std::int64_t, Place>, std::int64_t> occurrences_;
  std::map<ObjectId, Object> objects_;
};

}  // namespace palladion

#endif  // PALLADION_MEMORY_MODEL_ORDER_PLACES_H_
