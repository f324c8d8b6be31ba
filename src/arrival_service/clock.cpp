// Compares clocks by ping-pong; see clock.hpp.
#include "arrival_service/clock.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <new>
#include <vector>

namespace sibyl {
namespace {

constexpr int ask_tag = 1;
constexpr int answer_tag = 2;
constexpr int model_tag = 3;

// Replies per comparison: the quickest of them counts. A slow network is spared after the fourth.
constexpr int most_replies = 24;
constexpr int fewest_replies = 4;
constexpr std::int64_t patience = 30'000'000;  // nanoseconds

constexpr double infinite = std::numeric_limits<double>::infinity();

struct Answer {
  std::int64_t time;
  double error;
};

}  // namespace

double CommonClock::error(std::int64_t local) const {
  if (leads_ || (!several_hosts_ && comparisons_ == 0)) return 0;
  const double age = std::abs(static_cast<double>(local - latest_.at)) * 1e-9;
  return latest_.error + drift_error_ * age;
}

void CommonClock::begin_comparison() { any_ = false; }

void CommonClock::compare(std::int64_t sent, std::int64_t received, std::int64_t reply) {
  if (!any_) first_sent_ = sent;
  lower_ = any_ ? std::max(lower_, reply - received) : reply - received;
  upper_ = any_ ? std::min(upper_, reply - sent) : reply - sent;
  last_received_ = received;
  any_ = true;
}

void CommonClock::end_comparison(double reference_error) {
  if (!any_) return fail();
  Estimate now;
  now.at = first_sent_ + (last_received_ - first_sent_) / 2;
  now.offset = lower_ + (upper_ - lower_) / 2;
  // The bounds of different replies are some time apart, in which the clocks have drifted; a
  // nanosecond is for rounding.
  const double took = static_cast<double>(last_received_ - first_sent_) * 1e-9;
  const double half = std::abs(static_cast<double>(upper_ - lower_)) * 0.5e-9;
  now.error = half + max_drift_ * took + reference_error + 1e-9;
  learn(now);
}

void CommonClock::narrow(std::int64_t sent, std::int64_t received, std::int64_t reply) {
  // All in seconds beyond what this rank holds the offset to be.
  const std::int64_t held = common(received) - received;
  const double slack = max_drift_ * static_cast<double>(received - sent) * 1e-9;
  const double least = static_cast<double>(reply - received - held) * 1e-9 - slack;
  const double most = static_cast<double>(reply - sent - held) * 1e-9 + slack;
  const double before = error(received);
  double low = std::max(least, -before);
  double high = std::min(most, before);
  if (low > high) {  // a clock has been set, or drifts more than any should
    low = least;
    high = most;
  }
  Estimate now;
  now.at = received;
  now.offset = held + static_cast<std::int64_t>((low + high) * 0.5e9);
  now.error = (high - low) / 2 + 1e-9;
  learn(now);
}

void CommonClock::learn(const Estimate& now) {
  drift_ = 0;
  drift_error_ = max_drift_;
  if (comparisons_ > 0 && std::isfinite(latest_.error)) {
    const double between = static_cast<double>(now.at - base_.at) * 1e-9;
    const double uncertain = between > 0 ? (now.error + base_.error) / between : infinite;
    if (uncertain < max_drift_) {
      drift_ = static_cast<double>(now.offset - base_.offset) * 1e-9 / between;
      drift_error_ = uncertain;
    }
    // Old enough to have told the drift well: later ones may see it change.
    if (uncertain < max_drift_ / 100) base_ = now;
  } else {
    base_ = now;
  }
  latest_ = now;
  ++comparisons_;
}

void CommonClock::fail() {
  latest_.error = infinite;
  ++comparisons_;
}

// Asks until the network's patience or that of the caller is at an end; the last question says so.
void CommonClock::ask(MPI_Comm comm, int reference) {
  begin_comparison();
  double reference_error = 0;
  const std::int64_t begin = local_.now();
  for (int i = 1, last = 0; last == 0; ++i) {
    const std::int64_t sent = local_.now();
    last = i >= most_replies || (i >= fewest_replies && sent - begin > patience) ? 1 : 0;
    Answer reply{};
    if (PMPI_Send(&last, 1, MPI_INT, reference, ask_tag, comm) != MPI_SUCCESS ||
        PMPI_Recv(&reply, static_cast<int>(sizeof reply), MPI_BYTE, reference, answer_tag, comm,
                  MPI_STATUS_IGNORE) != MPI_SUCCESS) {
      return fail();
    }
    compare(sent, local_.now(), reply.time);
    reference_error = std::max(reference_error, reply.error);
  }
  end_comparison(reference_error);
}

void CommonClock::answer(MPI_Comm comm, int client) const {
  for (int last = 0; last == 0;) {
    if (PMPI_Recv(&last, 1, MPI_INT, client, ask_tag, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
      return;
    }
    const std::int64_t now = local_.now();
    const Answer reply{common(now), error(now)};
    if (PMPI_Send(&reply, static_cast<int>(sizeof reply), MPI_BYTE, client, answer_tag, comm) !=
        MPI_SUCCESS) {
      return;
    }
  }
}

int CommonClock::synchronise_hosts(MPI_Comm comm, std::int64_t own_host) try {
  int rank = 0;
  int size = 1;
  int error = PMPI_Comm_rank(comm, &rank);
  if (error == MPI_SUCCESS) error = PMPI_Comm_size(comm, &size);
  if (error != MPI_SUCCESS) return error;
  std::vector<std::int64_t> hosts(static_cast<std::size_t>(size));
  error = PMPI_Allgather(&own_host, 1, MPI_INT64_T, hosts.data(), 1, MPI_INT64_T, comm);
  if (error != MPI_SUCCESS) return error;

  // The first rank of each host stands for it; `own` is the number of this rank's host.
  std::vector<int> firsts;
  std::vector<std::int64_t> known;
  for (int r = 0; r < size; ++r) {
    const std::int64_t host = hosts[static_cast<std::size_t>(r)];
    if (std::find(known.begin(), known.end(), host) != known.end()) continue;
    known.push_back(host);
    firsts.push_back(r);
  }
  several_hosts_ = firsts.size() > 1;
  if (!several_hosts_) return MPI_SUCCESS;
  const auto own =
      static_cast<std::size_t>(std::find(known.begin(), known.end(), own_host) - known.begin());

  if (firsts[own] == rank) {
    if (own == 0) {
      // Known without a comparison, and as of now: another leader's clock may run off from here.
      latest_.at = local_.now();
      base_ = latest_;
      ++comparisons_;
    }
    for (std::size_t step = 1; step < firsts.size(); step *= 2) {
      if (own < step) {
        if (own + step < firsts.size()) answer(comm, firsts[own + step]);
      } else if (own < 2 * step) {
        ask(comm, firsts[own - step]);
      }
    }
    const Model model{latest_, drift_, drift_error_};
    for (int r = rank + 1; r < size; ++r) {
      if (hosts[static_cast<std::size_t>(r)] != own_host) continue;
      error = PMPI_Send(&model, static_cast<int>(sizeof model), MPI_BYTE, r, model_tag, comm);
      if (error != MPI_SUCCESS) return error;
    }
    return MPI_SUCCESS;
  }
  Model model{};
  error = PMPI_Recv(&model, static_cast<int>(sizeof model), MPI_BYTE, firsts[own], model_tag, comm,
                    MPI_STATUS_IGNORE);
  if (error != MPI_SUCCESS) return error;
  latest_ = model.latest;
  base_ = latest_;
  drift_ = model.drift;
  drift_error_ = model.drift_error;
  ++comparisons_;
  return MPI_SUCCESS;
} catch (const std::bad_alloc&) {
  return MPI_ERR_NO_MEM;
}

void CommonClock::follow(MPI_Comm comm, int leader) {
  int rank = 0;
  const std::int64_t now = local_.now();
  std::array led_by{error(now), drift_error_};
  if (PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS ||
      PMPI_Bcast(led_by.data(), static_cast<int>(led_by.size()), MPI_DOUBLE, leader, comm) !=
          MPI_SUCCESS) {
    return fail();
  }
  leads_ = rank == leader;
  // What is known so far is about rank 0's time, from which the leader's is off and runs off.
  const auto [off, runs_off] = led_by;
  base_.error += off;
  latest_ = {now, common(now) - now, error(now) + off};
  drift_error_ += runs_off;
  max_drift_ += runs_off;
}

void CommonClock::synchronise(MPI_Comm comm, std::int64_t own_host) {
  if (synchronise_hosts(comm, own_host) != MPI_SUCCESS) {
    several_hosts_ = true;
    fail();
  }
}

}  // namespace sibyl
