// Binds programs and keeps their mirrors; see execution.hpp.
#include "executor/program/execution.hpp"

namespace sibyl {

bool Execution::needs_mirrors(const Prepared& prepared, const CollectiveCall& call) {
  const bool cuts = prepared.header.segments > 1 && !combines(prepared.header.collective);
  return cuts && !(call.send.type.dense && call.receive.type.dense);
}

int Execution::bind(const Prepared& prepared, const CollectiveCall& call, Workspace& workspace) {
  flow_.reset();
  frame_.reset();
  send_.close();
  receive_.close();
  error_ = {};
  prepared_ = &prepared;
  call_ = call;
  if (needs_mirrors(prepared, call)) {
    const int opened = open_mirrors(workspace);
    if (opened != MPI_SUCCESS) return opened;
  }
  frame_.emplace(prepared, call_, workspace);
  if (!frame_->ready()) return MPI_ERR_NO_MEM;
  flow_.emplace(prepared, call_, *frame_, workspace);
  return MPI_SUCCESS;
}

// What is cut between bytes: a gather's or an allgather's blocks, of which a rank sends its own, or
// a broadcast's vector, as one block.
int Execution::open_mirrors(Workspace& workspace) {
  int rank = 0;
  PMPI_Comm_rank(call_.comm, &rank);
  const Collective collective = prepared_->header.collective;
  const bool vector = prepared_->header.partition == Partition::vector;
  const bool sends_to_all = exchanges_all(collective);
  const Rank own = vector || sends_to_all ? 0 : rank;
  const Rank all = vector ? 1 : prepared_->header.ranks;
  const Rank sent_blocks = sends_to_all ? all : 1;
  const bool sends = call_.send.type.handle != MPI_DATATYPE_NULL && !prepared_->program.in_place;
  const bool receives = call_.receive.type.handle != MPI_DATATYPE_NULL;
  const std::size_t sent = sends ? PackedMirror::bytes_of(call_.send, own, sent_blocks) : 0;
  const std::size_t received = receives ? PackedMirror::bytes_of(call_.receive, 0, all) : 0;
  char* const room = workspace.mirrors.reserve(sent + received);
  if (room == nullptr) return MPI_ERR_NO_MEM;
  if (sends) send_.open(call_.send, own, sent_blocks, room, workspace.mirrored[0]);
  if (receives) receive_.open(call_.receive, 0, all, room + sent, workspace.mirrored[1]);
  return MPI_SUCCESS;
}

// In place the own block of an allgather is sent from where it is to be, and so are all of an
// all-to-all.
void Execution::fill_mirror() {
  if (send_.is_open()) error_.add(send_.fill(call_.comm));
  if (!receive_.is_open() || !prepared_->program.in_place) return;
  int rank = 0;
  PMPI_Comm_rank(call_.comm, &rank);
  const Collective collective = prepared_->header.collective;
  if (gathers_everywhere(collective)) error_.add(receive_.fill(call_.comm, rank));
  if (exchanges_all(collective)) error_.add(receive_.fill(call_.comm));
}

// Whichever piece was the last one: a step of this rank alone may end the program as it arrives.
void Execution::empty_mirror() {
  if (!receive_.is_open() || !flow_->ended()) return;
  int rank = 0;
  PMPI_Comm_rank(call_.comm, &rank);
  error_.add(receive_.empty(call_.comm, prepared_->program.in_place ? rank : no_rank));
  receive_.close();
}

void Execution::start(bool arrived, bool held) {
  if (arrived) fill_mirror();
  flow_->start(arrived, held);
  empty_mirror();
}

void Execution::arrive() {
  fill_mirror();
  flow_->arrive();
  empty_mirror();
}

void Execution::admit(Rank peer) {
  flow_->admit(peer);
  empty_mirror();
}

bool Execution::progress() {
  const bool over = flow_->progress();
  empty_mirror();
  return over;
}

void Execution::finish() {
  flow_->finish();
  empty_mirror();
}

}  // namespace sibyl
