// SIBYL_Reduce beside the MPI library's own collective and by definition.
#include <array>

#include "collectives/blocking/reduce_cases.hpp"

namespace sibyl::test {
namespace {

TEST(Reduce, EqualsNativeForEveryPredefinedOperatorAndType) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 10);
  const auto types = predefined_types();
  const auto rows = rows_and_auto(Collective::reduce);
  Served served(Collective::reduce, nullptr);
  const auto share = static_cast<std::uint64_t>(284 / cases(284));
  std::size_t pairs = 0;
  for (const PredefinedOperator& op : predefined_operators()) {
    for (const PredefinedType& type : types) {
      if (!takes(op, type) || pick(random, share) != 0) continue;
      const Algorithm* row = rows[pick(random, rows.size())];
      SCOPED_TRACE(name_or_auto(row));
      serve_reduce_by(served, row, random);
      compare_reduce(served, type, op, static_cast<int>(pick(random, 20)), random);
      ++pairs;
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(pairs, 0U);
}

TEST(Reduce, EqualsNativeForSizesFromNothingUp) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 11);
  const auto types = predefined_types();
  const auto operators = predefined_operators();
  Served served(Collective::reduce, nullptr);
  // 65536 bytes is where the engine changes.
  constexpr std::array<int, 9> bytes{0, 8, 24, 1000, 16392, 65536, 65544, 100000, 200000};
  for (const Algorithm* row : rows_and_auto(Collective::reduce)) {
    SCOPED_TRACE(name_or_auto(row));
    serve_reduce_by(served, row, random);
    for (int i = 0; i < cases(24); ++i) {
      const PredefinedType& type = types[pick(random, types.size())];
      const PredefinedOperator& op = operators[pick(random, operators.size())];
      if (!takes(op, type)) continue;
      serve_reduce_by(served, row, random);
      int size = 0;
      MPI_Type_size(type.type, &size);
      compare_reduce(served, type, op, bytes[pick(random, bytes.size())] / size, random);
      if (HasFatalFailure()) return;
    }
    compare_reduce(served, types[0], operators[2], 1 + 65536 / 4, random);
    if (row != nullptr) {
      EXPECT_EQ(served.served_by(), row);
    }
  }
}

TEST(Reduce, ServesEveryRootWithEveryAlgorithm) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 12);
  Served served(Collective::reduce, nullptr);
  const int size = size_of();
  for (const Algorithm* row : rows_and_auto(Collective::reduce)) {
    SCOPED_TRACE(name_or_auto(row));
    serve_reduce_by(served, row, random);
    for (int i = 0; i < cases(60); ++i) {
      const int root = i % size;
      const std::size_t count = 1 + pick(random, 200);
      std::vector<std::int64_t> send(count);
      std::vector<std::int64_t> receive(count, -1);
      for (std::size_t e = 0; e < count; ++e)
        send[e] = rank_in() + static_cast<std::int64_t>(e) * i;
      ASSERT_EQ(SIBYL_Reduce(send.data(), receive.data(), static_cast<int>(count), MPI_INT64_T,
                             MPI_SUM, root, served.get()),
                MPI_SUCCESS);
      for (std::size_t e = 0; e < count; ++e) {
        const std::int64_t whole = size * (size - 1) / 2 + static_cast<std::int64_t>(e) * i * size;
        ASSERT_EQ(receive[e], rank_in() == root ? whole : -1) << "root " << root;
      }
    }
  }
}

TEST(Reduce, AppliesOperatorsThatDoNotCommuteInRankOrder) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 13);
  const Layouts layouts;
  MPI_Op product_op = MPI_OP_NULL;
  MPI_Op_create(&multiply, 0, &product_op);
  Served served(Collective::reduce, nullptr);
  for (const Algorithm* row : rows_and_auto(Collective::reduce)) {
    SCOPED_TRACE(name_or_auto(row));
    serve_reduce_by(served, row, random, false);
    const std::uint64_t start = random();
    for (int i = 0; i < cases(22); ++i) {
      constexpr std::array<int, 6> counts{1, 2, 7, 129, 1025, 1500};
      const Layout& layout = layout_for(served, layouts, start + static_cast<std::uint64_t>(i));
      check_reduce_layout(served, layout, product_op, &product, counts[pick(random, counts.size())],
                          random);
      if (HasFatalFailure()) break;
    }
    // What reorders is not taken, whatever was asked for.
    if (row != nullptr) {
      EXPECT_EQ(served.served_by(), row->commutative_only ? nullptr : row);
    }
  }
  MPI_Op_free(&product_op);
}

TEST(Reduce, AppliesUsersOperatorsToEveryLayout) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 14);
  const Layouts layouts;
  MPI_Op sum_op = MPI_OP_NULL;
  MPI_Op_create(&add_components, 1, &sum_op);
  Served served(Collective::reduce, nullptr);
  for (const Algorithm* row : rows_and_auto(Collective::reduce)) {
    SCOPED_TRACE(name_or_auto(row));
    const std::uint64_t start = random();
    for (int i = 0; i < cases(22); ++i) {
      serve_reduce_by(served, row, random);
      constexpr std::array<int, 7> counts{1, 2, 7, 15, 129, 1500, 5000};
      const Layout& layout = layout_for(served, layouts, start + static_cast<std::uint64_t>(i));
      check_reduce_layout(served, layout, sum_op, &sum_of, counts[pick(random, counts.size())],
                          random);
      if (HasFatalFailure()) break;
    }
    if (row != nullptr) {
      EXPECT_EQ(served.served_by(), row);
    }
  }
  MPI_Op_free(&sum_op);
}

TEST(Reduce, OfNothingWritesNothing) {
  Served served(Collective::reduce, nullptr);
  int receive = -7;
  EXPECT_EQ(SIBYL_Reduce(nullptr, &receive, 0, MPI_INT, MPI_SUM, size_of() - 1, served.get()),
            MPI_SUCCESS);
  EXPECT_EQ(receive, -7);
}

TEST(Reduce, BetweenGroupsIsTheMpiLibrarysOwn) {
  const int size = size_of();
  const int rank = rank_in();
  if (size < 2) GTEST_SKIP() << "needs two groups";
  const int lower = size / 2;
  const bool low = rank < lower;
  const BetweenHalves between;
  // From the upper group to the last rank of the lower.
  const int root = low ? (rank == lower - 1 ? MPI_ROOT : MPI_PROC_NULL) : lower - 1;
  int sum = -1;
  EXPECT_EQ(SIBYL_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, root, between.get()), MPI_SUCCESS);
  EXPECT_EQ(sum, root == MPI_ROOT ? size * (size - 1) / 2 - lower * (lower - 1) / 2 : -1);
}

#if MPI_VERSION >= 4
TEST(Reduce, TakesLargeCounts) {
  for (const Algorithm* row : rows_and_auto(Collective::reduce)) {
    Served served(Collective::reduce, row);
    const std::array<int, 3> send{rank_in(), 1, 2};
    std::array<int, 3> receive{-1, -1, -1};
    EXPECT_EQ(SIBYL_Reduce_c(send.data(), receive.data(), MPI_Count{3}, MPI_INT, MPI_SUM, 0,
                             served.get()),
              MPI_SUCCESS);
    const int size = size_of();
    if (rank_in() == 0) {
      EXPECT_EQ(receive, (std::array<int, 3>{size * (size - 1) / 2, size, 2 * size}));
    }
  }
}
#endif

}  // namespace
}  // namespace sibyl::test
