// The interleaved measurement; see calls.hpp.
#include "bench/calls.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <string>

#include "bench/clock.hpp"
#include "bench/lines.hpp"
#include "bench/network.hpp"

namespace sibyl::bench {
namespace {

using Call = std::function<int()>;

// Seconds of the slowest rank per call; filled at rank 0 only.
struct Series {
  std::string contender;
  std::vector<double> single;  // one call between the barriers
  std::vector<double> batch;   // the mean of `batch_size` calls; empty: not measured
};

struct Cell {
  std::string operator_name;
  int count = 0;
  std::size_t bytes = 0;  // of a vector, or of a block
  int batch_size = 1;
  double message_seconds = 0;  // half a round trip of a message of this size, ranks 0 and 1
  std::vector<Series> series;
  std::vector<std::string> wrong;  // contenders whose result is wrong, and that are left out
};

// Much longer than ranks need to leave a barrier, also where they share a core.
constexpr double late_seconds = 0.02;

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

// One call, to which rank `late` comes later than the others; negative: nobody does. How long it
// took on this rank.
double call_once(const Call& call, Contender& contender, int rank, int late, int& error) {
  start_together();
  const double begin = now();
  if (rank == late) sleep_until(begin + late_seconds, 0);
  contender.begin_turn();
  error = call();
  contender.end_turn();
  return now() - begin;
}

// Whether a contender's call gives the right result on every rank. A barrier's is that nobody
// leaves before a late rank has come.
bool is_right(Data& data, Contender& contender, const Call& call) {
  data.clear();
  int error = MPI_SUCCESS;
  bool right = true;
  if (data.problem.operation == Operation::barrier) {
    for (int late = 0; late < data.ranks; ++late) {
      const double seconds = call_once(call, contender, data.rank, late, error);
      right = right && error == MPI_SUCCESS && seconds > late_seconds / 2;
    }
  } else {
    call_once(call, contender, data.rank, -1, error);
    right = error == MPI_SUCCESS && data.right();
  }
  int bad = right ? 0 : 1;
  int bad_anywhere = 0;
  MPI_Allreduce(&bad, &bad_anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return bad_anywhere == 0;
}

int trips(const Options& options) { return std::min(options.repetitions, 100); }

Cell measure(const Options& options, const Operator& op, int count,
             std::vector<std::unique_ptr<Contender>>& contenders) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Data data(Problem::of_equal(options.operation, options.root, count, ranks), op, rank, ranks);
  Cell cell;
  cell.operator_name = op.name();
  cell.count = count;
  cell.bytes = static_cast<std::size_t>(count) * op.element_bytes();

  std::vector<Call> calls;
  std::vector<Contender*> taking_part;
  for (const auto& contender : contenders) {
    const Call call = contender->call(data);
    if (is_right(data, *contender, call)) {
      calls.push_back(call);
      taking_part.push_back(contender.get());
    } else {
      cell.wrong.push_back(contender->name());
    }
  }
  if (taking_part.empty() || taking_part.front() != contenders.front().get()) return cell;
  cell.message_seconds = half_round_trip(cell.bytes, ranks > 1 ? 1 : 0, trips(options));
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
      taking_part[c]->begin_turn();
      const double one = time_calls(calls[c], 1);
      taking_part[c]->end_turn();
      if (i >= 0) single[c][static_cast<std::size_t>(i)] = one;
    }
    if (!batches) continue;
    for (const std::size_t c : turn) {
      taking_part[c]->begin_turn();
      const double one = time_calls(calls[c], cell.batch_size);
      taking_part[c]->end_turn();
      if (i >= 0) batch[c][static_cast<std::size_t>(i)] = one;
    }
  }
  // Once more: what is governed, or learns, runs other code by now.
  for (std::size_t c = 0; c < calls.size(); ++c) {
    if (is_right(data, *taking_part[c], calls[c])) {
      cell.series.push_back(
          {taking_part[c]->name(), slowest_rank(single[c]), slowest_rank(batch[c])});
    } else {
      cell.wrong.push_back(taking_part[c]->name());
      if (c == 0) break;  // nothing is compared with the reference then
    }
  }
  return cell;
}

void print_begin(const Options& options, const Provenance& from) {
  const double near = half_round_trip(1, from.ranks > 1 ? 1 : 0, trips(options));
  const double far = half_round_trip(1, from.ranks - 1, trips(options));
  Json line = to_json(from);
  line.update({{"collective", name_of(options.operation)},
               {"reference", options.reference},
               {"held", options.held},
               {"repetitions", options.repetitions},
               {"warm_up", options.warm_up},
               {"alpha_near_s", near},
               {"alpha_far_s", far}});
  print_at_rank_0(line);
}

void print_cell(const Cell& cell) {
  Json series = Json::array();
  for (const Series& one : cell.series) {
    series.push_back({{"algorithm", one.contender}, {"single_s", one.single}});
    if (!one.batch.empty()) series.back()["batch_s"] = one.batch;
  }
  print_at_rank_0({{"type", "calls"},
                   {"operator", cell.operator_name},
                   {"count", cell.count},
                   {"bytes", cell.bytes},
                   {"batch", cell.batch_size},
                   {"message_s", cell.message_seconds},
                   {"wrong", cell.wrong},
                   {"series", series}});
}

}  // namespace

int run_calls(const Options& options, const Provenance& provenance,
              const std::vector<Side>& sides) {
  print_begin(options, provenance);
  std::vector<std::unique_ptr<Contender>> contenders;
  contenders.reserve(sides.size());
  for (const Side& side : sides) contenders.push_back(std::make_unique<Contender>(side));
  bool right = true;
  for (const std::string& name : options.operators) {
    const Operator op(name);
    const std::vector<int> nothing{0};
    const bool has_data = options.operation != Operation::barrier;
    for (const int count : has_data ? options.counts : nothing) {
      const Cell cell = measure(options, op, count, contenders);
      right = right && cell.wrong.empty();
      print_cell(cell);
    }
  }
  print_at_rank_0({{"type", "end"}});
  return right ? 0 : 3;
}

}  // namespace sibyl::bench
