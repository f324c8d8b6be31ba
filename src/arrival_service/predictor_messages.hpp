// What the messages of ArrivalPredictor hold: reports to rank 0, and results from it.
#pragma once

#include <cstddef>

#include "arrival_service/arrival_predictor.hpp"

namespace sibyl::predictor_messages {

using Site = ArrivalPredictor::Site;

// A report: exchange, error of the clock in nanoseconds, number of sites; then per site collective,
// root, bytes, number of records; then per record number, arrival, departure, service.
constexpr std::size_t report_head = 3;
constexpr std::size_t site_head = 4;
constexpr std::size_t record_words = 4;
constexpr std::size_t site_words = site_head + record_words * Site::window;
constexpr std::size_t report_words =
    report_head + site_words * ArrivalPredictor::sites_of_a_message;

// A result: exchange, calls to the next one, number of patterns; then per pattern collective, root,
// bytes, line, period and remainders of its calls, version, whether it pays, error; then the times
// of all ranks. The patterns of a site stand together. All numbers are exact.
constexpr std::size_t result_head = 3;
constexpr std::size_t pattern_head = 9;

inline std::size_t result_words(Rank ranks) {
  return result_head +
         ArrivalPredictor::patterns_of_a_message * (pattern_head + static_cast<std::size_t>(ranks));
}

}  // namespace sibyl::predictor_messages
