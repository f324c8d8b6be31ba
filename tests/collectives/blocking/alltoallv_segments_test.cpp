// How many segments a rank's program of an alltoallv has follows from its own blocks, which others
// do not know: however they differ, both ends of each block cut it alike.
#include <cstddef>
#include <numeric>
#include <vector>

#include "collectives/harness.hpp"

namespace sibyl::test {
namespace {

// From nothing over one segment and a few to more than all segments of 16 KiB hold.
constexpr int sizes[] = {0, 1, 100, 16384, 16385, 70000, 300001, 1200003};
// With so few for all calls one has fewer tags than the largest of these has segments of 16 KiB.
constexpr std::int64_t few_tags = 2000;

int size_of_block(Rank from, Rank to, int call) {
  // One pair has a large block, of all sizes in turn, and the others know nothing of it.
  const Rank size = size_of();
  if (from == call % size && to == (call + 1) % size) return sizes[(call / 2) % 8];
  if (from == (call + 2) % size) return sizes[call % 4] + to;
  return (from * 7 + to * 3 + call) % 40;
}

char byte_of(Rank from, Rank to, int i) { return static_cast<char>(from * 31 + to * 7 + i % 253); }

class AlltoallvSegments : public testing::TestWithParam<const Algorithm*> {
 protected:
  void make_calls(Served& served);
};

void AlltoallvSegments::make_calls(Served& served) {
  const Rank size = size_of();
  const Rank rank = rank_in();
  for (int call = 0; call < 24; ++call) {
    SCOPED_TRACE(call);
    std::vector<int> send_counts;
    std::vector<int> counts;
    for (Rank r = 0; r < size; ++r) {
      send_counts.push_back(size_of_block(rank, r, call));
      counts.push_back(size_of_block(r, rank, call));
    }
    const auto begins = [](const std::vector<int>& of) {
      std::vector<int> places(of.size(), 0);
      std::partial_sum(of.begin(), of.end() - 1, places.begin() + 1);
      return places;
    };
    const std::vector<int> send_places = begins(send_counts);
    const std::vector<int> places = begins(counts);
    std::vector<char> out;
    for (Rank r = 0; r < size; ++r) {
      for (int i = 0; i < send_counts[static_cast<std::size_t>(r)]; ++i) {
        out.push_back(byte_of(rank, r, i));
      }
    }
    std::vector<char> in(static_cast<std::size_t>(places.back() + counts.back()) + 1, 'x');
    ASSERT_EQ(SIBYL_Alltoallv(out.data(), send_counts.data(), send_places.data(), MPI_CHAR,
                              in.data(), counts.data(), places.data(), MPI_CHAR, served.get()),
              MPI_SUCCESS);
    std::vector<char> wanted;
    for (Rank r = 0; r < size; ++r) {
      for (int i = 0; i < counts[static_cast<std::size_t>(r)]; ++i) {
        wanted.push_back(byte_of(r, rank, i));
      }
    }
    wanted.push_back('x');
    ASSERT_TRUE(in == wanted);
    ASSERT_EQ(served.served_by(), GetParam());
  }
}

TEST_P(AlltoallvSegments, AreTheSameAtBothEnds) {
  Served served(Collective::alltoallv, GetParam());
  make_calls(served);
}

// Nobody goes to the library alone.
TEST_P(AlltoallvSegments, AreNoMoreThanACallHasTags) {
  Served served(Collective::alltoallv, GetParam());
  served.state().limit_tags(few_tags);
  ASSERT_LT(served.state().tags_of_a_call(Collective::alltoallv), 1200003 / 16384);
  make_calls(served);
}

INSTANTIATE_TEST_SUITE_P(By, AlltoallvSegments,
                         testing::Values(find_algorithm(Collective::alltoallv, "shifted"),
                                         find_algorithm(Collective::alltoallv, "pairwise")),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace sibyl::test
