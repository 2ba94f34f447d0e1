// Files that are whole or not there: on a full disk, under real signals (in processes of their own), and after programs
// that were killed outright.
#include "semantics/base/whole_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

namespace palladion {
namespace {

namespace fs = std::filesystem;

class WholeFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "palladion-whole-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::size_t FileCount() const {
    return static_cast<std::size_t>(std::distance(fs::recursive_directory_iterator(folder_), {}));
  }
  static std::string Slurp(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  // How a process ends that does `work`, says so and waits, and is then sent `signal`.
  int EndOf(int signal, const std::function<void()>& work) {
    int pipe[2];
    if (::pipe(pipe) != 0) return -1;
    const ::pid_t child = ::fork();
    if (child == 0) {
      RemoveUnfinishedWhenKilled();
      work();
      [[maybe_unused]] const auto said = ::write(pipe[1], "!", 1);
      for (;;) ::pause();
    }
    ::close(pipe[1]);
    char ready = 0;
    if (::read(pipe[0], &ready, 1) == 1) ::kill(child, signal);  // else it has ended by itself
    int status = 0;
    ::waitpid(child, &status, 0);
    ::close(pipe[0]);
    return status;
  }

  fs::path folder_;
};

TEST_F(WholeFileTest, AppearsWhenItIsCommitted) {
  std::ofstream(Path("a")) << "old";
  ::chmod(Path("a").c_str(), 0640);
  {
    absl::StatusOr<WholeFile> file = WholeFile::Open(Path("a"));
    ASSERT_TRUE(file.ok()) << file.status();
    file->stream() << "new " << 1;
    EXPECT_EQ("old", Slurp(Path("a")));
    EXPECT_EQ(2u, FileCount());
    ASSERT_TRUE(file->Commit().ok());
  }
  EXPECT_EQ("new 1", Slurp(Path("a")));
  EXPECT_EQ(1u, FileCount());
  EXPECT_EQ(fs::perms(0640), fs::status(Path("a")).permissions());
  { ASSERT_TRUE(WholeFile::Open(Path("a"))->Write("given up").ok()); }
  EXPECT_EQ("new 1", Slurp(Path("a")));
  EXPECT_EQ(1u, FileCount());
}

TEST_F(WholeFileTest, LinksAreFollowedAlsoToWhatIsNotThereYet) {
  fs::create_directory(Path("d"));
  fs::create_symlink("d/there", Path("link"));
  for (const char* text : {"one", "two"}) {
    absl::StatusOr<WholeFile> file = WholeFile::Open(Path("link"));
    ASSERT_TRUE(file.ok() && file->Write(text).ok() && file->Commit().ok());
    EXPECT_TRUE(fs::is_symlink(Path("link")));
    EXPECT_EQ(text, Slurp(Path("d/there")));
  }
}

TEST_F(WholeFileTest, AFullDiskIsAnErrorWithItsReason) {
  absl::StatusOr<WholeFile> full = WholeFile::Open("/dev/full");
  ASSERT_TRUE(full.ok()) << full.status();
  const absl::Status status = full->Write("text");
  EXPECT_EQ(absl::StatusCode::kResourceExhausted, status.code());
  EXPECT_EQ("No space left on device", status.message());
  absl::StatusOr<WholeFile> streamed = WholeFile::Open("/dev/full");
  streamed->stream() << "text";
  EXPECT_EQ(absl::StatusCode::kResourceExhausted, streamed->Commit().code());
}

// A limit on the size of files: without care the signal SIGXFSZ would end the process.
TEST_F(WholeFileTest, ALimitOnFilesIsAnErrorToo) {
  const ::pid_t child = ::fork();
  if (child == 0) {
    RemoveUnfinishedWhenKilled();
    const struct ::rlimit limit = {4096, 4096};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(1);
    absl::StatusOr<WholeFile> file = WholeFile::Open(Path("a"));
    if (!file.ok()) ::_exit(2);
    ::_exit(file->Write(std::string(8192, 'x')).code() == absl::StatusCode::kResourceExhausted ? 7 : 3);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
}

TEST_F(WholeFileTest, ASignalLeavesNothing) {
  for (const int signal : {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGPIPE}) {
    const int status = EndOf(signal, [&] {
      static absl::StatusOr<WholeFile> file = WholeFile::Open(Path("a"));
      static Part made = Part::Made(Path("made"));
      fs::create_directory(Path("made"));
      static absl::StatusOr<Part> folder = Part::NewFolder(Path("made"));
      static Part inside = Part::Inside(folder->path() + "/x");
      std::ofstream(inside.path()) << "x";
      if (FileCount() != 4) ::_exit(9);
    });
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    EXPECT_EQ(0u, FileCount()) << signal;
  }
}

TEST_F(WholeFileTest, ASignalWaitsForWhatIsUndivided) {
  const int status = EndOf(SIGTERM, [&] {
    {
      const Undivided together;
      ::raise(SIGTERM);
      std::ofstream(Path("a")) << "whole";
    }
    ::_exit(9);
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
  EXPECT_EQ("whole", Slurp(Path("a")));
}

TEST_F(WholeFileTest, TheNextRunRemovesWhatAKilledOneLeft) {
  const auto leave = [&] {
    static absl::StatusOr<WholeFile> file = WholeFile::Open(Path("a"));
    static absl::StatusOr<Part> folder = Part::NewFolder(folder_.string());
    std::ofstream(folder->path() + "/x") << "x";
  };
  const int status = EndOf(SIGKILL, leave);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  EXPECT_EQ(3u, FileCount());
  // Not those of a program that runs, nor what only looks similar.
  absl::StatusOr<WholeFile> other = WholeFile::Open(Path("b"));
  EXPECT_EQ(1u, FileCount());
  for (const char* name :
       {".palladion-x.part", ".palladion-1-2.part2", ".palladion-999999999-1.part2", ".palladion-999999999-1"})
    std::ofstream(Path(name)) << "not ours";
  const absl::StatusOr<WholeFile> third = WholeFile::Open(Path("c"));
  EXPECT_EQ(6u, FileCount());
  ASSERT_TRUE(other->Write("b").ok() && other->Commit().ok());
  EXPECT_EQ("b", Slurp(Path("b")));
}

// One that is locked belongs to a program of another container, whatever its number says here.
TEST_F(WholeFileTest, APartThatIsLockedStays) {
  int pipe[2];
  ASSERT_EQ(0, ::pipe(pipe));
  const ::pid_t child = ::fork();
  if (child == 0) {
    absl::StatusOr<Part> part = Part::NewFile(folder_.string());
    fs::rename(part->path(), Path(".palladion-999999999-1.part"));
    [[maybe_unused]] const auto said = ::write(pipe[1], "!", 1);
    for (;;) ::pause();
  }
  char ready = 0;
  EXPECT_EQ(1, ::read(pipe[0], &ready, 1));
  RemovePartsOfDeadPrograms(folder_.string());
  EXPECT_EQ(1u, FileCount());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  RemovePartsOfDeadPrograms(folder_.string());
  EXPECT_EQ(0u, FileCount());
}

}  // namespace
}  // namespace palladion
