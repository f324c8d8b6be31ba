// What a setting may name: files are read whole, everything else is refused and nothing waits.
#include "base/input_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace sibyl {
namespace {

class InputFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "sibyl-input-file-XXXXXX";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    path_ = folder_ + "/file";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& text) const { std::ofstream(path_) << text; }

  std::string folder_;
  std::string path_;
};

TEST_F(InputFileTest, IsReadWholeUpToItsBound) {
  const std::string all(10000, 'x');
  write(all);
  EXPECT_EQ(read_input_file(path_, all.size(), FileKind::regular).text, all);
  const InputFile refused = read_input_file(path_, all.size() - 1, FileKind::regular);
  EXPECT_FALSE(refused.read);
  EXPECT_EQ(refused.why, ": it is larger than 9999 bytes");
  EXPECT_EQ(refused.text, "");
}

TEST_F(InputFileTest, MayBeEmpty) {
  write("");
  const InputFile file = read_input_file(path_, 10, FileKind::regular);
  EXPECT_TRUE(file.read);
  EXPECT_EQ(file.text, "");
}

TEST_F(InputFileTest, ThatIsMissingOrADirectoryIsRefused) {
  for (const FileKind kind : {FileKind::regular, FileKind::any}) {
    EXPECT_FALSE(read_input_file(path_, 10, kind).read);
    EXPECT_EQ(read_input_file(path_, 10, kind).why, "");
    EXPECT_FALSE(read_input_file(folder_, 10, kind).read);
    EXPECT_EQ(read_input_file(folder_, 10, kind).why, ": it is a directory");
  }
}

TEST_F(InputFileTest, AsAPipeNeitherWaitsNorIsRead) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(read_input_file(path_, 10, FileKind::regular).why, ": it is no regular file");
}

TEST_F(InputFileTest, AsADeviceWithoutEndIsRefusedOrBounded) {
  EXPECT_EQ(read_input_file("/dev/zero", 10, FileKind::regular).why, ": it is no regular file");
  EXPECT_EQ(read_input_file("/dev/zero", 10, FileKind::any).why, ": it is larger than 10 bytes");
}

TEST_F(InputFileTest, AsAPipeIsReadToItsEndByACommand) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "0.5\n", 4), 4);
  ::close(ends[1]);
  EXPECT_EQ(read_input_file("/dev/fd/" + std::to_string(ends[0]), 10, FileKind::any).text, "0.5\n");
  ::close(ends[0]);
}

TEST_F(InputFileTest, WhoseLengthTheKernelDoesNotTellIsReadToItsEnd) {
  EXPECT_EQ(read_input_file("/proc/self/status", 1 << 20, FileKind::regular).text.rfind("Name:", 0),
            0U);
}

// A file behind a link to it, and behind one to its directory, both in a directory of this mode.
class InputFileLinkTest : public InputFileTest, public testing::WithParamInterface<mode_t> {
 protected:
  void SetUp() override {
    InputFileTest::SetUp();
    write("text");
    const std::string common = folder_ + "/common";
    ASSERT_EQ(::mkdir(common.c_str(), 0700), 0);
    ASSERT_EQ(::chmod(common.c_str(), GetParam()), 0);
    to_file_ = common + "/to-file";
    to_folder_ = common + "/to-folder";
    plain_ = common + "/plain";
    ASSERT_EQ(::symlink(path_.c_str(), to_file_.c_str()), 0);
    ASSERT_EQ(::symlink(folder_.c_str(), to_folder_.c_str()), 0);
    std::ofstream(plain_) << "plain";
  }
  static InputFile read(const std::string& path, FileKind kind = FileKind::regular) {
    return read_input_file(path, 10, kind);
  }
  std::string to_file_;
  std::string to_folder_;
  std::string plain_;
};

TEST_P(InputFileLinkTest, IsFollowedOnlyWhereNotAllMayLayIt) {
  const bool shared = (GetParam() & S_IWOTH) != 0;
  for (const std::string& path : {to_file_, to_folder_ + "/file", to_folder_ + "//./file"}) {
    const InputFile found = read(path);
    EXPECT_EQ(found.read, !shared) << path;
    EXPECT_EQ(found.text, shared ? "" : "text") << path;
    EXPECT_EQ(read(path, FileKind::any).text, "text") << path;
  }
  EXPECT_EQ(read(to_file_).why.find("not followed") != std::string::npos, shared);
  EXPECT_EQ(read(plain_).text, "plain");
  EXPECT_EQ(read(plain_ + "/below").why, "") << "no link is blamed";
}

INSTANTIATE_TEST_SUITE_P(Modes, InputFileLinkTest,
                         testing::Values(mode_t{0700}, mode_t{0775}, mode_t{0777}, mode_t{01777}));

}  // namespace
}  // namespace sibyl
