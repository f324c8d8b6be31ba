// A recorded signal, and the windows that slide over it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sibyl::fft {

struct Recording {
  std::vector<float> samples;  // the mean of all channels, from -1 to 1
  int rate = 0;                // samples a second
  int channels = 0;            // of the file
  std::string problem;         // one line; empty: the file was read
};

// Reads what libsndfile knows: WAV of integers and floats, FLAC, AIFF, Ogg and others; a small file
// may hold many samples, of which `most` are read and more are a problem.
constexpr std::size_t most_samples = std::size_t{1} << 30;  // 4 GiB; six hours at 48 kHz
Recording read_recording(const std::string& path, std::size_t most = most_samples);

// Where window i of n begins, so that together they cover the recording from end to end.
std::size_t window_start(std::size_t samples, std::size_t size, int window, int windows);

}  // namespace sibyl::fft
