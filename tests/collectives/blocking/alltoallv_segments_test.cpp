// How many segments a rank's program of an alltoallv has follows from its own blocks, which others
// do not know: however they differ, both ends of each block cut it alike.
#include <algorithm>
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

// Of the eight parts of 16 KiB that come it expects four, which have room in what it has.
TEST_P(AlltoallvSegments, ThatAreTooManyAreRefused) {
  if (size_of() < 2) GTEST_SKIP() << "nobody to send them";
  Served served(Collective::alltoallv, GetParam());
  MPI_Comm_set_errhandler(served.get(), MPI_ERRORS_RETURN);
  const auto size = static_cast<std::size_t>(size_of());
  constexpr int sent = 8 * 16384;
  std::vector<int> send_counts(size, 0);
  std::vector<int> counts(size, 0);
  const std::vector<int> places(size, 0);
  if (rank_in() == 0) send_counts[1] = sent;
  if (rank_in() == 1) counts[0] = sent / 2;
  const std::vector<char> out(sent, 'o');
  std::vector<char> in(sent, 'x');
  const int result =
      SIBYL_Alltoallv(out.data(), send_counts.data(), places.data(), MPI_CHAR, in.data(),
                      counts.data(), places.data(), MPI_CHAR, served.get());
  EXPECT_EQ(class_of(result), rank_in() == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
  // Natively the block is one message. Here its sender may wait until somebody takes the others.
  std::vector<char> part(sent);
  int has_returned = rank_in() == 1 ? 0 : 1;
  if (rank_in() == 0) MPI_Send(nullptr, 0, MPI_CHAR, 1, 5, MPI_COMM_WORLD);
  while (has_returned == 0) {
    int is_left = 0;
    MPI_Iprobe(0, MPI_ANY_TAG, served.state().private_comm(), &is_left, MPI_STATUS_IGNORE);
    if (is_left != 0) {
      MPI_Recv(part.data(), sent, MPI_CHAR, 0, MPI_ANY_TAG, served.state().private_comm(),
               MPI_STATUS_IGNORE);
    }
    MPI_Iprobe(0, 5, MPI_COMM_WORLD, &has_returned, MPI_STATUS_IGNORE);
  }
  if (rank_in() == 1) MPI_Recv(nullptr, 0, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  EXPECT_EQ(std::count(in.begin() + sent / 2, in.end(), 'x'), sent / 2);
}

INSTANTIATE_TEST_SUITE_P(By, AlltoallvSegments,
                         testing::Values(find_algorithm(Collective::alltoallv, "shifted"),
                                         find_algorithm(Collective::alltoallv, "pairwise")),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace sibyl::test
