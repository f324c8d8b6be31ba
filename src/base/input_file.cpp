// Reads files by system calls: a stream of the C++ library throws where the path is a directory,
// and opening a pipe by it waits; see input_file.hpp.
#include "base/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/directory_of.hpp"

namespace sibyl {
namespace {

// A command's user may name a pipe, as /dev/fd/63, and is trusted with links.
Descriptor open_any(const std::string& path) {
  int number = -1;
  do {
    number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  } while (number < 0 && errno == EINTR);
  return Descriptor(number);
}

// Without O_NONBLOCK the opening of a pipe waits for who writes to it.
Descriptor open_regular(const std::string& path, std::string& why) {
  const DirectoryOf place = open_directory_of(path);
  int number = -1;
  if (place.directory.number() >= 0) {
    number = ::openat(place.directory.number(), place.name.c_str(),
                      O_RDONLY | O_CLOEXEC | O_NONBLOCK | (place.shared ? O_NOFOLLOW : 0));
  }
  if (number < 0 && place.shared && (errno == ELOOP || place.stopped_by_link)) {
    why = ": a link on its way lies in a directory that all may write to, and is not followed";
  }
  return Descriptor(number);
}

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
  std::string why;
  const Descriptor file = kind == FileKind::regular ? open_regular(path, why) : open_any(path);
  struct stat state{};
  if (file.number() < 0 || ::fstat(file.number(), &state) != 0) return refused(std::move(why));
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
