// Draws or replays; see pattern_source.hpp.
#include "bench/pattern_source.hpp"

#include <mpi.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/input_file.hpp"

namespace sibyl::bench {
namespace {

constexpr std::string_view heading = "# call";

// Text of a file at rank 0, on all ranks; `found` tells whether there is one.
std::string read_for_all(const std::string& name, bool& found) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::string text;
  long long size = -1;
  if (rank == 0) {
    // Its length is sent as an int, and a device may have no end.
    InputFile file = read_input_file(name, std::numeric_limits<int>::max(), FileKind::any);
    text = std::move(file.text);
    if (file.read) size = static_cast<long long>(text.size());
  }
  MPI_Bcast(&size, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
  found = size >= 0;
  if (!found) return {};
  text.resize(static_cast<std::size_t>(size));
  MPI_Bcast(text.data(), static_cast<int>(size), MPI_CHAR, 0, MPI_COMM_WORLD);
  return text;
}

}  // namespace

PatternSource::PatternSource(const std::string& text, double max_delay, int ranks, int root,
                             std::uint64_t seed) {
  request_.ranks = ranks;
  request_.root = root;
  request_.maximum = max_delay;
  request_.seed = seed;
  if (shape_from_name(text, request_.shape)) {
    problem_ = make_pattern(request_).problem;
  } else {
    read_file(text, ranks);
  }
}

void PatternSource::read_file(const std::string& name, int ranks) {
  bool found = false;
  const std::string text = read_for_all(name, found);
  if (!found) {
    problem_ = "no arrival pattern and no file: " + name;
    return;
  }
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = text.find(std::string("\n").append(heading), begin);
    end = end == std::string::npos ? text.size() : end + 1;
    PatternResult read =
        read_pattern(std::string_view(text).substr(begin, end - begin), ranks, name);
    const bool preamble = begin == 0 && end < text.size() && text.rfind(heading, 0) != 0;
    begin = end;
    if (preamble) continue;
    if (!read.ok()) {
      problem_ = read.problem;
      return;
    }
    // From any common origin: what counts is how far apart they are.
    std::vector<double>& times = read.pattern.times;
    for (const double origin = *std::ranges::min_element(times); double& time : times) {
      time -= origin;
    }
    recorded_.push_back(std::move(read.pattern));
  }
  if (recorded_.empty()) problem_ = name + ": no arrival times";
}

std::vector<double> PatternSource::times(std::uint64_t iteration) const {
  if (!recorded_.empty()) return recorded_[iteration % recorded_.size()].times;
  PatternRequest request = request_;
  request.seed += iteration;
  return make_pattern(request).pattern.times;
}

}  // namespace sibyl::bench
