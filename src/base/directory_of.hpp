// Opens the directory of a file without being led astray by somebody else's link.
//
// A program that reads or writes /tmp/of-everybody/table must not find itself in a file that
// another user's link chose, so links are followed only where nobody but their directory's owner,
// or its group, could have laid them. (Linux can forbid such links too, fs.protected_symlinks, for
// sticky directories and where the administrator has not turned it off.)
#pragma once

#include <string>

namespace sibyl {

// A file descriptor that is closed with it; negative where there is none.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor& operator=(Descriptor&& other) noexcept;
  int number() const { return number_; }

 private:
  int number_ = -1;
};

struct DirectoryOf {
  Descriptor directory;  // for openat() and its like; none after an error
  std::string name;      // of the file in it
  bool shared = false;   // all may write to it: a link in it is not to be followed
  bool stopped_by_link = false;
};

// Throws nothing but std::bad_alloc. There is no directory where the system refuses it, or where a
// link on the way lies in a directory that all may write to (stopped_by_link).
DirectoryOf open_directory_of(const std::string& path);

}  // namespace sibyl
