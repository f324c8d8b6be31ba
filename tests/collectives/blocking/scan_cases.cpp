// Differential tests of the two scans; see scan_cases.hpp.
#include "collectives/blocking/scan_cases.hpp"

#include <array>

#include "collectives/matrices.hpp"
#include "collectives/predefined.hpp"

namespace sibyl::test {
namespace {

int serve(Collective collective, const void* send, void* receive, int count, MPI_Datatype type,
          MPI_Op op, MPI_Comm comm) {
  return collective == Collective::exscan ? SIBYL_Exscan(send, receive, count, type, op, comm)
                                          : SIBYL_Scan(send, receive, count, type, op, comm);
}

int native(Collective collective, const void* send, void* receive, int count, MPI_Datatype type,
           MPI_Op op, MPI_Comm comm) {
  return collective == Collective::exscan ? PMPI_Exscan(send, receive, count, type, op, comm)
                                          : PMPI_Scan(send, receive, count, type, op, comm);
}

// Some number of segments where the algorithm cuts vectors, at times the model's.
std::uint32_t segments_of(const Algorithm* row, Random& random) {
  return row != nullptr && row->segments ? static_cast<std::uint32_t>(pick(random, 40)) : 0;
}

// One call of a predefined operator beside the native one. `random` is the same on all ranks.
void compare(Served& served, Collective collective, const PredefinedType& type,
             const PredefinedOperator& op, int count, Random& random) {
  SCOPED_TRACE(op.name + " on " + std::to_string(count) + " " + type.name);
  const int rank = rank_in();
  Random own(random() + static_cast<std::uint64_t>(rank));
  const bool in_place = pick(own, 3) == 0;
  const auto input = random_values(type, op, count, own);
  ElementBuffer send(type, count);
  ElementBuffer receive(type, count);
  ElementBuffer expected(type, count);
  send.fill(input);
  const auto sent = send.values();
  if (in_place) receive.fill(input);
  ASSERT_EQ(native(collective, send.base(), expected.base(), count, type.type, op.op, served.get()),
            MPI_SUCCESS);
  ASSERT_EQ(serve(collective, in_place ? MPI_IN_PLACE : send.base(), receive.base(), count,
                  type.type, op.op, served.get()),
            MPI_SUCCESS);
  if (collective == Collective::exscan && rank == 0) {
    if (in_place) {
      EXPECT_EQ(receive.values(), sent) << "rank 0's buffer is input only";
    } else {
      EXPECT_TRUE(receive.untouched()) << "rank 0's receive buffer is no output";
    }
  } else {
    EXPECT_EQ(receive.values(), expected.values());
  }
  EXPECT_TRUE(receive.surroundings_untouched());
  EXPECT_EQ(send.values(), sent) << "the send buffer is const";
  EXPECT_TRUE(send.surroundings_untouched());
}

void multiply_case(Served& served, Collective collective, const Layout& layout, MPI_Op op,
                   int count, Random& random) {
  SCOPED_TRACE(std::to_string(count) + " matrices, layout: " + layout.name);
  const std::uint64_t seed = random();
  const int rank = rank_in();
  Random own(seed + static_cast<std::uint64_t>(rank));
  const bool in_place = pick(own, 3) == 0;
  GuardedBuffer send(layout, count);
  GuardedBuffer receive(layout, count);
  give_matrices(seed, rank, count, in_place, send, receive);
  matrix_layout = &layout;
  ASSERT_EQ(serve(collective, in_place ? MPI_IN_PLACE : send.base(), receive.base(), count,
                  layout.type, op, served.get()),
            MPI_SUCCESS);
  matrix_layout = nullptr;
  EXPECT_TRUE(send.unchanged());
  EXPECT_TRUE(receive.surroundings_untouched());
  if (collective == Collective::exscan && rank == 0) {
    EXPECT_TRUE(receive.unchanged());
    return;
  }
  const int end = collective == Collective::exscan ? rank : rank + 1;
  for (int i = 0; i < count; i += 1 + count / 16) {
    Matrix expected = matrix_of(seed, 0, i);
    for (int r = 1; r < end; ++r) expected = product(expected, matrix_of(seed, r, i));
    ASSERT_EQ(take(receive, i), expected) << "element " << i;
  }
}

}  // namespace

void equals_native_for_predefined(Collective collective) {
  SIBYL_TRACE_SEED();
  Random random(run_seed());
  const auto types = predefined_types();
  const auto operators = predefined_operators();
  const auto rows = rows_and_auto(collective);
  Served served(collective, nullptr);
  std::size_t pairs = 0;
  // With many ranks a random part of the pairs, another one at every rank count.
  const auto share = static_cast<std::uint64_t>(284 / cases(284));
  for (const PredefinedOperator& op : operators) {
    for (const PredefinedType& type : types) {
      if (!takes(op, type) || pick(random, share) != 0) continue;
      const Algorithm* row = rows[pick(random, rows.size())];
      SCOPED_TRACE(name_or_auto(row));
      served.force(row, segments_of(row, random));
      compare(served, collective, type, op, static_cast<int>(pick(random, 9)), random);
      ++pairs;
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  EXPECT_GT(pairs, 0U);
}

void equals_native_for_sizes(Collective collective) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 1);
  const auto types = predefined_types();
  const auto operators = predefined_operators();
  Served served(collective, nullptr);
  // 16384 bytes is where the engine changes.
  constexpr std::array<int, 9> bytes{0, 8, 24, 1000, 16376, 16384, 16392, 40000, 200000};
  for (const Algorithm* row : rows_and_auto(collective)) {
    SCOPED_TRACE(name_or_auto(row));
    served.force(row, segments_of(row, random));
    for (int i = 0; i < cases(24); ++i) {
      const PredefinedType& type = types[pick(random, types.size())];
      const PredefinedOperator& op = operators[pick(random, operators.size())];
      if (!takes(op, type)) continue;
      int size = 0;
      MPI_Type_size(type.type, &size);
      compare(served, collective, type, op, bytes[pick(random, bytes.size())] / size, random);
      if (testing::Test::HasFatalFailure()) return;
    }
    compare(served, collective, types[0], operators[2], 1 + 16384 / 4, random);
    if (row != nullptr) {
      EXPECT_EQ(served.served_by(), row);
    }
  }
}

void keeps_operand_order(Collective collective) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 2);
  const Layouts layouts;
  std::array<MPI_Op, 2> operators{};
  MPI_Op_create(&multiply, 0, &operators[0]);
  MPI_Op_create(&multiply, 1, &operators[1]);  // Sibyl keeps the order even so
  Served served(collective, nullptr);
  for (const Algorithm* row : rows_and_auto(collective)) {
    SCOPED_TRACE(name_or_auto(row));
    served.force(row, segments_of(row, random));
    const int wanted = cases(static_cast<int>(layouts.all().size()) * 2);
    const std::uint64_t start = random();
    for (int i = 0; i < wanted; ++i) {
      constexpr std::array<int, 6> counts{1, 2, 7, 1023, 1025, 1500};
      const auto at = (start + static_cast<std::uint64_t>(i)) % layouts.all().size();
      multiply_case(served, collective, layouts.all()[at], operators[pick(random, 2)],
                    counts[pick(random, counts.size())], random);
      if (testing::Test::HasFatalFailure()) break;
    }
  }
  for (MPI_Op& op : operators) MPI_Op_free(&op);
}

void survives_a_mix_of_calls(Collective collective) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 3);
  const auto rows = rows_and_auto(collective);
  Served served(collective, nullptr);
  const int size = size_of();
  const int rank = rank_in();
  for (int i = 0; i < cases(200); ++i) {
    const Algorithm* row = rows[pick(random, rows.size())];
    served.force(row, segments_of(row, random));
    const int count = 1 + static_cast<int>(pick(random, 6)) * static_cast<int>(pick(random, 1000));
    const auto step = static_cast<std::int64_t>(pick(random, 1000));
    std::vector<std::int64_t> send(static_cast<std::size_t>(count));
    std::vector<std::int64_t> receive(send.size(), -1);
    for (std::size_t e = 0; e < send.size(); ++e) {
      send[e] = step + rank + static_cast<std::int64_t>(e);
    }
    ASSERT_EQ(
        serve(collective, send.data(), receive.data(), count, MPI_INT64_T, MPI_SUM, served.get()),
        MPI_SUCCESS);
    const std::int64_t ranks = collective == Collective::exscan ? rank : rank + 1;
    if (ranks == 0) continue;
    for (const std::size_t e : {std::size_t{0}, receive.size() - 1}) {
      ASSERT_EQ(receive[e], ranks * (step + static_cast<std::int64_t>(e)) + ranks * (ranks - 1) / 2)
          << "call " << i << ", element " << e << " on " << size << " ranks";
    }
  }
}

}  // namespace sibyl::test
