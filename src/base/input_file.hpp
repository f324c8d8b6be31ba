// Reads a file that a setting names.
//
// It happens inside somebody else's program, which must not end, wait or run out of memory because
// the setting names a directory, a pipe that nobody writes to or a device without end. So only
// regular files are read there, none beyond a size that the caller gives, and none by way of a link
// that anybody could have laid (directory_of.hpp).
#pragma once

#include <cstddef>
#include <string>

namespace sibyl {

enum class FileKind {
  regular,  // inside a program
  any,      // for a command, whose user may hand it a pipe, as in <(generate)
};

struct InputFile {
  bool read = false;
  std::string text;  // all of the file
  std::string why;   // why it was not read, as in ": it is a directory"; empty where the system
                     // refused it or there is none
};

// Throws nothing but std::bad_alloc.
InputFile read_input_file(const std::string& path, std::size_t most_bytes, FileKind kind);

}  // namespace sibyl
