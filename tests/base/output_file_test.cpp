// How reports are written: whole or not at all, and through nobody's link.
#include "base/output_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace sibyl {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class OutputFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "sibyl-output-file-XXXXXX";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    path_ = folder_ + "/report.json";
    precious_ = folder_ + "/precious";
    std::ofstream(precious_) << "precious";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  // Besides the precious file.
  int files() const {
    int count = -1;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_)) ++count;
    return count;
  }

  std::string folder_;
  std::string path_;
  std::string precious_;
};

TEST_F(OutputFileTest, IsWrittenWholeAndNothingElseIsLeft) {
  const std::string text(300000, 'x');
  EXPECT_TRUE(write_output_file(path_, text));
  EXPECT_EQ(content_of(path_), text);
  EXPECT_EQ(files(), 1);
  EXPECT_TRUE(write_output_file(path_, "shorter"));
  EXPECT_EQ(content_of(path_), "shorter");
}

TEST_F(OutputFileTest, FollowsNoLinkToADirectoryWhereAllMayHaveLaidIt) {
  const std::string common = folder_ + "/common";
  const std::string elsewhere = folder_ + "/elsewhere";
  ASSERT_EQ(::mkdir(common.c_str(), 0700), 0);
  ASSERT_EQ(::mkdir(elsewhere.c_str(), 0700), 0);
  ASSERT_EQ(::symlink(elsewhere.c_str(), (common + "/link").c_str()), 0);
  EXPECT_TRUE(write_output_file(common + "/link/report", "mine"));
  EXPECT_EQ(content_of(elsewhere + "/report"), "mine");
  ASSERT_EQ(::chmod(common.c_str(), 01777), 0);
  EXPECT_FALSE(write_output_file(common + "/link/report", "led astray"));
  EXPECT_EQ(content_of(elsewhere + "/report"), "mine");
  EXPECT_TRUE(write_output_file(common + "/report", "there"));
  EXPECT_EQ(content_of(common + "/report"), "there");
}

TEST_F(OutputFileTest, FollowsNoLinkThatWaitsInItsPlace) {
  ASSERT_EQ(::symlink(precious_.c_str(), path_.c_str()), 0);
  EXPECT_TRUE(write_output_file(path_, "report"));
  EXPECT_EQ(content_of(precious_), "precious");
  EXPECT_EQ(content_of(path_), "report");
  EXPECT_FALSE(std::filesystem::is_symlink(path_)) << "replaced, not followed";
}

TEST_F(OutputFileTest, FollowsNoLinkInThePlaceOfItsPart) {
  ASSERT_EQ(::symlink(precious_.c_str(), (path_ + ".part").c_str()), 0);
  EXPECT_TRUE(write_output_file(path_, "report"));
  EXPECT_EQ(content_of(precious_), "precious");
  EXPECT_EQ(content_of(path_), "report");
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFileTest, ReplacesThePartOfAProcessThatDied) {
  std::ofstream(path_ + ".part") << "half a rep";
  EXPECT_TRUE(write_output_file(path_, "report"));
  EXPECT_EQ(content_of(path_), "report");
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFileTest, LeavesNothingWhereItCannotBe) {
  EXPECT_FALSE(write_output_file(folder_ + "/no/such/report.json", "report"));
  ASSERT_EQ(::mkdir(path_.c_str(), 0700), 0);
  EXPECT_FALSE(write_output_file(path_, "report"));
  EXPECT_EQ(files(), 1) << "the directory alone";
}

TEST_F(OutputFileTest, IsWhatTheUmaskLeavesToOthers) {
  const mode_t before = ::umask(027);
  EXPECT_TRUE(write_output_file(path_, "report"));
  ::umask(before);
  struct stat state{};
  ASSERT_EQ(::stat(path_.c_str(), &state), 0);
  EXPECT_EQ(state.st_mode & 0777U, 0640U);
}

}  // namespace
}  // namespace sibyl
