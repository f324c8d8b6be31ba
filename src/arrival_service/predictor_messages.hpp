// What the messages of ArrivalPredictor hold: reports to rank 0, and results from it.
#pragma once

#include <cstddef>

#include "arrival_service/arrival_predictor.hpp"

namespace sibyl::predictor_messages {

using Site = ArrivalPredictor::Site;

// A report: exchange, error of the clock in nanoseconds, number of sites, error of the clock when
// it was compared; then per site collective, root, bytes, number of records; then per record
// number, arrival, departure, service.
constexpr std::size_t report_head = 4;
constexpr std::size_t site_head = 4;
constexpr std::size_t record_words = 4;
constexpr std::size_t site_words = site_head + record_words * Site::window;
constexpr std::size_t report_words =
    report_head + site_words * ArrivalPredictor::sites_of_a_message;

// Whether the rank that reports this is the root of a site in it, so that it is owed a result.
inline bool names_as_root(const std::int64_t* report, Rank rank) {
  for (std::int64_t i = 0; i < report[2]; ++i) {
    const std::size_t part = report_head + static_cast<std::size_t>(i) * site_words;
    if (report[part + 1] == rank) return true;
  }
  return false;
}

// A result: exchange, calls to the next one, number of patterns, whether clocks are to be compared;
// then per pattern collective, root, bytes, line, period and remainders of its calls, version,
// whether it pays, error; then the times of all ranks. The patterns of a site stand together. All
// numbers are exact.
constexpr std::size_t result_head = 4;
constexpr std::size_t pattern_head = 9;

inline std::size_t result_words(Rank ranks) {
  return result_head +
         ArrivalPredictor::patterns_of_a_message * (pattern_head + static_cast<std::size_t>(ranks));
}

}  // namespace sibyl::predictor_messages
