// What is known of one call site: when its ranks arrived, what its calls cost, and what that says
// of the calls to come.
//
// A call costs the time from the last arrival to the last departure: what no order could hide.
// Calls in the predicted order, in the fixed one and by the MPI library are compared by the medians
// of their costs of late.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sibyl/arrival.hpp"
#include "sibyl/predictors.hpp"

namespace sibyl {

enum class Service : std::uint8_t {
  native,           // by the MPI library
  fixed_order,      // by Sibyl, as if nothing were known
  predicted_order,  // by Sibyl, in the order of the pattern
};

class SiteHistory {
 public:
  explicit SiteHistory(Rank ranks) : predictors_(static_cast<std::size_t>(ranks)) {}

  // A call: its ranks' arrivals and departures, in seconds of one clock, and who served it.
  void observe(std::span<const double> arrivals, std::span<const double> departures,
               Service service);
  std::uint64_t observed() const { return observed_; }

  // Seconds behind the first rank, of the next call. Its error is that of the median rank.
  ArrivalPattern pattern() const;
  // Whether the predicted order is worth following: yes until it has been measured to cost more
  // than both the fixed one and the MPI library's call.
  bool pays() const;

 private:
  static constexpr std::size_t kept = 16;   // costs of each service
  static constexpr std::size_t needed = 4;  // for a verdict
  static constexpr double margin = 1.02;    // that a verdict against the order takes

  struct Costs {
    std::array<double, kept> recent{};
    std::size_t count = 0;
  };
  static double median(const Costs& costs);

  std::vector<BestPredictor> predictors_;
  std::array<Costs, 3> costs_;
  std::uint64_t observed_ = 0;
};

}  // namespace sibyl
