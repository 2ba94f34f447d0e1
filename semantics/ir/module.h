// A parsed file of kernel text as plain data: what `parse` gives, `verify` checks, `prepare` reads and `print` writes.
// Nothing here is checked by itself; VerifiedModule (verifier.h) is the checked form.
// Based on: docs/spec/kernel-text.md, which mirrors JAX's jaxpr, GridMapping and BlockMapping.
#ifndef PALLADION_SEMANTICS_IR_MODULE_H_
#define PALLADION_SEMANTICS_IR_MODULE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "semantics/base/ids.h"
#include "semantics/ir/attr.h"
#include "semantics/ir/type.h"
#include "semantics/tensor/tensor.h"

namespace palladion {

struct OpRow;  // semantics/registry/op_row.h

// One frame of the user's Python.
// `via` is the caller's; the innermost frame is where a kernel's text points.
struct Loc {
  FileId file;
  int line = 0;
  int column = 0;
  std::string function;
  LocId via;
};

// One scalar: the element's storage bytes, low bytes first.
struct Literal {
  DType dtype = DType::kI32;
  bool weak = false;
  std::array<std::byte, 8> bytes{};
};

struct Transform;

// One operand of an instruction, or one atom of an index.
struct Arg {
  enum class Kind : std::uint8_t { kNone, kValue, kLiteral, kDense, kSelect };
  Kind kind = Kind::kNone;
  std::string name;                     // of a named argument: "init", "mask"; "" when positional
  ValueId value;                        // kValue
  std::vector<Transform> transforms;    // kValue of a ref type: the view chain; empty is the whole ref
  Literal literal;                      // kLiteral
  std::shared_ptr<const Tensor> dense;  // kDense: an array constant, written in place or by a const's name
  std::string dense_name;               // the const's name, "" when written in place
  std::vector<Arg> select;              // kSelect: the index first, then the views
};

// One entry of `.at[...]`, for one dimension of the ref as the chain so far shows it.
struct Index {
  enum class Kind : std::uint8_t {
    kFull,   // *
    kPoint,  // a scalar or an integer array: `start` is the index
    kSlice,  // start +: size : stride
    kRef,    // a ref of indices (SparseCore gather): `start` is the ref
  };
  Kind kind = Kind::kFull;
  Arg start;  // literal i32 or a value
  Arg size;   // kSlice: literal i32; a value only for DMA
  std::int64_t stride = 1;
};

struct Transform {
  enum class Kind : std::uint8_t {
    kAt,
    kBitcast,
    kReshape,
    kTranspose,  // every backend
    kUnswizzle,
    kUntile,
    kTile,
    kSwizzle,
    kPeer,
    kMulticast,
    kCluster,
    kAlias,
    kExpandBatch,
    kCollapseBatch,
  };
  Kind kind = Kind::kAt;
  std::vector<Index> indices;      // kAt; of kCluster those that are computed
  std::vector<std::int64_t> ints;  // reshape, transpose, tile sizes, swizzle bytes, ...
  DType dtype = DType::kF32;       // kBitcast
  Arg peer;                        // kPeer
  AttrMap attrs;                   // kPeer's kind, kMulticast, kCluster, kAlias
};

std::string_view Name(Transform::Kind kind);  // "at", "reshape"

struct Param {
  ValueId value;
  std::vector<Transform> view;
};

struct Region;

struct Instr {
  std::string dialect;  // "" when the name is unambiguous: JAX's own primitives
  std::string name;     // the primitive
  AttrMap attrs;
  std::vector<Arg> args;
  std::vector<Region> regions;
  std::vector<ValueId> results;  // an invalid id is `_`
  std::vector<Type> types;       // of the results
  LocId loc;
  int text_line = 0;
  const OpRow* row = nullptr;  // filled by the verifier
};

// A block of instructions with parameters and results. It may use values of the regions around it.
struct Region {
  bool has_params = false;  // written with a parameter list, even an empty one
  std::vector<Param> params;
  std::vector<Instr> body;
  std::vector<Arg> results;
  int text_line = 0;
};

struct BlockDim {
  enum class Kind : std::uint8_t { kBlocked, kSqueezed, kElement, kBoundedSlice, kIndirect };
  Kind kind = Kind::kBlocked;
  std::int64_t size = 1;
  std::int64_t low = 0, high = 0;  // kElement: virtual padding
};

struct BlockSpec {
  std::vector<BlockDim> dims;  // one for each dimension of the array
  Region map;  // parameters: one i32 per grid dimension, one ref per prefetch operand; results: one per array dimension
  std::vector<Transform> view;
  std::optional<AttrMap> buffered;
};

enum class Role : std::uint8_t { kBound, kPrefetch, kIn, kOut, kScratch };
std::string_view Name(Role role);

struct Operand {
  Role role = Role::kIn;
  ValueId value;
  std::string label;  // the user's name: "args[0]", "outputs"
  std::optional<Space> space;
  std::optional<BlockSpec> block;
  ValueId alias;  // kOut: the input whose memory it shares
  LocId loc;
  int text_line = 0;
};

struct GridDim {
  std::int64_t size = 1;
  ValueId bound;  // valid: the size is this operand's value
};

struct Launch {
  std::vector<GridDim> grid;
  std::vector<std::string> names;  // one for each dimension, "" for an unnamed one; or empty
  std::vector<std::int64_t> vmapped;
  std::string mesh;  // "gpu", "tensorcore", ...; "" for a grid
  AttrMap mesh_attrs;
};

struct Body {
  std::string name;
  std::string mesh;
  Region region;  // parameters: prefetch, in, out, scratch refs in the operands' order
};

struct ValueInfo {
  std::string name;  // without %
  Type type;
  std::string label;  // the user's name of a ref: "x_ref"
};

struct Kernel {
  std::string name;     // without @
  std::string backend;  // "mosaic_tpu", "mosaic_gpu", "triton" or ""
  std::string arch;
  AttrMap params;                 // compiler parameters
  AttrMap other;                  // cost, meta, devices, options by name
  std::vector<Operand> operands;  // bounds, prefetch, in, out, scratch
  Launch launch;
  std::vector<Body> bodies;
  std::vector<ValueInfo> values;
  int text_line = 0;
};

struct NamedConst {
  std::string name;
  std::shared_ptr<const Tensor> value;
};

struct Module {
  int version = 1;
  std::string path;  // where the text came from, for errors; not part of the text
  std::string producer;
  std::vector<std::string> files;
  std::vector<std::string> file_names;  // ids as written, without #
  std::vector<Loc> locs;
  std::vector<std::string> loc_names;
  std::vector<NamedConst> consts;
  std::vector<Kernel> kernels;
};

// "file.py:12:3 in kernel (called from file.py:30)", innermost frame first; "" for an invalid id.
std::string Describe(const Module& module, LocId id);

// A place within a sentence: "kernel.py:7", the innermost line of the user's own Python; where JAX's Python wrote the
// instruction for the user, "kernel.py:7 (in JAX's pipeline.py:231)"; without any, "line 12 of the kernel text", or in
// a text that has places "a step that JAX put around the kernel".
std::string PlaceText(const Module& module, LocId id, int text_line);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_IR_MODULE_H_
