// Writes a file of a report or a recording.
//
// It happens at the end of somebody else's program, perhaps as root and perhaps into a directory
// where others may write: so no symbolic link is followed, neither at the file's name nor at that
// of its part nor, where all may write, on the way there, and who reads sees a whole file or none.
#pragma once

#include <string>
#include <string_view>

namespace sibyl {

// Writes PATH.part, which must not exist or is removed first, and renames it to PATH. False where
// that could not be done; nothing of the new file is left then. Throws nothing but std::bad_alloc.
bool write_output_file(const std::string& path, std::string_view text);

}  // namespace sibyl
