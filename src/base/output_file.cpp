// Writes files by system calls, since fopen knows neither O_EXCL nor O_NOFOLLOW; see
// output_file.hpp.
#include "base/output_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/directory_of.hpp"

namespace sibyl {
namespace {

// A new file, never one that is there; the negative number of an error.
int create(int directory, const char* name) {
  int descriptor = -1;
  do {
    descriptor =
        ::openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor < 0 ? -errno : descriptor;
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

bool write_output_file(const std::string& path, std::string_view text) {
  const DirectoryOf place = open_directory_of(path);
  const int directory = place.directory.number();
  if (directory < 0) return false;
  const std::string part = place.name + ".part";
  int descriptor = create(directory, part.c_str());
  if (descriptor == -EEXIST) {
    // Of a process of this number that died, or a link that somebody has laid: the name goes, and
    // not what it leads to.
    if (::unlinkat(directory, part.c_str(), 0) != 0) return false;
    descriptor = create(directory, part.c_str());
  }
  if (descriptor < 0) return false;
  const bool whole = write_all(descriptor, text);
  const bool closed = ::close(descriptor) == 0;
  // A rename replaces a link and does not follow it.
  if (whole && closed && ::renameat(directory, part.c_str(), directory, place.name.c_str()) == 0) {
    return true;
  }
  ::unlinkat(directory, part.c_str(), 0);
  return false;
}

}  // namespace sibyl
