// Files that sibyl-fft writes: whole, or straight into what is to stay.
#include "fft/report.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace sibyl::fft {
namespace {

namespace fs = std::filesystem;

// A directory of a test's own that goes with it.
class Report : public testing::Test {
 protected:
  Report() {
    std::string name = testing::TempDir() + "sibyl-report-XXXXXX";
    if (mkdtemp(name.data()) != nullptr) folder_ = name;
  }
  ~Report() override { fs::remove_all(folder_); }
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  std::string at(const char* name) const { return (folder_ / name).string(); }
  const fs::path& folder() const { return folder_; }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

 private:
  fs::path folder_;
};

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST_F(Report, IsOneFileThatReplacesAnEarlierOne) {
  EXPECT_EQ(write_file(at("x.json"), "a longer one"), "");
  EXPECT_EQ(write_file(at("x.json"), "shorter"), "");
  EXPECT_EQ(content(at("x.json")), "shorter");
  EXPECT_EQ(files(), 1U);
}

TEST_F(Report, IsWrittenWhereALinkLeads) {
  fs::create_directory(at("there"));
  fs::create_symlink(at("there/x.json"), at("link"));
  for (const char* text : {"first", "next"}) {  // at first it leads nowhere
    EXPECT_EQ(write_file(at("link"), text), "");
    EXPECT_TRUE(fs::is_symlink(at("link")));
    EXPECT_EQ(content(at("there/x.json")), text);
  }
  EXPECT_EQ(files(), 2U);
}

TEST_F(Report, GoesIntoAPipeThatStaysOne) {
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  fs::create_symlink(at("pipe"), at("link"));
  const int pipe = open(at("pipe").c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(pipe, 0);
  for (const char* name : {"link", "pipe"}) {
    EXPECT_EQ(write_file(at(name), "all of it"), "");
    EXPECT_TRUE(fs::is_fifo(at(name)));
    std::array<char, 16> got{};
    EXPECT_EQ(read(pipe, got.data(), got.size()), 9);
    EXPECT_STREQ(got.data(), "all of it");
    EXPECT_EQ(files(), 2U);
  }
  close(pipe);
}

TEST_F(Report, LeavesNothingWhereThereIsNoRoom) {
  EXPECT_EQ(write_file(at("x.json"), "earlier"), "");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit narrow{8, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &narrow), 0);
  const std::string problem = write_file(at("x.json"), std::string(100, 'x'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(problem, "cannot write " + at("x.json") + ": File too large");
  EXPECT_EQ(content(at("x.json")), "earlier");
  EXPECT_EQ(files(), 1U);
}

TEST_F(Report, MayGoIntoADeviceWhoseFolderIsNotWritable) {
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  fs::permissions(at("pipe"), fs::perms::all);
  fs::permissions(folder(), fs::perms(0555));
  const pid_t child = fork();
  if (child == 0) {  // for root everything is writable
    const bool plain = geteuid() != 0 || setuid(65534) == 0;
    const bool refused = !problem_with("--json", at("x.json")).empty();
    _exit(plain && refused && problem_with("--json", at("pipe")).empty() ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  fs::permissions(folder(), fs::perms::owner_all);
}

}  // namespace
}  // namespace sibyl::fft
