// One call of an algorithm on data of which every word is known, run by any engine: what the tests
// of the engines are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "executor/executor.hpp"
#include "support/mpi_test.hpp"

namespace sibyl::test {

// `usual` is what execute() takes; `pieces` is a run that starts before its rank arrives.
enum class Engine { lockstep, dataflow, pieces, usual };

struct TrialOptions {
  Rank root = 0;
  // Elements of the vector, or of a block. Blocks of any sizes have about as many, some none.
  std::int64_t count = 0;
  // As MPI allows it: at some ranks in sums for all and in scans, everywhere in exchanges, at the
  // root of a gather, scatter or reduce.
  bool in_place = false;
  // Elements with a gap behind each; in what is only moved on one side, which one differs from rank
  // to rank.
  bool gaps = false;
  bool background = false;
  std::uint32_t segments = 7;  // where an algorithm cuts
  NodeWindow* window = nullptr;
  Piggyback* piggyback = nullptr;  // this rank's record
};

class Trial {
 public:
  Trial(const Algorithm& algorithm, const TrialOptions& options, MPI_Comm comm);
  ~Trial();
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  bool has_lockstep() const { return !prepared_.lockstep.empty(); }
  const Prepared& prepared() const { return prepared_; }
  // Tags of one run.
  int tags() const { return static_cast<int>(prepared_.header.tag_span); }
  std::string text() const;
  // Messages that a run sends to ranks which its window reaches.
  std::size_t sends_by_window(Workspace& workspace) const;

  // Returns the error of the run.
  int run(Engine engine, int tag_base, Workspace& workspace);
  // Every word of both buffers is as it must be.
  bool right() const { return send_.words == sent_ && receive_.words == expected_; }

 private:
  // A buffer of the call: blocks of `counts` elements that begin at `places`, or one vector.
  struct Side {
    std::vector<MPI_Count> counts;
    std::vector<MPI_Aint> places;
    MPI_Count total = 0;
    DatatypeInfo type;
    std::size_t width = 1;   // words from one element to the next
    std::size_t offset = 0;  // of the one word in them that is data
    std::vector<std::int64_t> words;
    IrregularBlocks blocks;
  };
  struct Input {
    std::size_t at;
    std::int64_t value;
  };

  MPI_Count block_count(Rank from, Rank to) const;
  std::vector<MPI_Count> counts_of_rows(bool received) const;
  std::vector<MPI_Count> sent_counts() const;
  std::vector<MPI_Count> received_counts() const;
  void lay_out(Side& side, std::vector<MPI_Count> counts, bool gaps) const;
  void fill();
  void expect();
  void bind();
  UserBuffer buffer_of(Side& side) const;
  std::int64_t sum(Rank end, std::int64_t block, MPI_Count i) const;
  std::int64_t result(std::int64_t block, MPI_Count i) const;
  Rank summands() const;
  Side& input() { return in_place_ ? receive_ : send_; }
  int run_in_pieces(Workspace& workspace);

  const Algorithm& algorithm_;
  Collective collective_;
  TrialOptions options_;
  Rank rank_;
  Rank size_;
  bool in_place_;   // at this rank
  bool irregular_;  // blocks of any sizes
  MPI_Datatype gapped_ = MPI_DATATYPE_NULL;
  MPI_Op op_ = MPI_OP_NULL;
  Prepared prepared_;
  CollectiveCall call_;
  std::vector<MPI_Count> begins_;
  Side send_;
  Side receive_;
  std::vector<Input> inputs_;           // what is significant once the rank has arrived
  std::vector<std::int64_t> sent_;      // what `send_` must still hold
  std::vector<std::int64_t> initial_;   // of `receive_`, with the input where it lies there
  std::vector<std::int64_t> expected_;  // of `receive_`
};

}  // namespace sibyl::test
