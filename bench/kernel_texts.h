// Kernel texts of our own for the benchmarks, built to a size. They are not meant to be read: docs/spec has examples.
#ifndef PALLADION_BENCH_KERNEL_TEXTS_H_
#define PALLADION_BENCH_KERNEL_TEXTS_H_

#include <string>
#include <vector>

namespace palladion::bench {

// A grid of `programs`, each with the same `length` operations on one type: v1 = op(x, x), v2 = op(v1, x), ...; the
// operations take turns. With `fetch`, every operation reads x from its ref anew. With `lines`, each has a place in a
// file.
struct Chain {
  std::vector<std::string> operations;
  std::string type;  // "f32[8,128]"
  int length = 256;
  int programs = 1;
  bool fetch = false;
  bool lines = false;
};

inline std::string ChainText(const Chain& chain) {
  const std::string& type = chain.type;
  std::string text = "pkir 1;\n";
  if (chain.lines) {
    text += "file #f = \"chain.py\";\nloc #caller = #f:1:1 fn \"main\";\n";
    for (int i = 0; i < chain.length; ++i) {
      text += "loc #l" + std::to_string(i) + " = #f:" + std::to_string(i + 2) + ":3 fn \"chain\" via #caller;\n";
    }
  }
  text += "kernel @chain {\n  in %a: " + type + ";\n  out %o: " + type + ";\n  grid [" +
          std::to_string(chain.programs) + "];\n";
  text += "  body @chain (%ar: ref<default," + type + ">, %or: ref<default," + type +
          ">) {\n    %x = get(%ar) : " + type + ";\n";
  std::string last = "%x";
  for (int i = 0; i < chain.length; ++i) {
    const std::string number = std::to_string(i);
    std::string right = "%x";
    if (chain.fetch) {
      right = "%x" + number;
      text += "    " + right + " = get(%ar) : " + type + ";\n";
    }
    const std::string& operation = chain.operations[static_cast<std::size_t>(i) % chain.operations.size()];
    text += "    %v" + number + " = " + operation + "(" + last + ", " + right + ") : " + type;
    text += chain.lines ? " #l" + number + ";\n" : ";\n";
    last = "%v" + number;
  }
  return text + "    _ = swap(%or, " + last + ") : " + type + ";\n    return;\n  }\n}\n";
}

// `blocks` programs, each with a block (8, 128) of an array whose rows are `width` elements: the block's program copies
// it to the output, or does nothing.
inline std::string BlocksText(int blocks, int width, bool copy) {
  const std::string type = "f32[" + std::to_string(8 * blocks) + "," + std::to_string(width) + "]";
  const std::string block = " block (8,128) map (%i: i32[]) { return %i, 0:i32; };\n";
  const std::string ref = "ref<default,f32[8,128]>";
  std::string text = "pkir 1;\nkernel @blocks {\n  in %a: " + type + block + "  out %o: " + type + block;
  text += "  grid [" + std::to_string(blocks) + "];\n  body @blocks (%ar: " + ref + ", %or: " + ref + ") {\n";
  if (copy) text += "    %x = get(%ar) : f32[8,128];\n    _ = swap(%or, %x) : f32[8,128];\n";
  return text + "    return;\n  }\n}\n";
}

// What people write by hand: a softmax of the rows of an array, one row a program, its end masked.
inline constexpr const char* kSoftmaxText = R"(pkir 1;
file #f = "softmax.py";
loc #main = #f:20:5 fn "main";
loc #load = #f:7:7 fn "softmax_kernel" via #main;
loc #exp = #f:9:7 fn "softmax_kernel" via #main;
kernel @softmax {
  backend triton;
  params {num_warps=4, num_stages=1};
  in %x: f32[64,1000] as "x" space default block (sq,1000) map (%i: i32[]) { return %i, 0:i32; };
  out %o: f32[64,1000] as "o" space default block (sq,1000) map (%i: i32[]) { return %i, 0:i32; };
  grid [64];
  body @softmax_kernel (%xr: ref<default,f32[1000]> as "x_ref", %or: ref<default,f32[1000]> as "o_ref") {
    %lane = iota{dim=0}() : i32[1024] #load;
    %mask = lt(%lane, 1000:i32) : bool[1024] #load;
    %row = masked_load(%xr.at[0 +: 1024], mask=%mask, other=-inf:f32) : f32[1024] #load;
    %max = reduce_max{axes=[0]}(%row) : f32[] #exp;
    %shifted = sub(%row, %max) : f32[1024] #exp;
    %powers = exp(%shifted) : f32[1024] #exp;
    %sum = reduce_sum{axes=[0]}(%powers) : f32[] #exp;
    %result = div(%powers, %sum) : f32[1024];
    _ = masked_swap(%or.at[0 +: 1024], %result, mask=%mask) : f32[1024] #load;
    return;
  }
}
)";

}  // namespace palladion::bench

#endif  // PALLADION_BENCH_KERNEL_TEXTS_H_
