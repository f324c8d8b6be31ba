// Calls of reduce and what they must give; see reduce_cases.hpp.
#include "collectives/blocking/reduce_cases.hpp"

#include <array>
#include <cstring>

namespace sibyl::test {
namespace {

int any_root(const Served& served, Random& random) {
  return static_cast<int>(pick(random, static_cast<std::uint64_t>(size_of(served.get()))));
}

// MPICH 4.0's own reduce of 16 KB in place crashes at roots other than 0.
bool in_place_now(const Served& served, int root, Random& random) {
  const bool wanted = pick(random, 3) == 0;
  return wanted && rank_in(served.get()) == root && (served.by_sibyl || root == 0);
}

}  // namespace

void compare_reduce(Served& served, const PredefinedType& type, const PredefinedOperator& op,
                    int count, Random& random) {
  const int root = any_root(served, random);
  const bool at_root = rank_in(served.get()) == root;
  const bool in_place = in_place_now(served, root, random);
  SCOPED_TRACE(op.name + " on " + std::to_string(count) + " " + type.name + ", root " +
               std::to_string(root) + (in_place ? ", in place" : ""));
  Random own(random() + static_cast<std::uint64_t>(rank_in(served.get())));
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

void add_components(void* left, void* right, int* count, MPI_Datatype* type) {
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

Matrix sum_of(const Matrix& a, const Matrix& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]};
}

void check_reduce_layout(Served& served, const Layout& layout, MPI_Op op,
                         Matrix (*combined)(const Matrix&, const Matrix&), int count,
                         Random& random) {
  const int root = any_root(served, random);
  const int rank = rank_in(served.get());
  const bool at_root = rank == root;
  const bool in_place = in_place_now(served, root, random);
  const std::uint64_t seed = random();
  SCOPED_TRACE(std::to_string(count) + " elements, layout: " + layout.name + ", root " +
               std::to_string(root) + (in_place ? ", in place" : ""));
  GuardedBuffer send(layout, count);
  GuardedBuffer receive(layout, count);
  give_matrices(seed, rank, count, in_place, send, receive);
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
    for (int r = 1; r < size_of(served.get()); ++r)
      expected = combined(expected, matrix_of(seed, r, i));
    ASSERT_EQ(take(receive, i), expected) << "element " << i;
  }
}

const Layout& layout_for(const Served& served, const Layouts& layouts, std::uint64_t number) {
  if (served.by_sibyl) return layouts.all()[number % layouts.all().size()];
  constexpr std::array<std::size_t, 3> plain{0, 1, 3};  // contiguous, vector, duplicate
  return layouts.all()[plain[number % plain.size()]];
}

void serve_reduce_by(Served& served, const Algorithm* row, Random& random, bool commutes) {
  served.force(row);
  served.by_sibyl = row != nullptr && (commutes || !row->commutative_only);
  Settings settings = served.state().settings();
  settings.segments = row != nullptr && row->arrivals ? 1 + pick(random, 40) % 40 : 0;
  served.state().replace_settings(settings);
}

}  // namespace sibyl::test
