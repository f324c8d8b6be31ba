// A recorded signal; see recording.hpp.
#include "fft/recording.hpp"

#include <sndfile.h>

#include <filesystem>
#include <system_error>

namespace sibyl::fft {

Recording read_recording(const std::string& path, std::size_t most) {
  Recording recording;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    recording.problem = "there is no file " + path;
    return recording;
  }
  SF_INFO info{};
  SNDFILE* file = sf_open(path.c_str(), SFM_READ, &info);
  if (file == nullptr) {
    std::string reason = sf_strerror(nullptr);
    while (!reason.empty() && (reason.back() == '.' || reason.back() == '\n')) reason.pop_back();
    recording.problem = "cannot read " + path + ": " + reason;
    return recording;
  }
  recording.rate = info.samplerate;
  recording.channels = info.channels;
  const auto channels = static_cast<std::size_t>(info.channels);
  // In pieces and until nothing comes: a header may name more frames than the file has.
  std::vector<float> frames(65536 * channels);
  const float share = 1.0F / static_cast<float>(info.channels);
  bool too_long = false;
  for (sf_count_t read = 0; (read = sf_readf_float(file, frames.data(), 65536)) > 0;) {
    too_long = static_cast<std::size_t>(read) > most - recording.samples.size();
    if (too_long) break;
    for (std::size_t frame = 0; frame < static_cast<std::size_t>(read); ++frame) {
      float sum = 0;
      for (std::size_t c = 0; c < channels; ++c) sum += frames[frame * channels + c];
      recording.samples.push_back(sum * share);
    }
  }
  const int failure = sf_error(file);
  if (too_long) {
    recording.problem = path + " has more than " + std::to_string(most) + " samples";
  } else if (failure != SF_ERR_NO_ERROR) {
    recording.problem = "cannot read " + path + ": " + sf_error_number(failure);
  } else if (recording.samples.empty()) {
    recording.problem = path + " has no samples";
  }
  sf_close(file);
  return recording;
}

std::size_t window_start(std::size_t samples, std::size_t size, int window, int windows) {
  if (windows < 2) return 0;
  return (samples - size) * static_cast<std::size_t>(window) /
         static_cast<std::size_t>(windows - 1);
}

}  // namespace sibyl::fft
