// Predictions from earlier turns; see learning.hpp.
#include "bench/learning.hpp"

#include <mpi.h>

#include <algorithm>
#include <cmath>

namespace sibyl::bench {

std::vector<double> LearntArrivals::learn(std::span<const double> arrivals) {
  std::vector<double> errors;
  const bool first_turn = told_.empty();
  told_.resize(static_cast<std::size_t>(ranks_));
  if (rank_ == 0) {
    const double first = std::ranges::min(arrivals);
    for (std::size_t rank = 0; rank < arrivals.size() && !first_turn; ++rank) {
      errors.push_back(std::abs(arrivals[rank] - first - told_[rank]));
    }
    if (history_ == nullptr) history_ = std::make_unique<SiteHistory>(ranks_);
    history_->observe(arrivals, arrivals, Service::predicted_order);
    told_ = history_->pattern().times;
  }
  PMPI_Bcast(told_.data(), ranks_, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return errors;
}

}  // namespace sibyl::bench
