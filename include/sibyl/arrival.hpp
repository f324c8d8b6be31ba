/// @file
/// Arrival patterns: when each rank joins a collective.
///
/// A pattern is a value: one time per rank, in seconds from a common origin, a version, and how far
/// the times may be off. All ranks that decide by a pattern must hold the same version of it. This
/// header makes the patterns of the papers and reads and writes patterns as text; whoever predicts
/// or agrees on a pattern fills in the same value.
///
/// Generated times are the same on every platform: they use nothing but SplitMix64 (see
/// src/arrival/splitmix64.hpp), integer arithmetic, and single correctly rounded operations on
/// doubles; no std:: distribution and no function of the mathematical library.
///
/// Errors: nothing here throws but std::bad_alloc. A `problem` is one line that says what is wrong
/// and how to mend it; it is empty where all is well.
///
/// Thread safety: plain values and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sibyl/schedule.hpp"

namespace sibyl {

/// @defgroup arrival Arrival patterns
/// @{

struct ArrivalPattern {
  std::vector<double> times;  ///< of rank 0, 1, ...: seconds, finite, not negative
  std::uint64_t version = 0;  ///< grows by one with each pattern that the ranks agree on
  double error = 0;  ///< seconds, of predicted times: those that differ by no more are ties
};

struct PatternResult {
  ArrivalPattern pattern;  ///< of version 0
  std::string problem;
  bool ok() const { return problem.empty(); }
};

enum class PatternShape : std::uint8_t {
  flat,       ///< everybody at 0
  uniform,    ///< each rank at random, equally likely anywhere in [0, maximum)
  skewed,     ///< one rank is late: the last one at `maximum`, all others at 0
  root_late,  ///< the root at `maximum`, all others at 0
  fixed,      ///< equal steps: rank i at i * maximum / (ranks - 1)
  normal,     ///< each rank at random around maximum / 2 with standard deviation maximum / 12; the
              ///< mean of 12 uniform times, so nobody is outside [0, maximum)
  exponential,  ///< each rank at random with mean maximum / 4; times beyond `maximum` (2 %) are
                ///< drawn again
};

std::span<const PatternShape> pattern_shapes();
std::string_view name_of(PatternShape shape);  ///< as above, with '-' for '_'
/// False when there is no shape of that name.
bool shape_from_name(std::string_view name, PatternShape& shape);

struct PatternRequest {
  PatternShape shape = PatternShape::flat;
  Rank ranks = 1;
  Rank root = 0;           ///< of PatternShape::root_late
  double maximum = 0;      ///< seconds; unused by PatternShape::flat
  std::uint64_t seed = 0;  ///< of the shapes drawn at random
};

/// The pattern, or why there is none: no ranks, root out of range, maximum negative or not finite.
PatternResult make_pattern(const PatternRequest& request);

/// Empty when `times` are the arrival times of `ranks` ranks: the right number of them, each finite
/// and not negative.
std::string check_times(std::span<const double> times, Rank ranks);

/// Reads one time per line; `#` begins a comment, empty lines are skipped. `name` stands in front
/// of the problem, with the line where there is one ("delays.txt:3: ..."). Numbers are read to the
/// nearest double, whatever the locale.
PatternResult read_pattern(std::string_view text, Rank ranks, std::string_view name);
PatternResult read_pattern_file(const std::string& path, Rank ranks);

/// Between the first and the last arrival that the library plans for, in seconds.
inline constexpr double longest_spread = 1e6;

/// What a setting takes that holds for communicators of every size: as pattern_from_text, with the
/// root at 0 and times within longest_spread. A file that has another number of times says nothing:
/// no times and no problem.
PatternResult given_arrivals(std::string_view text, Rank ranks);
/// Empty when given_arrivals has no problem with the text for any number of ranks.
std::string check_given_arrivals(std::string_view text);

/// One time per line, in the shortest form that reads back as the same double.
std::string write_pattern(const ArrivalPattern& pattern);

/// What commands take: "flat", "SHAPE:MAX" or, where times are drawn, "SHAPE:MAX:SEED" (seed 0 if
/// absent), with MAX in seconds; anything else is the name of a pattern file.
PatternResult pattern_from_text(std::string_view text, Rank ranks, Rank root);

/// @}

}  // namespace sibyl
