// Kernel text for tests of the interface: small kernels with one operand of each role that a test needs.
#ifndef PALLADION_EMU_TESTING_KERNEL_TEST_UTIL_H_
#define PALLADION_EMU_TESTING_KERNEL_TEST_UTIL_H_

#include <string>

namespace palladion {

// A kernel @k over i32[4]: %xr is the ref of input x, %orf that of output o. The user's place of `#l` is k.py:7:3.
inline std::string VectorKernel(const std::string& body, const std::string& grid = "[1]") {
  return "pkir 1;\nfile #f = \"k.py\";\nloc #l = #f:7:3 fn \"k\";\n"
         "kernel @k {\n"
         "  in %x: i32[4] as \"args[0]\";\n"
         "  grid " +
         grid +
         ";\n"
         "  out %o: i32[4] as \"outputs\";\n"
         "  body @k (%xr: ref<default,i32[4]> as \"x_ref\", %orf: ref<default,i32[4]> as \"o_ref\") {\n" +
         body + "\n    return;\n  }\n}\n";
}

// o = x + y in two blocks of four; each program prints its sum.
inline std::string AddKernel(const std::string& map_result = "%i") {
  return "pkir 1;\nfile #f = \"add.py\";\nloc #l = #f:7:3 fn \"add_kernel\";\n"
         "kernel @add {\n"
         "  in %x: f32[8] as \"args[0]\" block (4) map (%i: i32[]) { %k = mul(%i, 1:i32) : i32[]; return " +
         map_result +
         "; } #l;\n"
         "  in %y: f32[8] as \"args[1]\" block (4) map (%i: i32[]) { return %i; };\n"
         "  grid [2];\n"
         "  out %o: f32[8] as \"outputs\" block (4) map (%i: i32[]) { return %i; };\n"
         "  body @add_kernel (%xr: ref<default,f32[4]>, %yr: ref<default,f32[4]>, %orf: ref<default,f32[4]>) {\n"
         "    %a = get(%xr) : f32[4];\n"
         "    %b = get(%yr) : f32[4];\n"
         "    %c = add(%a, %b) : f32[4];\n"
         "    debug_print{fmt=\"sum {}\"}(%c);\n"
         "    _ = swap(%orf, %c) : f32[4];\n"
         "    return;\n  }\n}\n";
}

}  // namespace palladion

#endif  // PALLADION_EMU_TESTING_KERNEL_TEST_UTIL_H_
