// Walks a path name by name, since openat2's RESOLVE_NO_SYMLINKS would refuse all links; see
// directory_of.hpp.
#include "base/directory_of.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace sibyl {

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

DirectoryOf open_directory_of(const std::string& path) {
  constexpr int only_to_walk = O_PATH | O_DIRECTORY | O_CLOEXEC;
  DirectoryOf found{Descriptor(::open(path.starts_with('/') ? "/" : ".", only_to_walk)), {}, false};
  std::size_t begin = 0;
  while (found.directory.number() >= 0) {
    struct stat state{};
    if (::fstat(found.directory.number(), &state) != 0) break;
    found.shared = (state.st_mode & S_IWOTH) != 0;
    begin = path.find_first_not_of('/', begin);
    if (begin == std::string::npos) break;
    const std::size_t end = path.find('/', begin);
    if (end == std::string::npos) {
      found.name = path.substr(begin);
      return found;
    }
    const std::string next = path.substr(begin, end - begin);
    const int follow = found.shared ? O_NOFOLLOW : 0;
    Descriptor below(::openat(found.directory.number(), next.c_str(), only_to_walk | follow));
    if (below.number() < 0 && found.shared) {
      found.stopped_by_link =
          ::fstatat(found.directory.number(), next.c_str(), &state, AT_SYMLINK_NOFOLLOW) == 0 &&
          S_ISLNK(state.st_mode);
    }
    found.directory = std::move(below);
    begin = end;
  }
  if (found.directory.number() >= 0) found.name = ".";  // a path that ends in a slash, or is empty
  return found;
}

}  // namespace sibyl
