// Recordings that sibyl-fft reads, by libsndfile: what is read has samples, channels and a rate, or
// there is one line of what is wrong.
#include "fft/recording.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "fuzz/target.hpp"

namespace sibyl::fuzz {

void run(std::string_view text) {
  const int file = memfd_create("recording", MFD_CLOEXEC);
  require(file >= 0);
  require(write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  constexpr std::size_t most = 1U << 20U;
  const fft::Recording read = fft::read_recording("/proc/self/fd/" + std::to_string(file), most);
  close(file);
  require(is_one_line(read.problem));
  require(read.samples.size() <= most);
  if (!read.problem.empty()) return;
  require(!read.samples.empty() && read.channels > 0 && read.rate > 0);
}

}  // namespace sibyl::fuzz
