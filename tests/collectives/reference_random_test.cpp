// Random calls of every collective that Sibyl serves, with random datatypes, operators, roots and
// places, beside a serial reference (reference_cases.hpp) that the MPI library has no part in.
//
// A failure names the case and all that it consists of. SIBYL_TEST_SEED=N SIBYL_TEST_CASE=I repeats
// it alone. SIBYL_TEST_LONG=1 runs 1000 cases of each collective, which makes 10 000 of each under
// an MPI on the ten numbers of ranks that there are. How many cases were run is printed, and how
// many of them an algorithm of Sibyl's served rather than the MPI library.
//
// FewAtRandom runs among the other tests of the room, AtRandom in runs of their own (tests
// random-).
#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <memory>
#include <numeric>
#include <optional>

#include "collectives/harness.hpp"
#include "collectives/reference_by_sibyl.hpp"
#include "collectives/reference_cases.hpp"
#include "support/device_stub.hpp"
#include "support/sanitized.hpp"

namespace sibyl::test {
namespace {

using reference::Call;
using reference::one_in;

Collective collective_of(Call call) {
  Collective collective = Collective::exscan;
  EXPECT_TRUE(collective_from_name(reference::name_of(call), collective));
  return collective;
}

// Some of the ranks in any order; the same on all of them.
Part any_part(Random& random) {
  std::vector<int> order(static_cast<std::size_t>(size_of()));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<int> colors(order.size());
  const bool whole = one_in(random, 2);
  for (int& color : colors) color = !whole && one_in(random, 3) ? 1 : 0;
  const auto me = static_cast<std::size_t>(rank_in());
  return Part(colors[me], order[me]);
}

// Ranks that lie anyhow, numbered as find_placement numbers nodes.
Placement draw_placement(Rank ranks, Random& random) {
  Placement placement;
  for (Rank rank = 0; rank < ranks; ++rank) {
    const auto node =
        static_cast<Rank>(pick(random, static_cast<std::uint64_t>(placement.count) + 1));
    placement.nodes.push_back(node);
    placement.count = std::max(placement.count, node + 1);
  }
  return placement;
}

constexpr std::uint64_t communicator_count = 5;

// A communicator keeps a placement for four calls of each collective, so that what the first one
// left behind (trees, programs) serves the others too. With SIBYL_TEST_PLACEMENT it keeps the one
// that its ranks have found, by which a window of a node has been made too.
Placement placement_of_case(Rank ranks, std::uint64_t number) {
  constexpr std::uint64_t calls = 4 * communicator_count * reference::call_count;
  Random random(run_seed() + 31 * (number / calls) + number % communicator_count);
  if (one_in(random, 3)) return draw_placement(ranks, random);
  return {.ranks_per_node = static_cast<Rank>(1 + pick(random, static_cast<std::uint64_t>(ranks)))};
}

// Of a network between a node's memory and a slow link, for some communicators; the others measure
// theirs, which depends on what else the machine does.
void draw_costs(Settings& settings, std::uint64_t communicator) {
  Random random(run_seed() + 53 * (communicator + 1));
  if (one_in(random, 2)) return;
  const auto any = [&random](double least, double most) {
    const double share = static_cast<double>(pick(random, 1000)) / 1000;
    return static_cast<std::uint32_t>(least * std::pow(most / least, share));
  };
  settings.alpha = any(100, 1e6);
  settings.overhead = any(20, 1e5);
  settings.beta = any(10, 1e6);
}

// By which algorithm, in how many segments, and on what nodes; the same on all ranks.
std::string draw_service(Served& served, Collective collective, const Algorithm* row,
                         const Placement& drawn, std::uint64_t communicator, Random& random) {
  Settings settings = forced(collective, row);
  draw_costs(settings, communicator);
  constexpr std::array<std::uint32_t, 4> sizes{0, 64, 1024, 1U << 20};
  if (row != nullptr && row->segments) {
    settings.segments = static_cast<std::uint32_t>(pick(random, 9));
    settings.lanes = static_cast<std::uint32_t>(pick(random, 4));
  }
  settings.first_segment = sizes[pick(random, sizes.size())];
  if (one_in(random, 2)) settings.direct_from = sizes[pick(random, sizes.size())];
  settings.construct_every = static_cast<std::uint32_t>(pick(random, 4));
  if (one_in(random, 3)) settings.outstanding = static_cast<std::uint32_t>(pick(random, 3));
  CommunicatorState& state = served.state();
  state.replace_settings(settings);
  if (Process::get()->environment().test_placement.empty()) state.set_placement(drawn);
  const Placement& placement = state.placement();
  return name_or_auto(row) + ", " + std::to_string(placement.ranks_per_node) + " ranks a node or " +
         std::to_string(placement.count) + " nodes, segments " + std::to_string(settings.segments) +
         ", lanes " + std::to_string(settings.lanes) + ", first segment " +
         std::to_string(settings.first_segment) + ", direct from " +
         (settings.direct_from ? std::to_string(*settings.direct_from) : "any") +
         ", construct every " + std::to_string(settings.construct_every) + ", alpha " +
         std::to_string(settings.alpha) + " ns, overhead " + std::to_string(settings.overhead) +
         " ns, beta " + std::to_string(settings.beta) + " ps, outstanding " +
         (settings.outstanding ? std::to_string(*settings.outstanding) : "any");
}

// The native collective may take a call that the chosen algorithm does not.
bool may_go_native(const Algorithm* row, const reference::ReductionCase& now) {
  return row == nullptr || (row->commutative_only && !reference::commutes(now.op));
}

// A rank with a wrong result goes on, or the others would wait for it; the first ones tell enough.
void report(const std::string& text) {
  static int reports = 0;
  if (++reports <= 3) {
    ADD_FAILURE() << text;
  } else {
    ADD_FAILURE();
  }
}

// Every second buffer, drawn by each rank for itself, lies in the memory of a stub of a device.
class StubbedDevice final : public reference::Device {
 public:
  // Each rank has another device runtime.
  static StubbedDevice& get() {
    static StubbedDevice device;
    return device;
  }
  std::shared_ptr<void> allocate(std::size_t bytes) override { return stub_.allocate(bytes); }
  void write(void* to, const void* from, std::size_t bytes) override {
    stub_.write(to, from, bytes);
  }
  void read(void* to, const void* from, std::size_t bytes) override { stub_.read(to, from, bytes); }
  long copies() const { return stub_.count(); }

  // In its scope.
  class Drawn {
   public:
    explicit Drawn(std::uint64_t number) {
      draws().seed(run_seed() + 31 * number + static_cast<std::uint64_t>(rank_in()));
      reference::device_for_next = [] {
        return one_in(draws(), 2) ? static_cast<reference::Device*>(&get()) : nullptr;
      };
    }
    ~Drawn() { reference::device_for_next = nullptr; }
    Drawn(const Drawn&) = delete;
    Drawn& operator=(const Drawn&) = delete;

   private:
    static Random& draws() {
      static Random random;
      return random;
    }
  };

 private:
  StubbedDevice()
      : stub_(DeviceStub::files[(run_seed() + static_cast<std::uint64_t>(rank_in())) %
                                DeviceStub::files.size()]) {}
  DeviceStub stub_;
};

// True when an algorithm of Sibyl's served the call. `devices`: some buffers lie in device memory,
// which the MPI libraries here know nothing of, so that Sibyl has to serve.
bool run_case(Served& served, std::uint64_t number, bool devices = false) {
  Random random(run_seed() + 1000003 * number);
  const auto call = static_cast<Call>(number % reference::call_count);
  const Collective collective = collective_of(call);
  const auto rows = rows_and_auto(collective);
  const Algorithm* row =
      rows[devices ? 1 + pick(random, rows.size() - 1) : pick(random, rows.size())];
  const Placement placement = placement_of_case(served.state().size(), number);
  const std::string service =
      draw_service(served, collective, row, placement, number % communicator_count, random);
  const std::uint64_t seed = random();
  auto limits = reference::sibyl_limits(row == nullptr);
  if (reference::reduces(call)) {
    const int ranks = size_of(served.get());
    limits = reference::sibyl_limits(false);
    // Sums for all ranks of elements that do not lie side by side are left to the MPI library.
    if (call >= Call::allreduce) {
      limits.types.negative_extents = false;
      limits.types.interleaved_elements = false;
    }
    const auto now = reference::draw_reduction_case(call, ranks, seed, limits);
    if (may_go_native(row, now)) {
      limits = reference::sibyl_limits(true);
      devices = false;
    }
  }
  std::optional<StubbedDevice::Drawn> drawn;
  if (devices) drawn.emplace(number);
  // A call that comes again may be served in another way (communicator/settled_calls.hpp).
  const int times = one_in(random, 8) ? 4 : 1;
  std::string wrong;
  for (int time = 0; time < times; ++time) {
    wrong += reference::run_drawn(call, seed, limits, by_sibyl, served.get());
  }
  if (!wrong.empty()) {
    report(wrong + "SIBYL_TEST_CASE=" + std::to_string(number) + ", rank " +
           std::to_string(rank_in(served.get())) + " of its communicator, by " + service);
  }
  return served.state().cached_choice[static_cast<std::size_t>(collective)].algorithm != nullptr;
}

// Cases of each collective on one number of ranks; of the sample, fewer on many ranks.
constexpr int many_cases = sanitized ? 200 : 1000;
constexpr int sample = sanitized ? 32 : 224;

// What rank 0 has been through.
void print_counts(const std::array<int, reference::call_count>& run,
                  const std::array<int, reference::call_count>& served) {
  if (rank_in() != 0) return;
  std::cout << "[  CASES   ] on " << size_of() << " rank(s), those served by Sibyl of all:";
  for (std::size_t call = 0; call < run.size(); ++call) {
    std::cout << (call == 0 ? " " : ", ") << reference::name_of(static_cast<Call>(call)) << ' '
              << served[call] << '/' << run[call];
  }
  std::cout << std::endl;
}

// Runs cases on several communicators, and says how many there were.
void run_cases(int of_each, bool devices) {
  SIBYL_TRACE_SEED();
  if (rank_in() == 0) std::cerr << "SIBYL_TEST_SEED=" << run_seed() << '\n';  // in case of a hang
  std::vector<std::unique_ptr<Served>> communicators;
  Random random(run_seed() + 17);
  communicators.push_back(std::make_unique<Served>(Collective::gather, nullptr));
  while (communicators.size() < communicator_count) {
    const Part part = any_part(random);
    communicators.push_back(std::make_unique<Served>(Collective::gather, nullptr, part.get()));
  }
  std::uint64_t first = 0;
  std::uint64_t end = reference::call_count * static_cast<std::uint64_t>(of_each);
  if (const char* only = std::getenv("SIBYL_TEST_CASE")) {
    first = std::strtoull(only, nullptr, 10);
    end = first + 1;
  }
  std::array<int, reference::call_count> run{};
  std::array<int, reference::call_count> served{};
  for (std::uint64_t i = first; i < end; ++i) {
    // 5 communicators and 16 collectives: each meets each.
    const bool by_sibyl = run_case(*communicators[i % communicator_count], i, devices);
    ++run[i % reference::call_count];
    if (by_sibyl) ++served[i % reference::call_count];
  }
  print_counts(run, served);
}

TEST(AtRandom, EveryCollectiveEqualsTheSerialReference) {
  run_cases(long_tests() ? many_cases : cases(sample), false);
}

// A sample for where there is no time for all.
TEST(FewAtRandom, EveryCollectiveEqualsTheSerialReference) { run_cases(20, false); }

// The memory faults when the host touches it; sets up communicators before the runtime is loaded.
TEST(AtRandom, EveryCollectiveWithBuffersInDeviceMemory) {
  run_cases(long_tests() ? many_cases : cases(sample / 2), true);
  EXPECT_GT(StubbedDevice::get().copies(), 0);
}

}  // namespace
}  // namespace sibyl::test
