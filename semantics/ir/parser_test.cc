// Round trips of every production of docs/spec/kernel-text.md, and what is refused, with its place.
#include "semantics/ir/parser.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "gtest/gtest.h"
#include "semantics/ir/text_test_util.h"

namespace palladion {
namespace {

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string Repeat(std::string_view part, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += part;
  return out;
}

// The instruction lines come back as they were written: they are in canonical spelling.
void ExpectCanonical(std::string_view lines) {
  const std::string printed = RoundTrip(KernelText(lines));
  EXPECT_NE(printed.find(lines), std::string::npos) << "wanted\n" << lines << "\nin\n" << printed;
}

TEST(KernelTextTest, ExampleOfTheSpecificationRoundTrips) {
  const std::string spec = ReadFile(std::filesystem::path(PALLADION_SOURCE_DIR) / "docs/spec/kernel-text.md");
  const std::size_t begin = spec.find("```pkir\npkir 1;") + 8;
  const std::string text = spec.substr(begin, spec.find("```", begin) - begin);
  const absl::StatusOr<Module> module = Parse(text);
  ASSERT_TRUE(module.ok()) << module.status();
  ASSERT_EQ(module->kernels.size(), 1u);
  const Kernel& kernel = module->kernels[0];
  EXPECT_EQ(kernel.name, "matmul");
  EXPECT_EQ(kernel.operands.size(), 4u);
  EXPECT_EQ(kernel.bodies[0].region.body.size(), 11u);
  EXPECT_EQ(kernel.bodies[0].region.body[2].regions.size(), 2u);
  EXPECT_EQ(kernel.values[kernel.bodies[0].region.params[0].value.index()].label, "x_ref");
  RoundTrip(text);
}

TEST(KernelTextTest, SeedsOfTheFuzzerRoundTrip) {
  int seen = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(PALLADION_SOURCE_DIR) / "conformance/fuzz_seeds")) {
    RoundTrip(ReadFile(entry.path()));
    ++seen;
  }
  EXPECT_GE(seen, 3);
}

TEST(KernelTextTest, DeclarationsRoundTrip) {
  const std::string header =
      "pkir 1;\n"
      "producer \"p \\\"q\\\" \\\\ \\n \\x09 \xc3\xa9\";\n"
      "file #f = \"a.py\";\n"
      "file #f.2 = \"b.py\";\n"
      "loc #f = #f:12\x3b\n"
      "loc #l$1 = #f.2:3:4 fn \"g.<lambda>\" via #f;\n"
      "const @c.0 = dense<f32[2,2][0.0,-1.5,nan,inf]>;\n";
  const std::string kernel = "kernel @k {\n  grid [];\n  body @f () { return; }\n}\n";
  EXPECT_EQ(RoundTrip(header + kernel), header + kernel);
  const absl::StatusOr<Module> module = Parse(header + kernel, "x");
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(module->path, "x");
  EXPECT_EQ(module->producer, "p \"q\" \\ \n \t \xc3\xa9");
  EXPECT_EQ(module->locs[1].via.value, 0);
  EXPECT_EQ(module->locs[1].column, 4);
}

TEST(KernelTextTest, KernelItemsRoundTrip) {
  const std::string text =
      "pkir 1;\n"
      "file #f = \"a.py\";\n"
      "loc #l = #f:1;\n"
      "kernel @k.1 {\n"
      "  backend mosaic_tpu;\n"
      "  arch \"v5e\";\n"
      "  params {a=1, b=-2, c=0.5, d=\"s\", e=true, f=false, g=none, h=word, i=[1,[2],[]], j={k=1}, l={}, m=-inf, "
      "n=nan, o=1e+30}"
      ";\n"
      "  cost {flops=9};\n"
      "  meta {};\n"
      "  devices {x=[2,2]};\n"
      "  options {};\n"
      "  bound %n: i32[];\n"
      "  bound %m: i32[];\n"
      "  grid [2,%n,0] names [\"i\",none,\"k\"] vmapped [0];\n"
      "  prefetch %p: i32[8] as \"idx\" space smem;\n"
      "  in %x: f32[%m,8] as \"args[0]\" space default block (1,8) map (%i: i32[], %j: i32[], %k: i32[]) { return %i, "
      "0:i32; } #l;\n"
      "  in %y: f32[4,5,6,7] block (sq,el(2,1,0),bs(3),ind(4)) map (%i: i32[], %j: i32[], %k: i32[]) {\n"
      "      %q = add(%i, 1:i32) : i32[];\n"
      "      return %i, %q, %k, 0:i32;\n"
      "    } view .untile[8,128].swizzle(64) buffered {count=2};\n"
      "  in %s: f32[] block () map (%i: i32[], %j: i32[], %k: i32[]) { return; } buffered {};\n"
      "  out %o: f32[%m,8] alias %x;\n"
      "  scratch %t: ref<smem,barrier{arrivals=2, orders_tc=false}[2]> as \"bar\";\n"
      "  scratch %u: ref<tmem,f32[64,64] {layout=half_lane, packing=1}>;\n"
      "  scratch %v: ref<semaphore,dma_sem[]>;\n"
      "  body @a on tensorcore (%r: ref<smem,i32[8]> as \"idx_ref\" view .at[0 +: 4]) { return; }\n"
      "  body @b () { return; }\n"
      "}\n"
      "kernel @k.2 {\n  mesh gpu {grid=[2,2], threads=2};\n  body @b () { return; }\n}\n";
  EXPECT_EQ(RoundTrip(text), text);
}

TEST(KernelTextTest, OperandsBeforeTheGridAreWrittenAfterIt) {
  const std::string text =
      "pkir 1;\nkernel @k {\n  bound %n: i32[];\n  in %x: f32[4];\n  grid [%n];\n  out %y: f32[4];\n  body @b () { "
      "return; }\n}\n";
  EXPECT_EQ(RoundTrip(text),
            "pkir 1;\nkernel @k {\n  bound %n: i32[];\n  grid [%n];\n  in %x: f32[4];\n  out %y: f32[4];\n  body @b () "
            "{ return; }\n}\n");
}

TEST(KernelTextTest, EveryMemorySpaceAndTypeRoundTrips) {
  for (const std::string_view space : {"default", "any", "gmem", "smem", "tmem", "regs", "hbm", "vmem", "vmem_shared",
                                       "cmem", "semaphore", "host", "index", "key", "error"}) {
    ExpectCanonical(Cat("    %r = empty_ref() : ref<", space, ",f32[1]>;"));
  }
  for (const std::string_view element :
       {"f32[]", "key<fry>[2]", "barrier[]", "barrier{arrivals=1}[2]", "cluster_barrier{a=1}[]", "sem[2]", "dma_sem[]",
        "barrier_sem[]", "bf16[2,3] {layout=wgmma}"}) {
    ExpectCanonical(Cat("    %r = empty_ref() : ref<smem,", element, ">;"));
  }
  for (const DTypeInfo& info : AllDTypes())
    ExpectCanonical(Cat("    %r, _ = p() : ", info.name, "[1,2], ~", info.name, "[];"));
  ExpectCanonical("    %r, _ = p() : key<rbg>[2,2], token;");
  ExpectCanonical("    %r, _ = p() : f32[0,3], f32[" + Repeat("1,", 31) + "1];");
}

TEST(KernelTextTest, InstructionsRoundTrip) {
  ExpectCanonical("    debug_barrier();");
  ExpectCanonical("    _ = swap(%o, 0.0:f32) : f32[8];");
  ExpectCanonical("    %a1, _, %b1 = p{x=1, y=[none,true]}(%x, init=%o, xs=none, mask=true) : f32[], token, i32[2];");
  ExpectCanonical("    %r = tpu.roll{axis=0}(%x, 1:i32) : f32[4,8];");
  ExpectCanonical("    cond(true) { return; } {\n      p();\n      return 1:i32, none;\n    } { return; };");
  ExpectCanonical(
      "    %s = scan{length=2}(init=0:i32) (%c: i32[], %e: ref<smem,f32[2]> as \"e\" view .at[*]) { return %c; } : "
      "i32[];\n"
      "    while() () { return true; } () { return; };");
}

TEST(KernelTextTest, ArgumentsRoundTrip) {
  ExpectCanonical("    p(none, true, false, 1:i32, -1:~i32, 0.5:f32, -0.0:f32, inf:f32, -inf:~bf16, nan:f16);");
  ExpectCanonical(
      "    p(0x7fc1:bf16, 0xffc00000:f32, 1:u4, -8:i4, 18446744073709551615:u64, -9223372036854775808:i64);");
  ExpectCanonical(
      "    p(dense<i32[]"
      "[7]>, dense<bool[2][true,false]>, dense<f32[0,4][]>, dense<f8e4m3fn[2][448.0,nan]>);");
  ExpectCanonical("    p(select(0:i32, %x.at[0, *], select(%o, %x)));");
  EXPECT_NE(
      RoundTrip(KernelText("p(@c);", " const @c = dense<i8[2] hex \"ff01\">;")).find("const @c = dense<i8[2][-1,1]>;"),
      std::string::npos);
  EXPECT_NE(RoundTrip(KernelText("p(@c);", " const @c = dense<u8[8] hex \"000990a0f90f9faf\">;"))
                .find("const @c = dense<u8[8][0,9,144,160,249,15,159,175]>;"),
            std::string::npos);
  std::string hex;
  for (int i = 0; i < 65; ++i) hex += i % 2 == 0 ? "80" : "7f";
  ExpectCanonical("    p(dense<i8[65] hex \"" + hex + "\">);");
}

TEST(KernelTextTest, ViewsRoundTrip) {
  ExpectCanonical("    p(%x.at[0, *].at[%o], %x.at[], %x.at[1 +: 2, %a +: 4 : 2], %x.at[dense<i32[2][0,1]>, -1]);");
  ExpectCanonical(
      "    p(%x.bitcast(bf16).reshape[8,8].transpose[1,0].unswizzle(128).untile[8,64].tile[2].swizzle(32));");
  ExpectCanonical("    p(%x.peer(%a, mesh).peer(none, logical).multicast{axes=[\"x\"]}.cluster{}.alias{offset=8});");
  ExpectCanonical("    p(%x.expand_batch[1,2].collapse_batch.at[0 +: 0 : 0]);");
}

TEST(KernelTextTest, CommentsBlanksAndEscapesAreNormalised) {
  EXPECT_EQ(RoundTrip("// a\npkir\t1 ;\r\nkernel@k{// b\ngrid[ ] ;body@b( ){return ;}}// end"),
            "pkir 1;\nkernel @k {\n  grid [];\n  body @b () { return; }\n}\n");
  EXPECT_NE(RoundTrip("pkir 1; producer \"\\u00e9\\x41\\t\"; kernel @k { grid []; }")
                .find("producer \"\xc3\xa9"
                      "A\\x09\""),
            std::string::npos);
  EXPECT_NE(
      RoundTrip("pkir 1; producer \"\\u0AFa\\uf0A9\"; kernel @k { grid []; }").find("\"\xe0\xab\xba\xef\x82\xa9\""),
      std::string::npos);
}

TEST(KernelTextTest, NamesOfSiblingRegionsMayRepeat) {
  RoundTrip(KernelText("cond(true) { %v = p() : i32[]; return; } { %v = p() : f32[]; return; }; %v = p() : i32[];"));
}

struct Refused {
  std::string_view line;  // line 6 of the text
  std::string_view message;
};

TEST(KernelTextTest, ErrorsNameThePlaceWhatWasExpectedAndFound) {
  const Refused cases[] = {
      {"p()", "7:5: expected `;`, found `return`"},
      {"p(%y);", "6:3: expected a value that is defined before and visible here, found `%y`"},
      {"%x = p() : i32[];", "6:1: expected a new name, found `%x`, which is visible here already"},
      {"%a = p() : i32[];", "6:1: expected a new name, found `%a`"},
      {"%v = p() : i32[]; cond(%v) { %v = p() : i32[]; return; };", "6:30: expected a new name, found `%v`"},
      {"cond(true) { %w = p() : i32[]; return; }; p(%w);", "6:45: expected a value"},
      {"%v = p();", "6:9: expected one type for each result of p, found 1 results and 0 types"},
      {"p() : f32[];", "6:5: expected one type for each result of p, found 0 results and 1 types"},
      {"p{a=1, a=2}();", "6:8: expected a new attribute, found `a`"},
      {"p{a=}();", "6:5: expected an attribute's value, found `}`"},
      {"p{a=9223372036854775808}();", "6:5: expected a whole number of at most 64 bits"},
      {"p(1);", "6:4: expected `:` and the number's element type, found `)`; write 1:f32"},
      {"p(1:f33);", "6:5: expected an element type, found `f33`"},
      {"p(1.5:i32);", "6:3: expected a whole number for i32, found 1.5"},
      {"p(8:i4);", "6:3: expected a i4, which holds -8 to 7, found 8"},
      {"p(-9:i4);", "6:3: expected a i4, which holds -8 to 7, found -9"},
      {"p(-1:u8);", "6:3: expected a u8, which holds 0 to 255, found -1"},
      {"p(99999999999999999999:u64);", "6:3: expected a u64"},
      {"p(1:bool);", "6:3: expected true or false for bool, found 1"},
      {"p(65520.0:f16);", "6:3: expected a number that f16 holds, found 65520.0"},
      {"p(1e999:f64);", "6:3: expected a number that f64 holds, found 1e999"},
      {"p(7.0:f4e2m1fn);", "6:3: expected a number that f4e2m1fn holds, found 7.0"},
      {"p(inf:f8e4m3fn);", "6:3: expected a number that f8e4m3fn holds, found inf"},
      {"p(nan:f4e2m1fn);", "6:3: expected a number that f4e2m1fn holds, found nan"},
      {"p(-nan:f32);", "6:3: expected a number that f32 holds, found -nan"},
      {"p(0.0:f8e8m0fnu);", "6:3: expected a number that f8e8m0fnu holds, found 0.0"},
      {"p(0x1ff:f8e5m2);", "6:3: expected 0x and the storage bits of one f8e5m2, at most 8 bits"},
      {"p(0x:f32);", "6:3: expected 0x and the storage bits of one f32"},
      {"p(@c);", "6:3: expected the `@name` of a constant above, found `@c`"},
      {"p(%x.foo[1]);", "6:6: expected a view after `.`, found `foo`"},
      {"p(%x.at[2147483648]);", "6:9: expected an index that i32 holds, found 2147483648"},
      {"p(%x.at[0 +: 1 : -1]);", "6:18: expected a whole number, 0 or more, found -1"},
      {"p(select(0:i32));", "6:3: expected `select(index, view, ...)`, found no view"},
      {"p(dense<f32[2][1.0]>);", "6:3: expected 2 numbers, as the shape says, found 1"},
      {"p(dense<f32[1][1.0,2.0]>);", "6:3: expected 1 numbers, as the shape says, found more"},
      {"p(dense<f32[1] hex \"00\">);", "6:3: expected 8 hex digits (1 elements of 4 bytes, little-endian), found 2"},
      {"p(dense<f32[1] hex \"0000000g\">);", "6:20: expected digits 0-9 and a-f"},
      {"p(dense<i4[1] hex \"08\">);", "6:19: expected bytes that are a i4, found 08"},
      {"p(dense<bool[1] hex \"02\">);", "6:21: expected bytes that are a bool, found 02"},
      {"%v = p() : f32[-1];", "6:16: expected a whole number, 0 or more, found -1"},
      {"%v = p() : barrier[];", "6:12: expected the type of a value, found `barrier`"},
      {"%v = p() : ref<l1,f32[]>;", "6:16: expected a memory space, found `l1`"},
      {"%v = p() : ref<smem,barrier[2] {a=1}>;", "6:32: expected `>`, found `{`; a barrier's attributes stand before"},
      {"p() #l;", "6:5: expected the `#name` of a location above, found `#l`"},
      {"p(\"s\");", "6:3: expected an argument, found the string \"s\""},
      {"p(%);", "6:3: expected a name after `%`"},
      {"p(?);", "6:3: the byte 0x3f starts no word"},
      {"p{a=\"b\nc\"}();", "6:5: this string does not end on its line"},
      {"p{a=\"\\q\"}();", "6:5: a string has an unknown escape"},
      {"p{a=\"\\ud800\"}();", "6:5: `\\u` names half of a surrogate pair"},
      {"}", "6:1: expected an instruction or `return`, found `}`; a region ends with `return;`"},
  };
  for (const Refused& refused : cases) {
    const std::string error = ErrorOf(KernelText(refused.line));
    EXPECT_EQ(error.substr(0, 7 + refused.message.size()), Cat("t.pkir:", refused.message)) << refused.line;
  }
}

TEST(KernelTextTest, ErrorsOutsideBodies) {
  const Refused cases[] = {
      {"", "1:1: expected `pkir`, found the end of the text; a kernel text starts with `pkir 1;`"},
      {"pkir 2;", "1:6: expected version 1, found version 2; read this text with the release that wrote it"},
      {"pkir 1;", "1:8: expected a declaration or `kernel`, found the end of the text"},
      {"pkir 1; loc #a = #f:1;", "1:18: expected the `#name` of a file above, found `#f`"},
      {"pkir 1; file #f = \"f\"; loc #a = #f:1 via #a;", "1:42: expected the `#name` of a location above, found `#a`"},
      {"pkir 1; file #f = \"f\"; file #f = \"f\";", "1:29: expected a new name, found `#f`, which is declared above"},
      {"pkir 1; file #f = \"f\"; loc #a = #f:9999999999;", "1:36: expected a line number below 10^9"},
      {"pkir 1; kernel @k { }", "1:21: expected `grid` or `mesh`, found `}`; a kernel that runs once has `grid [];`"},
      {"pkir 1; kernel @k { grid []; } kernel @k {",
       "1:39: expected a new name, found `@k`, the name of a kernel above"},
      {"pkir 1; kernel @k { grid []; grid [];", "1:30: expected an operand or `body`, found `grid`"},
      {"pkir 1; kernel @k { meta {}; meta {};", "1:30: expected `meta` once in a kernel, found it again"},
      {"pkir 1; kernel @k { out %o: f32[]; in",
       "1:36: expected operands in the order bound, prefetch, in, out, scratch"},
      {"pkir 1; kernel @k { in %x: f32[1] block (a) ", "1:42: expected a block's dimension, found `a`"},
      {"pkir 1; kernel @k { in %x: f32[1] block (1);", "1:44: expected `map` and the index map, found `;`"},
      {"pkir 1; kernel @k { grid [%n]; }", "1:27: expected a value that is defined before"},
      {"pkir 1; kernel @k { in %x: i32[]; grid [%x]; }", "1:41: expected a `bound` operand, found `%x`"},
      {"pkir 1; kernel @k { grid []; } x", "1:32: expected `kernel` or the end of the text, found `x`"},
      {"pkir 1; const @c = dense<f32[%n]", "1:30: expected a value"},
  };
  for (const Refused& refused : cases) {
    const std::string error = ErrorOf(refused.line);
    EXPECT_EQ(error.substr(0, 7 + refused.message.size()), Cat("t.pkir:", refused.message)) << refused.line;
  }
}

TEST(KernelTextLimitTest, EachLimitHasItsMessage) {
  const auto error = [](std::string_view line) { return ErrorOf(KernelText(line)); };
  EXPECT_NE(error("%v = p() : f32[" + Repeat("1,", 32) + "1];").find("6:15: an array has more than 32 dimensions"),
            std::string::npos);
  EXPECT_NE(error("%v = p() : f32[68719476737];").find("an array has more than 68719476736 elements"),
            std::string::npos);
  EXPECT_NE(error("%v = p() : f32[99999999999,99999999999,0];").find("more than 68719476736 elements"),
            std::string::npos);
  EXPECT_NE(
      error("p{a=" + Repeat("[", 65) + "1" + Repeat("]", 65) + "}();").find("attributes are nested more than 64 deep"),
      std::string::npos);
  EXPECT_NE(error(Repeat("cond(true){", 65)).find("regions are nested more than 64 deep"), std::string::npos);
  EXPECT_NE(error("p(" + Repeat("select(0:i32,", 65)).find("views are nested more than 64 deep"), std::string::npos);
  EXPECT_NE(error("p(%x" + Repeat(".at[0]", 65) + ");").find("a view has more than 64 transforms"), std::string::npos);
  std::string attrs = "p{";
  for (int i = 0; i < 1025; ++i) attrs += Cat("a", i, "=1,");
  EXPECT_NE(error(attrs).find("has more than 1024 attributes"), std::string::npos);
  EXPECT_NE(error(Repeat("p();", kMaxInstructions + 1)).find("more than 1048576 instructions"), std::string::npos);
  EXPECT_NE(error("p{a=[" + Repeat("1,", kMaxNodes + 1)).find("more than 4194304 arguments"), std::string::npos);
  EXPECT_EQ(Parse(std::string(kMaxTextBytes + 1, ' ')).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(KernelTextLimitTest, WhatIsJustInsideIsAccepted) {
  RoundTrip(KernelText("%v, _ = p() : f32[68719476736], f32[68719476736,0,1];"));
  RoundTrip(KernelText(Repeat("cond(true){", 63) + Repeat("return;};", 63)));
  RoundTrip(KernelText("p{a=" + Repeat("[", 63) + "1" + Repeat("]", 63) + "}();"));
  RoundTrip(KernelText("p(%x" + Repeat(".at[0]", 64) + ");"));
}

}  // namespace
}  // namespace palladion
