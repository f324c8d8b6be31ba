// MPI_Gather and MPI_Scatter.
//
// The two mirror each other: the root holds the blocks of all ranks, every rank holds its own. The
// choice goes by the bytes of a block, which are equal on all ranks although counts and types may
// differ. Arguments that are not significant at a rank may be garbage and are not read.
#include "collectives/block_arguments.hpp"
#include "collectives/call.hpp"
#include "collectives/native.hpp"
#include "collectives/predicted.hpp"

namespace sibyl {
namespace {

// A root whose own two sides differ in size makes an error; its block then travels apart from the
// program, so that the other ranks are served all the same.
int move_own_block(Collective collective, const BlockSide& all, const DatatypeInfo& all_type,
                   const BlockSide& own, const DatatypeInfo& own_type, int root, int tag,
                   MPI_Comm comm) {
  const bool fits = static_cast<std::size_t>(own.count) * own_type.size <
                    static_cast<std::size_t>(all.count) * all_type.size;
  if (fits != (collective == Collective::gather)) return MPI_ERR_TRUNCATE;
  BlockSide place = all;
  place.buffer = static_cast<char*>(all.buffer) +
                 static_cast<MPI_Aint>(root) * static_cast<MPI_Aint>(all.count) * all_type.extent;
  const BlockSide& from = collective == Collective::gather ? own : place;
  const BlockSide& to = collective == Collective::gather ? place : own;
  return PMPI_Sendrecv(from.buffer, static_cast<int>(from.count), from.type, root, tag, to.buffer,
                       static_cast<int>(to.count), to.type, root, tag, comm, MPI_STATUS_IGNORE);
}

// `all` is the root's side of the blocks of all ranks, `own` the side of this rank's block.
template <class Native>
int serve(Collective collective, Caller caller, const BlockSide& all, const BlockSide& own,
          int root, MPI_Comm comm, Native go_native) {
  if (comm == MPI_COMM_NULL) return go_native();
  CommunicatorState* state = CommunicatorState::get(comm);
  if (state == nullptr) return go_native();
  CountedCall counted(*state, collective, root);
  if (!state->serves(comm, !caller.preload)) {
    if (state->refused() && !caller.preload) return raise_refusal(comm, *state);
    const BlockSide& mine = state->rank() == root && own.buffer == MPI_IN_PLACE ? all : own;
    return counted.end_native(mine.count, mine.type, go_native());
  }

  CollectiveCall call;
  call.tag_base = state->take_tags();
  PredictedCall predicted(*state);
  const BlockArguments now{all, own, root};
  CheckedBlocks checked;
  const int wrong = check_blocks(*state, now, checked);
  if (wrong != MPI_SUCCESS) return raise(comm, wrong);
  bool in_place = checked.in_place;
  call.block_bytes = checked.block_bytes;
  if (call.block_bytes == 0) return counted.end(nullptr, 0, MPI_SUCCESS);
  const Algorithm* algorithm = predicted.choose(
      collective, root, call.block_bytes,
      choose_for(*state, collective, call.block_bytes, OperatorUse::none).algorithm, counted);
  if (algorithm == nullptr) return counted.end(nullptr, call.block_bytes, go_native());

  int own_error = MPI_SUCCESS;
  if (!checked.own_block_fits(now)) {
    own_error = move_own_block(collective, all, checked.all_type, own, checked.own_type, root,
                               call.tag_base, state->private_comm());
    in_place = true;
  }
  place_blocks(*state, collective, now, checked, in_place, call);
  return counted.end(algorithm, call.block_bytes,
                     predicted.run(*algorithm, root, in_place, call, comm, own_error));
}

}  // namespace

int serve_gather(Caller caller, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                 void* receive, MPI_Count receive_count, MPI_Datatype receive_type, int root,
                 MPI_Comm comm) {
  return serve(Collective::gather, caller, {receive, receive_count, receive_type},
               {const_cast<void*>(send), send_count, send_type}, root, comm, [&] {
                 return native_gather(caller, send, send_count, send_type, receive, receive_count,
                                      receive_type, root, comm);
               });
}

int serve_scatter(Caller caller, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                  void* receive, MPI_Count receive_count, MPI_Datatype receive_type, int root,
                  MPI_Comm comm) {
  return serve(Collective::scatter, caller, {const_cast<void*>(send), send_count, send_type},
               {receive, receive_count, receive_type}, root, comm, [&] {
                 return native_scatter(caller, send, send_count, send_type, receive, receive_count,
                                       receive_type, root, comm);
               });
}

}  // namespace sibyl
