// The measurement under arrival patterns; see arrivals.hpp.
#include "bench/arrivals.hpp"

#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "bench/arrival_problem.hpp"
#include "bench/clock.hpp"
#include "bench/contenders.hpp"
#include "bench/emulation.hpp"
#include "bench/lines.hpp"
#include "bench/network.hpp"
#include "bench/pattern_source.hpp"
#include "bench/sample.hpp"

namespace sibyl::bench {
namespace {

// What a rank knows of one turn.
struct Turn {
  double arrival = 0;  // on rank 0's clock
  double exit = 0;
  double late = 0;
  double planning = 0;  // seconds that it took Sibyl to plan for the arrivals that it was told
  double right = 1;
  double edge_error = -1;  // of the arrival that the edge foretold; negative where none did
};
constexpr int turn_size = sizeof(Turn) / sizeof(double);

constexpr int clock_trips = 20;
constexpr int iterations_per_clock_check = 8;
// A sleeping rank wakes up tens of microseconds late.
constexpr double spin_seconds = 100e-6;
// By then all ranks have heard when to begin: one that began late would err about its edge.
constexpr double lead_seconds = 5e-3;

Json clocks_of(const ClockCheck& clocks) {
  return {{"common", clocks.common},
          {"worst_offset_s", clocks.worst_offset()},
          {"worst_error_s", clocks.worst_error()}};
}

struct Setting {
  const Options& options;
  int rank = 0;
  int ranks = 1;
  Network network;
  ClockCheck clocks;
  double spin = 0;
  double lead = lead_seconds;
};

// Whoever checked its result before all have left the call would take processor and memory from
// those that are still in it.
void wait_for_others() { PMPI_Barrier(MPI_COMM_WORLD); }

Turn take_turn(const Setting& setting, Data& data, Contender& contender,
               const std::function<int()>& call, double delay, std::span<const double> told) {
  data.clear();
  contender.begin_turn();
  start_together();
  double start = now() + setting.lead;
  PMPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  start += setting.clocks.own;
  const double seconds = setting.options.compute_seconds + delay;
  // While others compute, as a program would; it is charged in full all the same (sample_of).
  Turn turn;
  const double planned_from = now();
  contender.expect(told);
  if (!told.empty()) {
    contender.pretend(setting.options.compute_seconds +
                      told[static_cast<std::size_t>(setting.rank)]);
  }
  turn.planning = now() - planned_from;
  emulate_computation(start, seconds, setting.spin, contender.observer());
  turn.arrival = now();
  const int error = call();
  turn.exit = now();
  contender.end_turn();
  wait_for_others();
  turn.edge_error = contender.edge_error();
  turn.late = turn.arrival - start - seconds;
  turn.right = error == MPI_SUCCESS && data.right() ? 1 : 0;
  turn.arrival -= setting.clocks.own;
  turn.exit -= setting.clocks.own;
  return turn;
}

// A call after a barrier, with nothing in between.
Turn take_bare_turn(Data& data, Contender& contender, const std::function<int()>& call) {
  data.clear();
  contender.begin_turn();
  start_together();
  Turn turn;
  turn.arrival = now();
  const int error = call();
  turn.exit = now();
  contender.end_turn();
  wait_for_others();
  turn.right = error == MPI_SUCCESS && data.right() ? 1 : 0;
  return turn;
}

// All ranks' turns of one iteration, at rank 0: contender by contender within each rank.
std::vector<Turn> gather_turns(const Setting& setting, const std::vector<Turn>& own) {
  const auto contenders = own.size();
  std::vector<Turn> all(setting.rank == 0 ? contenders * static_cast<std::size_t>(setting.ranks)
                                          : 0);
  const int size = static_cast<int>(contenders) * turn_size;
  PMPI_Gather(own.data(), size, MPI_DOUBLE, all.data(), size, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return all;
}

// One figure of a contender's turns, rank by rank.
std::vector<double> column(const std::vector<Turn>& all, std::size_t contender,
                           std::size_t contenders, double Turn::* figure) {
  std::vector<double> values;
  for (std::size_t i = contender; i < all.size(); i += contenders) {
    values.push_back(all[i].*figure);
  }
  return values;
}

Sample sample_of(const Setting& setting, const Data& data, const std::vector<Turn>& all,
                 std::size_t contender, std::size_t contenders, bool bare, bool early) {
  const std::vector<double> arrivals = column(all, contender, contenders, &Turn::arrival);
  const std::vector<double> exits = column(all, contender, contenders, &Turn::exit);
  const std::vector<double> late = column(all, contender, contenders, &Turn::late);
  double planning = 0;
  // Nobody leaves a barrier before the last has come.
  bool right =
      bare || data.problem.operation != Operation::barrier ||
      std::ranges::min(exits) >= std::ranges::max(arrivals) - 2 * setting.clocks.worst_error();
  for (std::size_t i = contender; i < all.size(); i += contenders) {
    planning = std::max(planning, all[i].planning);
    right = right && all[i].right > 0;
  }
  Sample sample = bare
                      ? slowest(arrivals, exits)
                      : evaluate(data.problem.operation, arrivals, exits, late,
                                 data.bytes_for_bound(), data.problem.root, setting.network, early);
  sample.planning = planning;
  sample.run += planning;
  sample.elapsed += planning;
  sample.absorbed += planning;
  sample.right = right;
  return sample;
}

// Clocks of several machines run off from each other while a cell is measured. `drift`: the most
// that one did in it.
void check_clocks_anew(Setting& setting, double& drift) {
  const ClockCheck found = check_clocks(clock_trips);
  drift = std::max(drift, found.drift_since(setting.clocks));
  setting.clocks = found;
  Json line{{"type", "clocks"}};
  line.update(clocks_of(found));
  line["drift_s"] = drift;
  print_at_rank_0(line);
}

void print_cell(const Setting& setting, std::size_t number, const Data& data) {
  const ArrivalCell& cell = setting.options.cells[number];
  Json line{{"type", "cell"}, {"cell", number}, {"bytes", data.bytes_for_bound()}};
  if (cell.block > 0) {
    const std::vector<int> counts =
        problem_counts(cell.counts, cell.block, setting.ranks, setting.options.seed);
    line["elements"] = std::accumulate(counts.begin(), counts.end(), 0LL);
    line["padded_elements"] =
        static_cast<long long>(setting.ranks) * *std::max_element(counts.begin(), counts.end());
  }
  print_at_rank_0(line);
}

// True when every result was right.
bool measure_cell(Setting& setting, std::size_t number, const PatternSource& patterns,
                  const Operator& op, std::vector<std::unique_ptr<Contender>>& contenders) {
  const Options& options = setting.options;
  const ArrivalCell& cell = options.cells[number];
  std::map<Operation, Data> data_of;  // contenders for the same operation share their buffers
  std::vector<Data*> data;
  std::vector<std::function<int()>> calls;
  for (const auto& contender : contenders) {
    const Operation operation = contender->operation();
    auto found = data_of.find(operation);
    if (found == data_of.end()) {
      found = data_of
                  .try_emplace(operation, problem_of(operation, options, cell, op, setting.ranks),
                               op, setting.rank, setting.ranks)
                  .first;
    }
    data.push_back(&found->second);
    calls.push_back(contender->call(found->second));
  }
  for (const auto& contender : contenders) {
    if (cell.bare()) contender->expect({});  // nor anything of the cell before
  }
  print_cell(setting, number, *data.front());
  std::vector<std::size_t> turns(calls.size());
  std::iota(turns.begin(), turns.end(), std::size_t{0});
  std::mt19937 generator(options.seed);
  bool right = true;
  double drift = 0;
  const int iterations = options.warm_up + options.iterations;
  for (int i = 0; i < iterations; ++i) {
    const auto iteration = static_cast<std::uint64_t>(i);
    const std::vector<double> times = patterns.times(iteration);
    const double delay = cell.bare() ? 0 : times[static_cast<std::size_t>(setting.rank)];
    for (auto& [operation, buffers] : data_of) buffers.fill(iteration);
    std::shuffle(turns.begin(), turns.end(), generator);
    std::vector<Turn> own(calls.size());
    for (const std::size_t c : turns) {
      if (cell.bare()) {
        own[c] = take_bare_turn(*data[c], *contenders[c], calls[c]);
        continue;
      }
      const Prediction told = contenders[c]->prediction().value_or(options.prediction);
      own[c] = take_turn(setting, *data[c], *contenders[c], calls[c], delay,
                         predicted(told, times, options.compute_seconds, options.seed + iteration));
    }
    const std::vector<Turn> all = gather_turns(setting, own);
    std::vector<std::vector<double>> errors;
    for (std::size_t c = 0; c < calls.size() && !cell.bare(); ++c) {
      errors.push_back(contenders[c]->learn(column(all, c, calls.size(), &Turn::arrival)));
      if (errors.back().empty()) errors.back() = column(all, c, calls.size(), &Turn::edge_error);
      std::ranges::sort(errors.back());
    }
    // Before the last sample, with which whoever reads them has the cell complete.
    if (!setting.clocks.common &&
        ((i + 1) % iterations_per_clock_check == 0 || i + 1 == iterations)) {
      check_clocks_anew(setting, drift);
    }
    for (std::size_t c = 0; setting.rank == 0 && c < calls.size(); ++c) {
      const Sample sample = sample_of(setting, *data[c], all, c, calls.size(), cell.bare(),
                                      contenders[c]->receives_early());
      right = right && sample.right;
      Json line{{"type", "sample"},
                {"cell", number},
                {"iteration", i - options.warm_up},
                {"algorithm", contenders[c]->name()},
                {"run_s", sample.run},
                {"elapsed_s", sample.elapsed},
                {"absorbed_s", sample.absorbed},
                {"spread_s", sample.spread},
                {"bound_s", sample.bound},
                {"late_s", sample.late},
                {"planning_s", sample.planning},
                {"right", sample.right}};
      // All ranks foretell their arrivals, or none does.
      if (!cell.bare() && errors[c].front() >= 0) {
        line["error_s"] = errors[c][errors[c].size() / 2];
        line["worst_error_s"] = errors[c].back();
      }
      print_at_rank_0(line);
    }
  }
  return right;
}

// The MPI library's own algorithms for the operations that take part, as it numbers them;
// components have no number.
Json variants_of(const std::vector<Side>& sides) {
  Json variants = Json::object();
  for (const Side& side : sides) {
    const std::string operation(name_of(side.operation));
    if (variants.contains(operation)) continue;
    Json& numbers = variants[operation] = Json::object();
    for (const NativeVariant& variant : NativeChoice(side.operation).variants()) {
      if (variant.is_component) continue;
      numbers[variant.name] = variant.value;
    }
  }
  return variants;
}

void print_begin(const Setting& setting, const Provenance& from, const std::vector<Side>& sides) {
  Json line = to_json(from);
  line.update({{"ranks_per_machine", setting.clocks.ranks_per_clock},
               {"alpha_s", setting.network.alpha},
               {"beta_s_per_byte", setting.network.beta},
               {"clocks", clocks_of(setting.clocks)},
               {"variants", variants_of(sides)}});
  print_at_rank_0(line);
}

}  // namespace

int run_arrivals(const Options& options, const Provenance& provenance,
                 const std::vector<Side>& sides) {
  Setting setting{options, 0, provenance.ranks, {}, {}, 0};
  MPI_Comm_rank(MPI_COMM_WORLD, &setting.rank);
  std::vector<PatternSource> patterns;
  for (const ArrivalCell& cell : options.cells) {
    patterns.emplace_back(cell.bare() ? "flat" : cell.pattern, cell.max_delay, setting.ranks,
                          options.root, options.seed);
    if (patterns.back().problem().empty()) continue;
    if (setting.rank == 0) fmt::print(stderr, "sibyl-bench: {}\n", patterns.back().problem());
    return 2;
  }
  setting.clocks = check_clocks(clock_trips);
  setting.network = options.beta == 0
                        ? measure_network(options.ranks_per_node)
                        : Network{options.alpha, options.beta, options.ranks_per_node};
  if (provenance.simulated) setting.lead = 0;
  // Where ranks outnumber the cores, one that spins keeps another from waking up.
  if (setting.clocks.ranks_per_clock <= static_cast<int>(provenance.cores)) {
    setting.spin = spin_seconds;
  }
  print_begin(setting, provenance, sides);

  bool right = true;
  Costs costs;
  {
    const Operator op(options.operators.front());
    std::vector<std::unique_ptr<Contender>> contenders;
    contenders.reserve(sides.size());
    for (const Side& side : sides) contenders.push_back(std::make_unique<Contender>(side));
    for (std::size_t number = 0; number < options.cells.size(); ++number) {
      right = measure_cell(setting, number, patterns[number], op, contenders) && right;
    }
    for (const auto& contender : contenders) {
      if (!costs.known()) costs = contender->costs();
    }
  }
  const ClockCheck after = check_clocks(clock_trips);
  Json end{{"type", "end"}, {"clocks", clocks_of(after)}};
  if (costs.known()) {
    end["costs"] = {{"alpha_s", costs.alpha},        {"overhead_s", costs.overhead},
                    {"beta_s_per_byte", costs.beta}, {"gamma_s_per_byte", costs.gamma},
                    {"in_turn", costs.fifo_links},   {"gathered_s", costs.gathered},
                    {"scattered_s", costs.scattered}};
  }
  print_at_rank_0(end);
  return right ? 0 : 3;
}

}  // namespace sibyl::bench
