// One persistent collective on plain data, taken through iterations by its ranks, with what it must
// give.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collectives/harness.hpp"

namespace sibyl::test {

struct PersistentCase {
  Collective collective = Collective::gather;
  std::string algorithm = "auto";
  bool by_arrival = true;
  bool background = true;
  int root = 0;
  int count = 1;  // elements of a vector, or of rank 0's block
  bool in_place = false;
  bool gaps = false;   // where types may differ: one with gaps at every second rank
  bool large = false;  // made by the function with large counts
  std::optional<int> outstanding = std::nullopt;  // transfers of a linear root under way, 0: all
  std::string text() const;
};

// Requests that are made on `comm` from now on have no thread to move them. Collective.
void take_the_thread_away(MPI_Comm comm);

// Drawn alike on all ranks.
PersistentCase any_persistent_case(Random& random, int size);

// The functions that make requests, with counts of one width.
template <class Count, class Place>
struct InitFunctions;

class PersistentTrial {
 public:
  PersistentTrial(const PersistentCase& now, MPI_Comm comm);
  ~PersistentTrial();
  PersistentTrial(const PersistentTrial&) = delete;
  PersistentTrial& operator=(const PersistentTrial&) = delete;

  SIBYL_Request* request() { return &request_; }
  bool made() const { return request_ != SIBYL_REQUEST_NULL; }
  // Wipes the buffers and starts.
  void start(std::uint64_t seed);
  void edge(double fraction) { EXPECT_EQ(SIBYL_Edge(&request_, fraction), MPI_SUCCESS); }
  // Writes this rank's contribution and arrives.
  void arrive();
  void wait() { EXPECT_EQ(SIBYL_Wait(&request_), MPI_SUCCESS) << now_.text(); }
  void wait_by_tests();
  // The iteration is complete: looks at every element.
  void check() const;
  void free() { EXPECT_EQ(SIBYL_Request_free(&request_), MPI_SUCCESS); }

 private:
  bool irregular() const {
    return now_.collective == Collective::gatherv || now_.collective == Collective::scatterv ||
           now_.collective == Collective::allgatherv;
  }
  // Every rank's receive buffer has the blocks of all.
  bool holds_all() const {
    return gathers_everywhere(now_.collective) || exchanges_all(now_.collective);
  }
  int block(int rank) const { return irregular() ? (now_.count * (rank + 1)) % 67 : now_.count; }
  std::int64_t value(int rank, int element) const;
  void lay_out();
  int make(MPI_Info info);
  template <class Count, class Place>
  int make_by(const InitFunctions<Count, Place>& init, const std::vector<Count>& counts,
              const std::vector<Place>& places, MPI_Info info);

  PersistentCase now_;
  MPI_Comm comm_;
  int rank_;
  int size_;
  bool is_root_;
  int stride_ = 1;  // of this rank's own block, in elements
  MPI_Datatype own_type_ = MPI_INT64_T;
  std::vector<int> counts_;
  std::vector<int> places_;
  std::vector<std::int64_t> send_;
  std::vector<std::int64_t> receive_;
  std::uint64_t seed_ = 0;
  SIBYL_Request request_ = SIBYL_REQUEST_NULL;
};

// For up to so many microseconds.
void compute(Random& random, unsigned most);

// Which ranks report an edge.
enum class Edges { all, none, some };

// One iteration, in which this rank computes up to `most` microseconds before and after its edge.
// `own` is this rank's alone.
void iterate(PersistentTrial& trial, std::uint64_t seed, Edges edges, Random& own,
             unsigned most = 600);

}  // namespace sibyl::test
