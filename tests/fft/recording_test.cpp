// Recordings of all formats of WAV, read back, and the windows over them.
#include "fft/recording.hpp"

#include <gtest/gtest.h>
#include <sndfile.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace sibyl::fft {
namespace {

// A file of this test's own that goes with it.
class File {
 public:
  explicit File(const std::string& name)
      : path_(std::filesystem::temp_directory_path() /
              ("sibyl-" + std::to_string(getpid()) + "-" + name)) {}
  ~File() { std::remove(path_.c_str()); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

void write_wav(const std::string& path, int format, int channels,
               const std::vector<float>& samples) {
  SF_INFO info{};
  info.samplerate = 8000;
  info.channels = channels;
  info.format = SF_FORMAT_WAV | format;
  SNDFILE* file = sf_open(path.c_str(), SFM_WRITE, &info);
  ASSERT_NE(file, nullptr) << sf_strerror(nullptr);
  const auto count = static_cast<sf_count_t>(samples.size());
  EXPECT_EQ(sf_write_float(file, samples.data(), count), count);
  sf_close(file);
}

TEST(Recording, IsReadFromIntegersOfAnyWidthAndFromFloats) {
  const std::vector<float> samples{0.0F, 0.5F, -0.5F, 0.25F, -0.75F};
  for (const int format : {SF_FORMAT_PCM_U8, SF_FORMAT_PCM_16, SF_FORMAT_PCM_24, SF_FORMAT_PCM_32,
                           SF_FORMAT_FLOAT, SF_FORMAT_DOUBLE}) {
    const File file("formats.wav");
    write_wav(file.path(), format, 1, samples);
    const Recording recording = read_recording(file.path());
    EXPECT_EQ(recording.problem, "");
    EXPECT_EQ(recording.rate, 8000);
    ASSERT_EQ(recording.samples.size(), samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      EXPECT_NEAR(recording.samples[i], samples[i], 0.01) << "format " << format;
    }
  }
}

TEST(Recording, IsTheMeanOfItsChannels) {
  const File file("stereo.wav");
  write_wav(file.path(), SF_FORMAT_FLOAT, 2, {1.0F, 0.0F, 0.25F, 0.75F});
  const Recording recording = read_recording(file.path());
  EXPECT_EQ(recording.channels, 2);
  EXPECT_EQ(recording.samples, (std::vector<float>{0.5F, 0.5F}));
}

TEST(Recording, IsReadUpToABound) {
  const File file("bound.wav");
  write_wav(file.path(), SF_FORMAT_PCM_16, 2, std::vector<float>(400, 0.5F));
  EXPECT_EQ(read_recording(file.path(), 200).problem, "");
  EXPECT_NE(read_recording(file.path(), 199).problem.find("more than 199"), std::string::npos);
}

TEST(Recording, SaysWhatIsWrongWithAFile) {
  EXPECT_NE(read_recording("/nonexistent/a.wav").problem, "");
  const File empty("empty.wav");
  write_wav(empty.path(), SF_FORMAT_PCM_16, 1, {});
  EXPECT_NE(read_recording(empty.path()).problem, "");
  const File text("text.wav");
  std::ofstream(text.path()) << "this is not a recording";
  EXPECT_NE(read_recording(text.path()).problem, "");
}

TEST(WindowStart, CoversTheRecordingFromEndToEnd) {
  EXPECT_EQ(window_start(1000, 256, 0, 10), 0U);
  EXPECT_EQ(window_start(1000, 256, 9, 10), 744U);
  EXPECT_EQ(window_start(1000, 256, 0, 1), 0U);
  for (int window = 1; window < 10; ++window) {
    EXPECT_GT(window_start(1000, 256, window, 10), window_start(1000, 256, window - 1, 10));
  }
}

}  // namespace
}  // namespace sibyl::fft
