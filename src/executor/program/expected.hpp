// Messages that a run expects, and when their receives are posted.
//
// MPICH raises what it finds when it completes a request - a message too large for its buffer - on
// MPI_COMM_WORLD or MPI_COMM_SELF, whichever function asks (up to 4.3 all of them: MPI_Wait, its
// relatives, MPI_Request_get_status; 5.0 those for several requests). There it would reach a
// handler of the user's that is not concerned, or end the job. What a call finds that names the
// communicator, as MPI_Recv does, is raised there. So under MPICH a receive is posted when its
// message is there and known to fit; one that does not fit is taken by MPI_Recv, on the private
// communicator, which returns its errors. A message that is looked for moves as one whose receive
// was posted does: MPICH too moves messages only inside its calls.
//
// Open MPI raises on the request's communicator: receives are posted at once.
//
// Thread safety: none; a run has its own.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "executor/datatype.hpp"
#include "sibyl/schedule.hpp"

namespace sibyl {

#if defined(OPEN_MPI) || defined(SMPI_H)
inline constexpr bool posts_receives_at_once = true;
#else  // MPICH, or any library with the standard's interface: right with all of them
inline constexpr bool posts_receives_at_once = false;
#endif

struct ExpectedMessage {
  std::uint32_t key = 0;  // the owner's name for it; of several from one rank the least comes first
  Rank peer = no_rank;
  int tag = 0;
};

class ExpectedMessages {
 public:
  // For a run among so many ranks. Room for `most` messages.
  void begin(Rank ranks, std::size_t most);
  void forget() { messages_.clear(); }
  bool empty() const { return messages_.empty(); }
  std::size_t size() const { return messages_.size(); }
  // No two messages have the same peer and tag.
  void add(const ExpectedMessage& message);
  // Takes the only one out, to be received without a look.
  ExpectedMessage take_only();
  // Takes one from this rank out, which will not come; false if none is expected.
  bool take_from(Rank peer);

  // Every look begins with this one; then find() until it finds nothing.
  void begin_look();
  // Takes out one that is there; its size in bytes. Returns an error code: then nothing is found.
  int find(MPI_Comm comm, bool& is_found, ExpectedMessage& message, MPI_Count& bytes);
  // Between two looks: others get the processor where many have found nothing.
  void pause() const;

 private:
  using Place = std::vector<ExpectedMessage>::iterator;
  Place place_of(const MPI_Status& status);  // the end: it is not expected
  void found(Place place, MPI_Status& status, ExpectedMessage& message, MPI_Count& bytes);
  int find_hidden(MPI_Comm comm, bool& is_found, ExpectedMessage& message, MPI_Count& bytes);
  int look(MPI_Comm comm, int source, int tag, bool& there, MPI_Status& status);
  bool known_silent(int tag) const;

  std::vector<ExpectedMessage> messages_;  // by key
  std::vector<std::uint32_t> silent_in_;   // the last look that found nothing, by rank
  std::vector<int> silent_tags_;
  std::uint32_t look_ = 0;
  std::uint32_t fruitless_ = 0;  // looks in a row that found nothing
};

// Whether a message of so many bytes fits into `count` elements.
bool fits(MPI_Count bytes, MPI_Count count, MPI_Datatype type);

}  // namespace sibyl
