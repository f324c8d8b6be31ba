// Processor time of the thread, and latency; see thread_cost.hpp.
#include "bench/thread_cost.hpp"

#include <mpi.h>
#include <time.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "bench/clock.hpp"
#include "bench/lines.hpp"
#include "communicator/process.hpp"
#include "executor/progress_thread.hpp"
#include "sibyl/sibyl.h"

namespace sibyl::bench {
namespace {

constexpr int elements = 10000;
constexpr double quiet_seconds = 2;
constexpr double most_latency_seconds = 3;
constexpr int turns_without_one = 2;  // not measured: memory is touched, connections are made

double own_processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void compute(double seconds) {
  const double end = own_processor_seconds() + seconds;
  while (own_processor_seconds() < end) {
  }
}

double middle_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// Ranks that have nothing to do leave the cores to the others; MPI_Barrier would spin.
void wait_asleep() {
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0;) {
    PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0) sleep_until(now() + 1e-3, 0);
  }
}

// Trip by trip: the best of many says nothing of what a program sees. Rank 0 says which one is the
// last, since trips take long where something else has the cores.
double median_latency(int rank, int ranks, int trips) {
  std::vector<double> times;
  char last = 0;
  start_together();
  const double end = now() + most_latency_seconds;
  for (int i = 1; last == 0 && ranks > 1 && rank < 2; ++i) {
    const double begin = now();
    if (rank == 0) {
      last = i >= trips || begin > end ? 1 : 0;
      PMPI_Send(&last, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
      PMPI_Recv(&last, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      PMPI_Recv(&last, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      PMPI_Send(&last, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
    times.push_back((now() - begin) / 2);
  }
  wait_asleep();
  return times.empty() ? 0 : middle_of(times);
}

double largest(double own) {
  double all = 0;
  PMPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

// A gather that is bound to its buffers and knows what must come.
class Gather {
 public:
  Gather(int rank, int ranks)
      : rank_(rank),
        ranks_(ranks),
        own_(elements),
        all_(rank == 0 ? own_.size() * static_cast<std::size_t>(ranks) : 0) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "sibyl_algorithm", "linear-synchronised");
    note(SIBYL_Gather_init(own_.data(), elements, MPI_DOUBLE, all_.data(), elements, MPI_DOUBLE, 0,
                           MPI_COMM_WORLD, info, &request_));
    MPI_Info_free(&info);
  }
  ~Gather() {
    if (request_ != SIBYL_REQUEST_NULL) SIBYL_Request_free(&request_);
  }
  Gather(const Gather&) = delete;
  Gather& operator=(const Gather&) = delete;

  // One turn of a program that computes for so many seconds.
  void turn(int number, double seconds) {
    note(SIBYL_Start(&request_));
    compute(seconds / 2);
    note(SIBYL_Edge(&request_, 0.5));
    compute(seconds / 2);
    std::ranges::fill(own_, value(rank_, number));
    note(SIBYL_Arrive(&request_));
    note(SIBYL_Wait(&request_));
    for (int r = 0; r < ranks_ && rank_ == 0; ++r) {
      const auto last = static_cast<std::size_t>(r + 1) * own_.size() - 1;
      right_ = right_ && all_[last] == value(r, number);
    }
  }
  bool right() const { return right_; }

 private:
  static double value(int rank, int number) { return rank + 1000.0 * number; }
  void note(int error) { right_ = right_ && error == MPI_SUCCESS; }

  int rank_;
  int ranks_;
  std::vector<double> own_;
  std::vector<double> all_;
  SIBYL_Request request_ = SIBYL_REQUEST_NULL;
  bool right_ = true;
};

}  // namespace

int run_thread_cost(const Options& options, const Provenance& provenance) {
  int rank = 0;
  int level = MPI_THREAD_SINGLE;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Query_thread(&level);
  const int ranks = provenance.ranks;
  Gather gather(rank, ranks);
  ProgressThread* thread = Process::get()->progress_thread();
  const auto used = [&] { return thread == nullptr ? 0 : thread->processor_seconds(); };
  const auto rounds = [&] { return thread == nullptr ? 0 : thread->rounds(); };

  // Rank r computes longer than the one before it, the last one half as long again as the first.
  const double share =
      options.compute_seconds * (1 + 0.5 * rank / std::max(static_cast<double>(ranks - 1), 1.0));
  std::vector<double> turns;
  double before = 0;
  std::uint64_t rounds_before = 0;
  for (int i = 0; i < turns_without_one + options.iterations; ++i) {
    if (i == turns_without_one) {
      before = used();
      rounds_before = rounds();
    }
    start_together();
    const double begin = now();
    gather.turn(i, share);
    const double took = largest(now() - begin);
    if (i >= turns_without_one) turns.push_back(took);
  }
  const double busy = (used() - before) / (share * options.iterations);
  const double looks = static_cast<double>(rounds() - rounds_before) / options.iterations;

  PMPI_Barrier(MPI_COMM_WORLD);
  before = used();
  sleep_until(now() + quiet_seconds, 0);
  const double idle = (used() - before) / quiet_seconds;

  const double most_busy = largest(busy);
  const double most_idle = largest(idle);
  const double latency = median_latency(rank, ranks, 50 * options.repetitions);
  const bool right = largest(gather.right() ? 0 : 1) == 0;
  print_at_rank_0({{"type", "thread"},
                   {"mpi", provenance.mpi},
                   {"cpu", provenance.cpu},
                   {"ranks", ranks},
                   {"cores", provenance.cores},
                   {"level", level == MPI_THREAD_MULTIPLE ? "multiple" : "single"},
                   {"has_thread", thread != nullptr},
                   {"compute_s", options.compute_seconds},
                   {"iterations", options.iterations},
                   {"share", most_busy},
                   {"root_share", busy},
                   {"root_looks", looks},
                   {"idle_share", most_idle},
                   {"turn_s", middle_of(turns)},
                   {"latency_s", latency},
                   {"right", right}});
  return right ? 0 : 3;
}

}  // namespace sibyl::bench
