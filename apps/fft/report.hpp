// What a run leaves behind: a document as JSON, and its picture, drawn by the `sibyl` command. No
// MPI here.
#pragma once

#include <string>
#include <vector>

#include "fft/options.hpp"
#include "fft/picture.hpp"
#include "fft/recording.hpp"
#include "fft/times.hpp"

namespace sibyl::fft {

struct Check {
  int spectra = 0;     // that were compared with a direct transform
  double largest = 0;  // error
  double limit = 0;    // what rounding explains
  bool right() const { return largest <= limit; }
};

std::string to_json(const Options& options, int ranks, const std::string& mpi,
                    const Recording& recording, const Check& check, const std::vector<Times>& times,
                    const Picture& picture);

// Writes a text, whole or not at all, or straight into a device or where a link leads; what went
// wrong, or nothing.
std::string write_file(const std::string& path, const std::string& text);

// The path of a document that is not to stay, in a new directory of its own and of this user's; or
// what is wrong. And its end.
std::string place_for_a_while(std::string& problem);
void remove_with_its_directory(const std::string& document);

// What keeps a file from being written later, or nothing.
std::string problem_with(const std::string& option, const std::string& path);

// The words that start the `sibyl` command: that of SIBYL_PYTHON, which `sibyl run` sets, or the
// one in PATH; none where there is none.
std::vector<std::string> sibyl_command();

// Starts the command on a document and waits for it; its exit code, or -1.
int draw(const std::vector<std::string>& command, const std::string& document,
         const std::string& picture);

}  // namespace sibyl::fft
