// Reads files by system calls: a stream of the C++ library throws where the path is a directory,
// and opening a pipe by it waits; see input_file.hpp.
#include "base/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace sibyl {
namespace {

class Descriptor {
 public:
  Descriptor(const char* path, int flags) {
    do {
      number_ = ::open(path, flags);
    } while (number_ < 0 && errno == EINTR);
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_ = -1;
};

// Up to one byte more than `most`, by which the caller knows that there is more. False after an
// error. The length that the kernel tells is a hint only: files of /proc have none.
bool read_up_to(int descriptor, std::size_t most, std::size_t hint, std::string& text) {
  std::size_t length = 0;
  text.resize(std::min(most, std::max<std::size_t>(hint, 4095)) + 1);
  while (true) {
    const ssize_t got = ::read(descriptor, text.data() + length, text.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    length += static_cast<std::size_t>(got);
    if (got == 0 || length > most) break;
    if (length == text.size()) text.resize(std::min(2 * length, most + 1));
  }
  text.resize(length);
  return true;
}

}  // namespace

InputFile read_input_file(const std::string& path, std::size_t most_bytes, FileKind kind) {
  const auto refused = [](std::string why) { return InputFile{false, {}, std::move(why)}; };
  const std::string too_large = ": it is larger than " + std::to_string(most_bytes) + " bytes";
  // Without O_NONBLOCK the opening of a pipe waits for who writes to it.
  const Descriptor file(path.c_str(),
                        O_RDONLY | O_CLOEXEC | (kind == FileKind::regular ? O_NONBLOCK : 0));
  struct stat state{};
  if (file.number() < 0 || ::fstat(file.number(), &state) != 0) return refused({});
  if (S_ISDIR(state.st_mode)) return refused(": it is a directory");
  const bool regular = S_ISREG(state.st_mode);
  if (!regular && kind == FileKind::regular) return refused(": it is no regular file");
  const auto size = regular ? static_cast<std::size_t>(state.st_size) : 0;
  if (size > most_bytes) return refused(too_large);
  InputFile found;
  if (!read_up_to(file.number(), most_bytes, size, found.text)) return refused({});
  if (found.text.size() > most_bytes) return refused(too_large);
  found.read = true;
  return found;
}

}  // namespace sibyl
