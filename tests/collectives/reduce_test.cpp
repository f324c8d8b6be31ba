// SIBYL_Reduce beside the MPI library's own collective and by definition.
#include <array>
#include <cstring>

#include "collectives/matrices.hpp"
#include "collectives/predefined.hpp"

namespace sibyl::test {
namespace {

// What is passed where an argument is not significant.
void* wild() { return reinterpret_cast<void*>(0xdead0); }

// Whether the calls of a test are served by Sibyl. MPICH 4.0's own reduce of 16 KB in place crashes
// at roots other than 0, and both libraries' own fail on elements that run backwards or lie apart.
bool served_by_sibyl = false;

int any_root(Random& random) {
  return static_cast<int>(pick(random, static_cast<std::uint64_t>(size_of())));
}

// One call of a predefined operator beside the native one. `random` is the same on all ranks.
void compare(Served& served, const PredefinedType& type, const PredefinedOperator& op, int count,
             Random& random) {
  const int root = any_root(random);
  const bool at_root = rank_in() == root;
  const bool in_place = pick(random, 3) == 0 && at_root && (served_by_sibyl || root == 0);
  SCOPED_TRACE(op.name + " on " + std::to_string(count) + " " + type.name + ", root " +
               std::to_string(root) + (in_place ? ", in place" : ""));
  Random own(random() + static_cast<std::uint64_t>(rank_in()));
  const auto input = random_values(type, op, count, own);
  ElementBuffer send(type, count);
  ElementBuffer receive(type, count);
  ElementBuffer expected(type, count);
  send.fill(input);
  const auto sent = send.values();
  if (in_place) receive.fill(input);
  ASSERT_EQ(PMPI_Reduce(send.base(), expected.base(), count, type.type, op.op, root, served.get()),
            MPI_SUCCESS);
  ASSERT_EQ(SIBYL_Reduce(in_place ? MPI_IN_PLACE : send.base(), at_root ? receive.base() : wild(),
                         count, type.type, op.op, root, served.get()),
            MPI_SUCCESS);
  if (at_root) {
    EXPECT_EQ(receive.values(), expected.values());
  }
  EXPECT_TRUE(receive.surroundings_untouched());
  EXPECT_EQ(send.values(), sent) << "the send buffer is const";
  EXPECT_TRUE(send.surroundings_untouched());
}

// Sums of the components, modulo 2^32: commutative in every layout.
void add(void* left, void* right, int* count, MPI_Datatype* type) {
  if (matrix_layout == nullptr || *type == MPI_DATATYPE_NULL) return;
  for (std::int64_t i = 0; i < *count; ++i) {
    for (const MPI_Aint offset : matrix_layout->offsets) {
      std::uint32_t a = 0;
      std::uint32_t b = 0;
      std::memcpy(&a, static_cast<char*>(left) + i * matrix_layout->extent + offset, 4);
      char* place = static_cast<char*>(right) + i * matrix_layout->extent + offset;
      std::memcpy(&b, place, 4);
      b += a;
      std::memcpy(place, &b, 4);
    }
  }
}

Matrix sum(const Matrix& a, const Matrix& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]};
}

// A user's operator on one layout, with every byte of the buffers checked.
void check_layout(Served& served, const Layout& layout, MPI_Op op,
                  Matrix (*combined)(const Matrix&, const Matrix&), int count, Random& random) {
  const int root = any_root(random);
  const int rank = rank_in();
  const bool at_root = rank == root;
  const bool in_place = pick(random, 3) == 0 && at_root && (served_by_sibyl || root == 0);
  const std::uint64_t seed = random();
  SCOPED_TRACE(std::to_string(count) + " elements, layout: " + layout.name + ", root " +
               std::to_string(root) + (in_place ? ", in place" : ""));
  GuardedBuffer send(layout, count);
  GuardedBuffer receive(layout, count);
  for (int i = 0; i < count; ++i) {
    put(send, i, matrix_of(seed, rank, i));
    if (in_place) put(receive, i, matrix_of(seed, rank, i));
  }
  send.take_snapshot();
  receive.take_snapshot();
  matrix_layout = &layout;
  ASSERT_EQ(SIBYL_Reduce(in_place ? MPI_IN_PLACE : send.base(), at_root ? receive.base() : wild(),
                         count, layout.type, op, root, served.get()),
            MPI_SUCCESS);
  matrix_layout = nullptr;
  EXPECT_TRUE(send.unchanged());
  EXPECT_TRUE(receive.surroundings_untouched());
  if (!at_root) return;
  for (int i = 0; i < count; i += 1 + count / 16) {
    Matrix expected = matrix_of(seed, 0, i);
    for (int r = 1; r < size_of(); ++r) expected = combined(expected, matrix_of(seed, r, i));
    ASSERT_EQ(take(receive, i), expected) << "element " << i;
  }
}

// Both MPI libraries' own reduces fail on elements that run backwards or lie apart; where they
// serve, only plain layouts are tried.
// Layouts in turn, the plain ones where the MPI library serves.
const Layout& layout_for(const Layouts& layouts, std::uint64_t number) {
  if (served_by_sibyl) return layouts.all()[number % layouts.all().size()];
  constexpr std::array<std::size_t, 3> plain{0, 1, 3};  // contiguous, vector, duplicate
  return layouts.all()[plain[number % plain.size()]];
}

// The rows, with segments where one cuts the vector as it is told.
void serve_by(Served& served, const Algorithm* row, Random& random, bool commutes = true) {
  served.force(row);
  served_by_sibyl = row != nullptr && (commutes || !row->commutative_only);
  Settings settings = served.state().settings();
  settings.segments = row != nullptr && row->arrivals ? 1 + pick(random, 40) % 40 : 0;
  served.state().replace_settings(settings);
}

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
      serve_by(served, row, random);
      compare(served, type, op, static_cast<int>(pick(random, 20)), random);
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
    serve_by(served, row, random);
    for (int i = 0; i < cases(24); ++i) {
      const PredefinedType& type = types[pick(random, types.size())];
      const PredefinedOperator& op = operators[pick(random, operators.size())];
      if (!takes(op, type)) continue;
      serve_by(served, row, random);
      int size = 0;
      MPI_Type_size(type.type, &size);
      compare(served, type, op, bytes[pick(random, bytes.size())] / size, random);
      if (HasFatalFailure()) return;
    }
    compare(served, types[0], operators[2], 1 + 65536 / 4, random);
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
    serve_by(served, row, random);
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
    serve_by(served, row, random, false);
    const std::uint64_t start = random();
    for (int i = 0; i < cases(22); ++i) {
      constexpr std::array<int, 6> counts{1, 2, 7, 129, 1025, 1500};
      const Layout& layout = layout_for(layouts, start + static_cast<std::uint64_t>(i));
      check_layout(served, layout, product_op, &product, counts[pick(random, counts.size())],
                   random);
      if (HasFatalFailure()) break;
    }
    // What reorders is not taken, whatever was asked for.
    if (row != nullptr) {
      EXPECT_EQ(served.served_by(), served_by_sibyl ? row : nullptr);
    }
  }
  MPI_Op_free(&product_op);
}

TEST(Reduce, AppliesUsersOperatorsToEveryLayout) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 14);
  const Layouts layouts;
  MPI_Op sum_op = MPI_OP_NULL;
  MPI_Op_create(&add, 1, &sum_op);
  Served served(Collective::reduce, nullptr);
  for (const Algorithm* row : rows_and_auto(Collective::reduce)) {
    SCOPED_TRACE(name_or_auto(row));
    const std::uint64_t start = random();
    for (int i = 0; i < cases(22); ++i) {
      serve_by(served, row, random);
      constexpr std::array<int, 7> counts{1, 2, 7, 15, 129, 1500, 5000};
      const Layout& layout = layout_for(layouts, start + static_cast<std::uint64_t>(i));
      check_layout(served, layout, sum_op, &sum, counts[pick(random, counts.size())], random);
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
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm between = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, low ? 0 : 1, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? lower : 0, 0, &between);
  // From the upper group to the last rank of the lower.
  const int root = low ? (rank == lower - 1 ? MPI_ROOT : MPI_PROC_NULL) : lower - 1;
  int sum = -1;
  EXPECT_EQ(SIBYL_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, root, between), MPI_SUCCESS);
  EXPECT_EQ(sum, root == MPI_ROOT ? size * (size - 1) / 2 - lower * (lower - 1) / 2 : -1);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
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
