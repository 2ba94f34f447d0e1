// .npy files: what NumPy wrote is read and written back byte for byte (conformance/golden/npy, made by
// make_npy_golden.py), and no malformed file or unwritable place does more than return an error that names it.
#include "semantics/tensor/npy.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "semantics/tensor/element.h"

namespace palladion {
namespace {

namespace fs = std::filesystem;
using Shape = std::vector<std::int64_t>;

std::string Golden(const std::string& name) { return PALLADION_SOURCE_DIR "/conformance/golden/npy/" + name + ".npy"; }

std::string Slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <typename T>
std::vector<T> Values(const Tensor& t) {
  return {t.data<T>(), t.data<T>() + t.num_elements()};
}

// A folder of the test's own, gone afterwards.
class NpyFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "npy_test.XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::size_t FileCount() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

std::string WithDict(const std::string& dict, const std::string& data = "") {
  std::string file("\x93NUMPY\x01\x00", 8);
  file.push_back(static_cast<char>(dict.size() & 0xff));
  file.push_back(static_cast<char>(dict.size() >> 8));
  return file + dict + data;
}

std::string ErrorOf(const std::string& file, std::optional<DType> declared = std::nullopt) {
  const absl::StatusOr<Tensor> t = ParseNpy(file, declared);
  EXPECT_FALSE(t.ok());
  EXPECT_EQ(t.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(t.status().message());
}

TEST(Npy, ReadsWhatNumPyWrote) {
  const Tensor f32 = ReadNpy(Golden("f32")).value();
  EXPECT_EQ(f32.dtype(), DType::kF32);
  EXPECT_EQ(f32.shape(), (Shape{2, 3}));
  EXPECT_EQ(Values<float>(f32), (std::vector<float>{-2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f}));

  const Tensor fortran = ReadNpy(Golden("f32_fortran"), DType::kF32).value();
  EXPECT_EQ(fortran.shape(), (Shape{2, 3, 4}));
  for (int i = 0; i < 24; ++i) EXPECT_EQ(fortran.data<float>()[i], static_cast<float>(i));

  const Tensor scalar = ReadNpy(Golden("f64_rank0")).value();
  EXPECT_EQ(scalar.rank(), 0);
  EXPECT_EQ(Values<double>(scalar), std::vector<double>{0.1});
  EXPECT_EQ(Values<std::int64_t>(ReadNpy(Golden("i64_v2")).value()), (std::vector<std::int64_t>{-2, -1, 0, 1}));
  EXPECT_EQ(Values<std::int16_t>(ReadNpy(Golden("i16_v3")).value()), (std::vector<std::int16_t>{-2, -1, 0, 1}));
  EXPECT_EQ(ReadNpy(Golden("u16_empty")).value().shape(), (Shape{2, 0}));
  EXPECT_EQ(Values<std::uint8_t>(ReadNpy(Golden("bool")).value()), (std::vector<std::uint8_t>{1, 0, 1}));
}

TEST(Npy, ReadsMlDtypesAsDeclared) {
  const Tensor bf16 = ReadNpy(Golden("bf16"), DType::kBF16).value();
  EXPECT_EQ(bf16.shape(), (Shape{2, 2}));
  EXPECT_EQ(Values<std::uint16_t>(bf16), (std::vector<std::uint16_t>{0x3f80, 0xc000, 0x7fc0, 0x3f00}));
  const Tensor f8 = ReadNpy(Golden("f8e4m3fn"), DType::kF8E4M3FN).value();
  EXPECT_EQ(Values<std::uint8_t>(f8), (std::vector<std::uint8_t>{0x38, 0xc0, 0x7f}));
  for (const std::optional<DType> declared : {std::optional<DType>(), std::optional<DType>(DType::kF8E5M2)}) {
    const Tensor e5m2 = ReadNpy(Golden("f8e5m2"), declared).value();
    EXPECT_EQ(Values<std::uint8_t>(e5m2), (std::vector<std::uint8_t>{0x3c, 0xc0, 0x7e}));
  }
  const Tensor i4 = ReadNpy(Golden("i4"), DType::kI4).value();
  for (int i = 0; i < 16; ++i) EXPECT_EQ(i4.data<std::int8_t>()[i], i - 8);
}

TEST(Npy, WritesTheBytesNumPyWrites) {
  for (const auto& [name, dtype] : {std::pair<std::string, DType>{"f32", DType::kF32},
                                    {"f64_rank0", DType::kF64},
                                    {"u16_empty", DType::kU16},
                                    {"bool", DType::kBool},
                                    {"bf16", DType::kBF16},
                                    {"f8e4m3fn", DType::kF8E4M3FN},
                                    {"i4", DType::kI4}}) {
    const std::string file = Slurp(Golden(name));
    EXPECT_EQ(FormatNpy(ParseNpy(file, dtype).value()), file) << name;
  }
}

TEST(Npy, EveryTypeComesBack) {
  for (const DTypeInfo& info : AllDTypes()) {
    Tensor t(info.dtype, {3, 1, 2});
    t.bytes()[0] = std::byte{1};
    const absl::StatusOr<Tensor> back = ParseNpy(FormatNpy(t), info.dtype);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_TRUE(back->BitwiseEquals(t)) << std::string(info.name);
  }
  const Tensor many(DType::kU8, Shape(64, 1));
  EXPECT_EQ(ParseNpy(FormatNpy(many)).value().rank(), 64);
}

TEST(Npy, StrayBitsAreDropped) {
  const std::string dict = "{'descr': '|V1', 'fortran_order': False, 'shape': (2,), }";
  const std::string bytes("\xff\x78", 2);
  EXPECT_EQ(Values<std::int8_t>(ParseNpy(WithDict(dict, bytes), DType::kI4).value()),
            (std::vector<std::int8_t>{-1, -8}));
  EXPECT_EQ(Values<std::uint8_t>(ParseNpy(WithDict(dict, bytes), DType::kU2).value()),
            (std::vector<std::uint8_t>{3, 0}));
  EXPECT_EQ(Values<std::uint8_t>(ParseNpy(WithDict(dict, bytes), DType::kF6E2M3FN).value()),
            (std::vector<std::uint8_t>{0x3f, 0x38}));
  const std::string bools = "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }";
  EXPECT_EQ(Values<std::uint8_t>(ParseNpy(WithDict(bools, std::string("\x02\x00", 2))).value()),
            (std::vector<std::uint8_t>{1, 0}));
}

TEST(Npy, WrongTypesAreErrorsThatSayWhatToDo) {
  EXPECT_NE(ErrorOf(Slurp(Golden("bf16"))).find("say which type"), std::string::npos);
  EXPECT_NE(ErrorOf(Slurp(Golden("bf16")), DType::kF8E4M3FN).find("raw elements of 2 byte(s)"), std::string::npos);
  EXPECT_NE(ErrorOf(Slurp(Golden("bf16")), DType::kF16).find("f16 was expected"), std::string::npos);
  EXPECT_NE(ErrorOf(Slurp(Golden("f32")), DType::kBF16).find("astype"), std::string::npos);
  EXPECT_NE(ErrorOf(Slurp(Golden("f8e5m2")), DType::kF8E4M3FN).find("f8e5m2"), std::string::npos);
  for (const std::string descr : {">f4", "<c8", "<M8", "|O", "|S3", "<U1", "<f16", "<V4", "<V1024", "f4", "", "<"}) {
    ErrorOf(WithDict("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (1,), }", std::string(4, '\0')));
  }
  EXPECT_NE(ErrorOf(WithDict("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }")).find("structured"),
            std::string::npos);
}

TEST(Npy, AbsurdShapesAreErrorsAndAllocateNothing) {
  const std::pair<std::string, std::string> kAbsurd[] = {{"(-1,)", "a dimension of 0 or more"},
                                                         {"(9223372036854775807,)", ""},
                                                         {"(9223372036854775808,)", "a dimension below 2^63"},
                                                         {"(4294967296, 4294967296)", ""},
                                                         {"(99999999999999999999999,)", "a dimension below 2^63"},
                                                         {"(1.5,)", "',' or ')'"},
                                                         {"(2", ""},
                                                         {"2", "'(' of the shape"},
                                                         {"(,)", "a dimension of 0 or more"},
                                                         {"(1,,)", "a dimension of 0 or more"},
                                                         {"(1 2)", "',' or ')'"},
                                                         {"(True,)", "a dimension of 0 or more"},
                                                         {"(3,)", ""}};
  for (const auto& [shape, why] : kAbsurd) {
    const std::string dict = "{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }";
    EXPECT_NE(ErrorOf(WithDict(dict, std::string(8, '\0'))).find(why), std::string::npos) << shape;
  }
  std::string deep = "(";
  for (int i = 0; i < 65; ++i) deep += "1,";
  ErrorOf(WithDict("{'descr': '<f8', 'fortran_order': False, 'shape': " + deep + "), }", std::string(8, '\0')));
}

TEST(Npy, GarbageHeadersAreErrors) {
  for (const std::string dict :
       {"", "{", "}", "{}", "{'descr'", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': Maybe, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (), 'x': 1}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4' 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x"}) {
    ErrorOf(WithDict(dict, std::string(4, '\0')));
  }
  ErrorOf("");
  ErrorOf("PK\x03\x04 and so on");
  ErrorOf(std::string("\x93NUMPY\x04\x00\x10\x00\x00\x00{", 13));
  ErrorOf(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{", 13));
}

TEST(Npy, AFileThatEndsBeforeItsHeaderSaysWhatIsMissing) {
  const std::string start("\x93NUMPY\x01\x00\x76\x00", 10);
  EXPECT_NE(ErrorOf(start.substr(0, 9)).find("within the length of its header"), std::string::npos);
  EXPECT_EQ(ErrorOf(start).find("within the length of its header"), std::string::npos) << "that one is there";
}

TEST(Npy, EveryTruncationAndEveryFlippedByteIsSafe) {
  const std::string file = Slurp(Golden("f32_fortran"));
  for (std::size_t n = 0; n < file.size(); ++n) ErrorOf(file.substr(0, n));
  ErrorOf(file + "x");
  for (std::size_t at = 0; at < file.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = file;
      changed[at] = static_cast<char>(value);
      const absl::StatusOr<Tensor> t = ParseNpy(changed);
      EXPECT_TRUE(!t.ok() || t->num_bytes() == 96) << at << " " << value;
    }
  }
}

TEST_F(NpyFiles, WritesAndReadsThroughTheDisk) {
  const Tensor bf16 = ReadNpy(Golden("bf16"), DType::kBF16).value();
  ASSERT_TRUE(WriteNpy(Path("x.npy"), bf16).ok());
  EXPECT_EQ(Slurp(Path("x.npy")), Slurp(Golden("bf16")));
  ASSERT_TRUE(WriteNpy(Path("x.npy"), ReadNpy(Golden("f32")).value()).ok());  // replaces
  EXPECT_EQ(Slurp(Path("x.npy")), Slurp(Golden("f32")));
  fs::create_symlink(Path("x.npy"), Path("link.npy"));
  ASSERT_TRUE(WriteNpy(Path("link.npy"), bf16).ok());
  EXPECT_TRUE(fs::is_symlink(Path("link.npy")));
  EXPECT_EQ(Slurp(Path("x.npy")), Slurp(Golden("bf16")));
  EXPECT_EQ(FileCount(), 2u);
}

TEST_F(NpyFiles, ReadErrorsNameThePath) {
  for (const std::string& path : {Path("missing.npy"), folder_.string(), std::string("/dev/null")}) {
    const absl::Status status = ReadNpy(path).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_EQ(std::string(status.message()).find(path + ": cannot read"), 0u) << status;
  }
  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(ReadNpy(Path("pipe")).ok());  // and does not wait for a writer
  std::ofstream(Path("bad.npy")) << "hello";
  EXPECT_EQ(std::string(ReadNpy(Path("bad.npy")).status().message()).find(Path("bad.npy") + ": not a readable .npy"),
            0u);
}

TEST_F(NpyFiles, PlacesThatCannotBeWrittenAreErrors) {
  const Tensor t(DType::kF32, {4});
  fs::create_directory(Path("folder"));
  for (const std::string& path : {Path("no/such/x.npy"), Path("folder"), std::string("/dev/null"), std::string()}) {
    const absl::Status status = WriteNpy(path, t);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << path << ": " << status;
    EXPECT_EQ(std::string(status.message()).find(path + ": cannot write"), 0u) << status;
  }
  EXPECT_TRUE(fs::is_empty(Path("folder")));
  if (::geteuid() != 0) {  // permissions do not bind root
    fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_EQ(WriteNpy(Path("x.npy"), t).code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(NpyFiles, AFullDiskLeavesTheOldFileAndNothingElse) {
  const Tensor small = ReadNpy(Golden("f32")).value();
  ASSERT_TRUE(WriteNpy(Path("x.npy"), small).ok());
  // A limit on the size of files stands in for a full disk: write() fails part way in the same manner.
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  struct ::rlimit old_limit;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  struct ::rlimit limit = old_limit;
  limit.rlim_cur = 4096;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const absl::Status status = WriteNpy(Path("x.npy"), Tensor(DType::kF32, {10000}));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old_limit), 0);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_EQ(Slurp(Path("x.npy")), Slurp(Golden("f32")));
  EXPECT_EQ(FileCount(), 1u);
}

}  // namespace
}  // namespace palladion
