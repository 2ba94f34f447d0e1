// The command in a folder of its own, for tests.
#ifndef PALLADION_EMU_FRONT_COMMAND_COMMAND_TEST_UTIL_H_
#define PALLADION_EMU_FRONT_COMMAND_COMMAND_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "emu/front/command/command.h"
#include "emu/testing/kernel_test_util.h"

namespace palladion::command {

namespace fs = std::filesystem;

class CommandTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "palladion-command-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override {
    std::error_code ignored;
    fs::permissions(directory_, fs::perms::owner_all, ignored);
    fs::remove_all(directory_, ignored);
  }

  std::string Path(const std::string& name) const { return (directory_ / name).string(); }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name), std::ios::binary) << text;
    return Path(name);
  }
  std::size_t FileCount() const {
    return static_cast<std::size_t>(
        std::distance(fs::recursive_directory_iterator(directory_), fs::recursive_directory_iterator()));
  }

  int Run(const std::vector<std::string>& arguments) {
    std::ostringstream out, err;
    const ExitCode code = RunCommand(arguments, {out, err});
    out_ = out.str(), err_ = err.str();
    return static_cast<int>(code);
  }

  // One line on the error stream, nothing on the other, nothing written.
  void ExpectError(int code, const std::vector<std::string>& arguments, const std::string& message) {
    const std::size_t files = FileCount();
    EXPECT_EQ(code, Run(arguments));
    EXPECT_NE(std::string::npos, err_.find(message)) << err_;
    EXPECT_EQ(0u, err_.find("palladion: ")) << err_;
    EXPECT_EQ(1, std::count(err_.begin(), err_.end(), '\n')) << err_;
    EXPECT_EQ("", out_);
    EXPECT_EQ(files, FileCount());
  }

  // Of a kernel over i32[4] with this body.
  void ExpectBodyError(int code, const std::string& body, const std::string& message, const std::string& grid = "[1]") {
    const std::string file = Write("k.pkir", VectorKernel(body, grid));
    ExpectError(code, {"run", file, "--in", "x=iota", "--out", Path("out"), "--budget", "100000"}, message);
  }

  fs::path directory_;
  std::string out_, err_;
};

}  // namespace palladion::command

#endif  // PALLADION_EMU_FRONT_COMMAND_COMMAND_TEST_UTIL_H_
