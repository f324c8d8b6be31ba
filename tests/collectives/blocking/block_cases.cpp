// Tests of gather and scatter; see block_cases.hpp.
#include "collectives/blocking/block_cases.hpp"

#include <array>

namespace sibyl::test {
namespace {

struct BlockCall {
  int root = 0;
  int count = 0;  // elements of `all` per block, `own` elements of this rank's block
  bool in_place = false;
  bool native = false;
};

constexpr int wild_count = -5;  // where a count is not significant

// The value of component c of element e of a block.
std::int32_t block_value(std::uint64_t seed, int rank, std::int64_t element, int component) {
  std::uint64_t x = seed + static_cast<std::uint64_t>(rank) * 0x9e3779b97f4a7c15ULL +
                    static_cast<std::uint64_t>(element * 4 + component) * 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 31;
  x *= 0x94d049bb133111ebULL;
  return static_cast<std::int32_t>(x >> 29);
}

int invoke(Collective collective, const BlockCall& call, GuardedBuffer* all,
           const Layout& all_layout, GuardedBuffer& own, const Layout& own_layout, MPI_Comm comm) {
  const bool is_root = all != nullptr;
  void* all_base = is_root ? all->base() : wild();
  const int all_count = is_root ? call.count : wild_count;
  const MPI_Datatype all_type = is_root ? all_layout.type : MPI_DATATYPE_NULL;
  void* own_base = call.in_place ? MPI_IN_PLACE : own.base();
  // Beside MPI_IN_PLACE count and type are not significant. (Open MPI reads them all the same.)
  const bool garbage = call.in_place && !call.native;
  const int own_count = garbage ? wild_count : call.count;
  const MPI_Datatype own_type = garbage ? MPI_DATATYPE_NULL : own_layout.type;
  if (collective == Collective::gather) {
    return (call.native ? PMPI_Gather : SIBYL_Gather)(own_base, own_count, own_type, all_base,
                                                      all_count, all_type, call.root, comm);
  }
  return (call.native ? PMPI_Scatter : SIBYL_Scatter)(all_base, all_count, all_type, own_base,
                                                      own_count, own_type, call.root, comm);
}

// One call; all buffers are checked byte by byte.
void check(Collective collective, const BlockCall& call, const Layout& all_layout,
           const Layout& own_layout, std::uint64_t seed, MPI_Comm comm) {
  SCOPED_TRACE("root " + std::to_string(call.root) + ", " + std::to_string(call.count) +
               " elements, root's layout: " + all_layout.name + ", own: " + own_layout.name +
               (call.in_place ? ", in place" : ""));
  const int rank = rank_in(comm);
  const int size = size_of(comm);
  const bool is_root = rank == call.root;
  const bool gathers = collective == Collective::gather;
  GuardedBuffer own(own_layout, call.count);
  GuardedBuffer all(all_layout, is_root ? std::int64_t{size} * call.count : 0);
  const auto fill_all = [&](int block) {
    for (int e = 0; e < call.count; ++e) {
      for (int c = 0; c < 4; ++c) {
        all.set(std::int64_t{block} * call.count + e, c, block_value(seed, block, e, c));
      }
    }
  };
  if (gathers) {
    for (int e = 0; e < call.count; ++e) {
      for (int c = 0; c < 4; ++c) own.set(e, c, block_value(seed, rank, e, c));
    }
    if (is_root && call.in_place) fill_all(rank);
  } else if (is_root) {
    for (int block = 0; block < size; ++block) fill_all(block);
  }
  own.take_snapshot();
  all.take_snapshot();
  ASSERT_EQ(invoke(collective, call, is_root ? &all : nullptr, all_layout, own, own_layout, comm),
            MPI_SUCCESS);
  if (gathers) {
    EXPECT_TRUE(own.unchanged()) << "the send buffer is const";
    if (!is_root) return;
    EXPECT_TRUE(all.surroundings_untouched());
    for (int block = 0; block < size; ++block) {
      for (int e = 0; e < call.count; ++e) {
        for (int c = 0; c < 4; ++c) {
          ASSERT_EQ(all.get(std::int64_t{block} * call.count + e, c),
                    block_value(seed, block, e, c))
              << "block " << block << ", element " << e << ", component " << c;
        }
      }
    }
    return;
  }
  EXPECT_TRUE(all.unchanged()) << "the send buffer is const";
  if (call.in_place) {
    EXPECT_TRUE(own.unchanged());
    return;
  }
  EXPECT_TRUE(own.surroundings_untouched());
  for (int e = 0; e < call.count; ++e) {
    for (int c = 0; c < 4; ++c) {
      ASSERT_EQ(own.get(e, c), block_value(seed, rank, e, c))
          << "element " << e << ", component " << c;
    }
  }
}

// 4096 bytes of a block part trees from linear, 16384 part the engines; 16 bytes an element.
constexpr std::array<int, 10> block_counts{0, 1, 3, 63, 64, 65, 255, 257, 1024, 1025};

}  // namespace

void serves_every_root(Collective collective) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 4);
  const Layouts layouts;
  Served served(collective, nullptr);
  const int size = size_of();
  for (const Algorithm* row : rows_and_auto(collective)) {
    SCOPED_TRACE(name_or_auto(row));
    served.force(row);
    if (row != nullptr && row->nodes) {  // pretended ones
      const auto per_node = static_cast<Rank>(1 + pick(random, static_cast<std::uint64_t>(size)));
      served.state().set_placement({.ranks_per_node = per_node});
    }
    // Every root where the ranks are few, or have time; else some, other ones at the next run.
    const int roots = cases(size * 20) >= size ? size : cases(size * 20);
    const int first = static_cast<int>(pick(random, static_cast<std::uint64_t>(size)));
    for (int i = 0; i < roots; ++i) {
      BlockCall call;
      call.root = (first + i) % size;
      call.count = 1 + static_cast<int>(pick(random, 4));
      const std::uint64_t seed = random();
      const Layout& plain = layouts.all().front();
      check(collective, call, plain, plain, seed, served.get());
      if (i == 0) {
        call.native = true;  // the test itself, on the MPI library
        check(collective, call, plain, plain, seed, served.get());
      }
      if (testing::Test::HasFatalFailure()) return;
    }
    if (row != nullptr) {
      EXPECT_EQ(served.served_by(), row);
    }
  }
}

void moves_between_layouts(Collective collective) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 5);
  const Layouts layouts;
  Served served(collective, nullptr);
  const int rank = rank_in();
  for (const Algorithm* row : rows_and_auto(collective)) {
    SCOPED_TRACE(name_or_auto(row));
    served.force(row);
    for (int i = 0; i < cases(60); ++i) {
      BlockCall call;
      call.root = static_cast<int>(pick(random, static_cast<std::uint64_t>(size_of())));
      call.count = block_counts[pick(random, block_counts.size())];
      call.in_place = pick(random, 2) == 0 && rank == call.root;
      const std::uint64_t seed = random();
      const Layout& all_layout = layouts.any(random);
      Random own(seed + static_cast<std::uint64_t>(rank));
      check(collective, call, all_layout, layouts.any(own), seed, served.get());
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

void cuts_anywhere(Collective collective) {
  SIBYL_TRACE_SEED();
  Random random(run_seed() + 6);
  const Layouts layouts;
  Served served(collective, nullptr);
  for (const Algorithm& row : algorithms(collective)) {
    served.force(&row);
    SCOPED_TRACE(row.name);
    constexpr std::array<std::uint32_t, 5> segments{0, 1, 15, 160, 1 << 20};
    for (int i = 0; i < cases(20); ++i) {
      const std::uint32_t bytes = segments[pick(random, segments.size())];
      SCOPED_TRACE("first segment of " + std::to_string(bytes) + " bytes");
      served.first_segment(bytes);
      BlockCall call;
      call.root = static_cast<int>(pick(random, static_cast<std::uint64_t>(size_of())));
      call.count = 10;
      const std::uint64_t seed = random();
      const Layout& all_layout = layouts.any(random);
      const Layout& own_layout = layouts.any(random);
      check(collective, call, all_layout, own_layout, seed, served.get());
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

void ignores_insignificant_arguments(Collective collective) {
  // check() hands wild arguments to every call; here once with each algorithm, and in place.
  const Layouts layouts;
  Served served(collective, nullptr);
  for (const Algorithm* row : rows_and_auto(collective)) {
    SCOPED_TRACE(name_or_auto(row));
    served.force(row);
    BlockCall call;
    call.root = size_of() - 1;
    call.count = 2;
    call.in_place = rank_in() == call.root;
    check(collective, call, layouts.all()[0], layouts.all()[0], 7, served.get());
  }
}

}  // namespace sibyl::test
