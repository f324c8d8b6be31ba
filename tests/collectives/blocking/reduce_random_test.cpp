// Random reduces beside the MPI library's own: every algorithm, many arrival patterns, several
// communicators, several threads; and what memory a rank needs.
//
// SIBYL_TEST_LONG=1 runs ten thousand cases, spread over six numbers of ranks.
#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "collectives/blocking/reduce_cases.hpp"

namespace sibyl::test {
namespace {

// Cases of the long run with one number of ranks.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int many_reduces = 300;
#else
constexpr int many_reduces = 1700;
#endif

const Algorithm& clairvoyant() { return *find_algorithm(Collective::reduce, "clairvoyant"); }

// Times of up to 20 ms: any, all the same, or one rank late; some of them foreseen, and some of
// their schedule made ahead, by each rank as much as it likes.
void draw_arrivals(Served& served, Random& random) {
  std::vector<double> times(static_cast<std::size_t>(size_of(served.get())), 0.0);
  const std::uint64_t shape = pick(random, 4);
  for (std::size_t r = 0; shape == 0 && r < times.size(); ++r) {
    times[r] = 1e-6 * static_cast<double>(Random(random() + r)() % 20000);
  }
  if (shape == 1) times[random() % times.size()] = 0.02;
  if (shape == 2) times.clear();
  CommunicatorState& state = served.state();
  if (pick(random, 2) == 0) {
    const auto root = static_cast<int>(pick(random, static_cast<std::uint64_t>(state.size())));
    const std::uint64_t bytes =
        state.cached_choice[static_cast<std::size_t>(Collective::reduce)].bytes;
    state.arrivals.expect({Collective::reduce, root, bytes}, times);
    int rounds = state.rank() * 5;
    while (rounds-- > 0 && state.programs.prefetched().advance()) {
    }
  }
  ASSERT_TRUE(served.state().arrivals.publish(times));
}

int draw_count(Random& random) {
  constexpr std::array<int, 6> limits{3, 20, 20, 200, 2000, 9000};
  return static_cast<int>(pick(random, static_cast<std::uint64_t>(limits[pick(random, 6)])));
}

struct Operators {
  Operators() {
    MPI_Op_create(&add_components, 1, &sum);
    MPI_Op_create(&multiply, 0, &product);
  }
  ~Operators() {
    MPI_Op_free(&sum);
    MPI_Op_free(&product);
  }
  Operators(const Operators&) = delete;
  Operators& operator=(const Operators&) = delete;
  MPI_Op sum = MPI_OP_NULL;
  MPI_Op product = MPI_OP_NULL;
};

TEST(ReduceAtRandom, EqualsTheMpiLibrarysOwn) {
  SIBYL_TRACE_SEED();
  const auto types = predefined_types();
  const auto predefined = predefined_operators();
  const auto rows = rows_and_auto(Collective::reduce);
  const Layouts layouts;
  const Operators users;
  const Part backwards(0, -rank_in());
  const Part halves(rank_in() % 2, rank_in());
  std::vector<std::unique_ptr<Served>> communicators;
  for (const MPI_Comm parent : {MPI_COMM_WORLD, backwards.get(), halves.get()}) {
    communicators.push_back(std::make_unique<Served>(Collective::reduce, nullptr, parent));
  }
  // As on hosts of their own whose links carry messages in turn.
  communicators.push_back(std::make_unique<Served>(Collective::reduce, nullptr));
  communicators.back()->state().set_placement({.ranks_per_node = 1});
  communicators.back()->state().replace_costs({1e-6, 1e-6, 1e-8, 1e-10, true});
  const int wanted = long_tests() ? many_reduces : cases(150);
  for (int i = 0; i < wanted; ++i) {
    // A generator for each case: groups that draw different numbers are in step at the next.
    Random random(run_seed() + 1000003 * static_cast<std::uint64_t>(i));
    Served& served = *communicators[pick(random, communicators.size())];
    SCOPED_TRACE("case " + std::to_string(i));
    // Half of the cases for the one algorithm that a pattern changes.
    const Algorithm* row = pick(random, 2) == 0 ? &clairvoyant() : rows[pick(random, rows.size())];
    SCOPED_TRACE(name_or_auto(row));
    draw_arrivals(served, random);
    const std::uint64_t kind = pick(random, 4);
    const int count = draw_count(random);
    if (kind == 0) {
      serve_reduce_by(served, row, random);
      check_reduce_layout(served, layout_for(served, layouts, random()), users.sum, &sum_of, count,
                          random);
    } else if (kind == 1) {
      serve_reduce_by(served, row, random, false);
      check_reduce_layout(served, layout_for(served, layouts, random()), users.product, &product,
                          count, random);
    } else {
      serve_reduce_by(served, row, random);
      const PredefinedOperator& op = predefined[pick(random, predefined.size())];
      const PredefinedType* type = &types[pick(random, types.size())];
      while (!takes(op, *type)) type = &types[pick(random, types.size())];
      compare_reduce(served, *type, op, count, random);
    }
    if (HasFailure()) return;
  }
}

TEST(ReduceAtRandom, EqualsTheMpiLibrarysOwnInSeveralThreads) {
  SIBYL_TRACE_SEED();
  if (thread_level() < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "no MPI_THREAD_MULTIPLE";
  const auto types = predefined_types();
  const auto predefined = predefined_operators();
  std::vector<std::unique_ptr<Served>> communicators;
  for (int t = 0; t < 3; ++t) {
    communicators.push_back(std::make_unique<Served>(Collective::reduce, &clairvoyant()));
  }
  const int wanted = long_tests() ? 200 : cases(30);
  const auto run = [&](std::size_t thread) {
    Served& served = *communicators[thread];
    for (int i = 0; i < wanted; ++i) {
      Random random(run_seed() + 7919 * thread + 1000003 * static_cast<std::uint64_t>(i));
      draw_arrivals(served, random);
      serve_reduce_by(served, &clairvoyant(), random);
      const PredefinedOperator& op = predefined[pick(random, predefined.size())];
      const PredefinedType* type = &types[pick(random, types.size())];
      while (!takes(op, *type)) type = &types[pick(random, types.size())];
      compare_reduce(served, *type, op, draw_count(random), random);
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < communicators.size(); ++t) threads.emplace_back(run, t);
  for (std::thread& thread : threads) thread.join();
}

// A copy of the vector at most, beside the caller's buffers, and the slots of segments under way.
TEST(ReduceAtRandom, NeedsTwoVectorsAndAPoolOfSegmentsAtMost) {
  SIBYL_TRACE_SEED();
  constexpr int count = 1 << 16;
  constexpr std::size_t bytes = sizeof(float) * count;
  constexpr std::uint32_t segments = 32;
  constexpr std::size_t slots = 8;
  constexpr std::size_t slack = 4096;  // rounded up to cache lines
  for (int i = 0; i < 4; ++i) {
    Random random(run_seed() + static_cast<std::uint64_t>(i));
    Served served(Collective::reduce, &clairvoyant());
    Settings settings = served.state().settings();
    settings.segments = segments;
    served.state().replace_settings(settings);
    draw_arrivals(served, random);
    const std::vector<float> send(count, 1.0F);
    std::vector<float> receive(count);
    const int root = i % size_of();
    ASSERT_EQ(
        SIBYL_Reduce(send.data(), receive.data(), count, MPI_FLOAT, MPI_SUM, root, served.get()),
        MPI_SUCCESS);
    const std::size_t used =
        served.state().workspace.frame.size() + served.state().workspace.mirrors.size();
    EXPECT_LE(used, bytes + slots * (bytes / segments) + slack);
    if (rank_in() == root) {
      EXPECT_EQ(receive.back(), static_cast<float>(size_of()));
    }
  }
}

}  // namespace
}  // namespace sibyl::test
