// The interleaved measurement; see measure.hpp.
#include "bench/measure.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "bench/clock.hpp"

namespace sibyl::bench {
namespace {

using Call = std::function<int()>;

double time_calls(const Call& call, int calls) {
  start_together();
  const double begin = now();
  for (int i = 0; i < calls; ++i) call();
  return (now() - begin) / calls;
}

// How many calls fill the time of a batch; the same on all ranks.
int batch_size(const Call& call, double seconds) {
  if (seconds == 0) return 1;
  constexpr int probes = 16;
  double own = time_calls(call, probes);
  own = std::min(own, time_calls(call, probes));
  double slowest = 0;
  MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return static_cast<int>(std::clamp(seconds / std::max(slowest, 1e-9), 1.0, 10000.0));
}

std::vector<double> slowest_rank(std::vector<double>& own) {
  std::vector<double> slowest(own.size());
  MPI_Reduce(own.data(), slowest.data(), static_cast<int>(own.size()), MPI_DOUBLE, MPI_MAX, 0,
             MPI_COMM_WORLD);
  return slowest;
}

std::vector<std::string> check_results(Data& data, const std::vector<Call>& calls,
                                       const std::vector<std::unique_ptr<Contender>>& contenders) {
  std::vector<std::string> wrong;
  std::vector<char> expected;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    std::fill(data.receive.begin(), data.receive.end(), '\0');
    int bad = calls[i]() == MPI_SUCCESS ? 0 : 1;
    if (i == 0) expected = data.receive;
    if (data.has_result() &&
        !data.op.same(expected.data(), data.receive.data(), data.result_count())) {
      bad = 1;
    }
    int bad_anywhere = 0;
    MPI_Allreduce(&bad, &bad_anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (bad_anywhere != 0) wrong.push_back(contenders[i]->name());
  }
  return wrong;
}

}  // namespace

double half_round_trip(std::size_t bytes, int partner, int repetitions) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2 || partner <= 0) return 0;
  std::vector<char> data(bytes);
  const auto size = static_cast<int>(bytes);
  std::vector<double> times;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = -2; i < repetitions; ++i) {
    const double begin = now();
    if (rank == 0) {
      MPI_Send(data.data(), size, MPI_BYTE, partner, 0, MPI_COMM_WORLD);
      MPI_Recv(data.data(), size, MPI_BYTE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (i >= 0) times.push_back((now() - begin) / 2);
    } else if (rank == partner) {
      MPI_Recv(data.data(), size, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(data.data(), size, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
  }
  // The least: it is used as a limit.
  double result = times.empty() ? 0 : *std::min_element(times.begin(), times.end());
  MPI_Bcast(&result, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return result;
}

Cell measure(const Options& options, const Operator& op, int count,
             std::vector<std::unique_ptr<Contender>>& contenders) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Data data(options.collective, op, count, rank, ranks);
  Cell cell;
  cell.operator_name = op.name();
  cell.count = count;
  cell.bytes = data.bytes;

  std::vector<Call> calls;
  for (const auto& contender : contenders) calls.push_back(contender->call(data));
  cell.wrong = check_results(data, calls, contenders);
  if (!cell.wrong.empty()) return cell;
  cell.message_seconds =
      half_round_trip(data.bytes, ranks > 1 ? 1 : 0, std::min(options.repetitions, 100));
  cell.batch_size = batch_size(calls.front(), options.batch_seconds);

  const auto repetitions = static_cast<std::size_t>(options.repetitions);
  const bool batches = cell.batch_size > 1;
  std::vector<std::vector<double>> single(calls.size(), std::vector<double>(repetitions));
  std::vector<std::vector<double>> batch(calls.size(),
                                         std::vector<double>(batches ? repetitions : 0));
  std::mt19937 generator(options.seed);
  std::vector<std::size_t> turn(calls.size());
  std::iota(turn.begin(), turn.end(), std::size_t{0});
  for (int i = -options.warm_up; i < options.repetitions; ++i) {
    std::shuffle(turn.begin(), turn.end(), generator);
    for (const std::size_t c : turn) {
      const double one = time_calls(calls[c], 1);
      if (i >= 0) single[c][static_cast<std::size_t>(i)] = one;
    }
    if (!batches) continue;
    for (const std::size_t c : turn) {
      const double one = time_calls(calls[c], cell.batch_size);
      if (i >= 0) batch[c][static_cast<std::size_t>(i)] = one;
    }
  }
  for (std::size_t c = 0; c < calls.size(); ++c) {
    cell.series.push_back({contenders[c]->name(), slowest_rank(single[c]), slowest_rank(batch[c])});
  }
  return cell;
}

}  // namespace sibyl::bench
