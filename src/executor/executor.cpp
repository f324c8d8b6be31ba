// Chooses the engine and cuts blocks whose datatype cannot be cut; see executor.hpp.
#include "executor/executor.hpp"

#include <new>

#include "executor/engines.hpp"

namespace sibyl {
namespace {

// Above these sizes posting receives ahead pays (bytes of a block or vector). Vectors go in
// lockstep as far as messages are usually sent eagerly: a round's send is over at once, and the
// rounds of a scan depend on each other (simulated: docs/performance.md).
constexpr std::size_t lockstep_block = 16384;
constexpr std::size_t lockstep_vector = 65536;

bool goes_in_lockstep(const Prepared& prepared, std::size_t bytes) {
  const bool vector = prepared.header.partition == Partition::vector;
  return !prepared.lockstep.empty() && bytes <= (vector ? lockstep_vector : lockstep_block);
}

// A packed copy of the user's blocks, for a program that cuts blocks at a byte offset where the
// datatype has gaps.
class PackedMirror {
 public:
  // Blocks [first, first + count) of `buffer`, which are at `bytes` from now on.
  void open(UserBuffer& buffer, Rank first, Rank count, std::size_t block_bytes, char* bytes) {
    original_ = buffer;
    first_ = first;
    count_ = count;
    block_bytes_ = block_bytes;
    bytes_ = bytes;
    buffer.base = bytes - static_cast<std::size_t>(first) * block_bytes;
    buffer.stride = static_cast<MPI_Aint>(block_bytes);
    buffer.count = static_cast<MPI_Count>(block_bytes);
    buffer.type = DatatypeInfo{MPI_BYTE, 1, 1, 0, 1, true, true};
  }
  int fill(MPI_Comm comm) { return move(comm, no_rank, true); }
  int empty(MPI_Comm comm, Rank except) { return move(comm, except, false); }

 private:
  int move(MPI_Comm comm, Rank except, bool fill) {
    FirstError error;
    for (Rank block = first_; block < first_ + count_; ++block) {
      if (block == except) continue;
      char* packed = bytes_ + static_cast<std::size_t>(block - first_) * block_bytes_;
      char* user = original_.base + static_cast<MPI_Aint>(block) * original_.stride;
      error.add(fill ? pack(user, original_.count, original_.type, packed, comm)
                     : unpack(packed, user, original_.count, original_.type, comm));
    }
    return error.code();
  }

  UserBuffer original_;
  char* bytes_ = nullptr;
  Rank first_ = 0;
  Rank count_ = 0;
  std::size_t block_bytes_ = 0;
};

int run(const Prepared& prepared, const CollectiveCall& call, Workspace& workspace) {
  const Frame frame(prepared, call, workspace);
  if (!frame.ready()) return MPI_ERR_NO_MEM;
  if (goes_in_lockstep(prepared, call.block_bytes)) {
    return run_lockstep(prepared, call, frame);
  }
  return run_dataflow(prepared, call, frame, workspace);
}

// Gather only: no scatter algorithm cuts blocks.
int run_cut(const Prepared& prepared, const CollectiveCall& call, Workspace& workspace) {
  CollectiveCall cut = call;
  PackedMirror send;
  PackedMirror receive;
  FirstError error;
  int rank = 0;
  PMPI_Comm_rank(call.comm, &rank);
  const bool mirror_send = call.send.type.handle != MPI_DATATYPE_NULL && !prepared.program.in_place;
  const bool mirror_receive = call.receive.type.handle != MPI_DATATYPE_NULL;
  const Rank blocks = (mirror_send ? 1 : 0) + (mirror_receive ? prepared.header.ranks : 0);
  char* room = workspace.mirrors.reserve(static_cast<std::size_t>(blocks) * call.block_bytes);
  if (room == nullptr) return MPI_ERR_NO_MEM;
  if (mirror_send) {
    send.open(cut.send, rank, 1, call.block_bytes, room);
    room += call.block_bytes;
    error.add(send.fill(call.comm));
  }
  if (mirror_receive) {
    receive.open(cut.receive, 0, prepared.header.ranks, call.block_bytes, room);
  }
  error.add(run(prepared, cut, workspace));
  if (mirror_receive) {
    error.add(receive.empty(call.comm, prepared.program.in_place ? rank : no_rank));
  }
  return error.code();
}

}  // namespace

int execute(const Prepared& prepared, const CollectiveCall& call, Workspace& workspace) try {
  const bool cuts = prepared.header.partition == Partition::blocks && prepared.header.segments > 1;
  if (cuts && !(call.send.type.dense && call.receive.type.dense)) {
    return run_cut(prepared, call, workspace);
  }
  return run(prepared, call, workspace);
} catch (const std::bad_alloc&) {
  return MPI_ERR_NO_MEM;
}

}  // namespace sibyl
