// Index maps that read what bodies store: the results depend on when they are computed. Each program's maps are
// computed once, before the body of the preceding program, as the fetch of a block with two buffers needs them and as
// in JAX's interpreter; the first one's before any body. Based on: docs/spec/grid.md#residency. Limits: maps are not
// computed ahead into a task that may run on another core.
#ifndef PALLADION_SEMANTICS_PREPARE_MAPS_AHEAD_H_
#define PALLADION_SEMANTICS_PREPARE_MAPS_AHEAD_H_

#include <cstdint>

#include "semantics/program/builder.h"

namespace palladion {

// The steps around those of the maps. In their order: BeginMaps, the maps, EndMaps, what fetches and flushes,
// BeforeBody, the body.
class MapsAhead {
 public:
  // `wanted`: they are, whether it shows or not.
  MapsAhead(Builder& builder, bool wanted);

  // Does a map name a prefetched operand that the kernel stores into? Else maps are computed when a program begins.
  bool ahead() const { return ahead_; }
  void BeginMaps();
  void EndMaps();
  void BeforeBody();
  const Label& next() const { return labels_.next; }  // where every program after the first goes on

 private:
  enum class Known : std::int64_t { kNone, kComing, kNext };  // what the maps' results are of
  struct Labels {
    Label next, maps, programs, body;
  };
  struct Params {
    SlotId known;
    Labels to;
  };

  static Known& KnownOf(const Params& params, Frame& frame);
  static void PutAt(std::int64_t program, Frame& frame);
  static absl::Status RunForget(const void* params, const Step& step, Frame& frame);
  static absl::Status RunUnlessKnown(const void* params, const Step& step, Frame& frame);
  static absl::Status RunUnlessComing(const void* params, const Step& step, Frame& frame);
  static absl::Status RunMapsDone(const void* params, const Step& step, Frame& frame);
  static absl::Status RunMapsOfNext(const void* params, const Step& step, Frame& frame);
  Params params() const { return {known_, labels_}; }

  Builder& builder_;
  const bool ahead_;
  SlotId known_;
  const Labels labels_;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PREPARE_MAPS_AHEAD_H_
