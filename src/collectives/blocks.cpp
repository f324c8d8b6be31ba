// MPI_Gather and MPI_Scatter.
//
// The two mirror each other: the root holds the blocks of all ranks, every rank holds its own. The
// choice goes by the bytes of a block, which are equal on all ranks although counts and types may
// differ. Arguments that are not significant at a rank may be garbage and are not read.
#include "collectives/call.hpp"
#include "collectives/native.hpp"

namespace sibyl {
namespace {

// One side of the call.
struct Side {
  void* buffer;
  MPI_Count count;
  MPI_Datatype type;
};

UserBuffer buffer_of(const Side& side, const DatatypeInfo& type) {
  UserBuffer out;
  out.base = static_cast<char*>(side.buffer);
  out.count = side.count;
  out.type = type;
  out.stride = static_cast<MPI_Aint>(side.count) * type.extent;
  return out;
}

// A root whose own two sides differ in size makes an error; its block then travels apart from the
// program, so that the other ranks are served all the same.
int move_own_block(Collective collective, const Side& all, const DatatypeInfo& all_type,
                   const Side& own, const DatatypeInfo& own_type, int root, int tag,
                   MPI_Comm comm) {
  const bool fits = static_cast<std::size_t>(own.count) * own_type.size <
                    static_cast<std::size_t>(all.count) * all_type.size;
  if (fits != (collective == Collective::gather)) return MPI_ERR_TRUNCATE;
  Side place = all;
  place.buffer = static_cast<char*>(all.buffer) +
                 static_cast<MPI_Aint>(root) * static_cast<MPI_Aint>(all.count) * all_type.extent;
  const Side& from = collective == Collective::gather ? own : place;
  const Side& to = collective == Collective::gather ? place : own;
  return PMPI_Sendrecv(from.buffer, static_cast<int>(from.count), from.type, root, tag, to.buffer,
                       static_cast<int>(to.count), to.type, root, tag, comm, MPI_STATUS_IGNORE);
}

// `all` is the root's side of the blocks of all ranks, `own` the side of this rank's block.
template <class Native>
int serve(Collective collective, Caller caller, const Side& all, const Side& own, int root,
          MPI_Comm comm, Native go_native) {
  if (comm == MPI_COMM_NULL) return go_native();
  CommunicatorState* state = CommunicatorState::get(comm);
  if (state == nullptr) return go_native();
  CountedCall counted(*state, collective, root);
  if (!state->serves(comm, !caller.preload)) {
    if (state->refused() && !caller.preload) return raise_refusal(comm, *state);
    const Side& mine = state->rank() == root && own.buffer == MPI_IN_PLACE ? all : own;
    return counted.end_native(mine.count, mine.type, go_native());
  }

  CollectiveCall call;
  call.tag_base = state->take_tags();
  if (root < 0 || root >= state->size()) return raise(comm, MPI_ERR_ROOT);
  const bool is_root = state->rank() == root;
  bool in_place = is_root && own.buffer == MPI_IN_PLACE;
  if (!is_root && own.buffer == MPI_IN_PLACE) return raise(comm, MPI_ERR_BUFFER);
  if (is_root && all.buffer == MPI_IN_PLACE) return raise(comm, MPI_ERR_BUFFER);
  DatatypeInfo all_type;
  DatatypeInfo own_type;
  if (is_root) {
    const int wrong = check_data(all.buffer, all.count, all.type);
    if (wrong != MPI_SUCCESS) return raise(comm, wrong);
    if (state->type_info(all.type, 0, all_type) != MPI_SUCCESS) return raise(comm, MPI_ERR_TYPE);
    call.block_bytes = static_cast<std::size_t>(all.count) * all_type.size;
  }
  if (!in_place) {
    const int wrong = check_data(own.buffer, own.count, own.type);
    if (wrong != MPI_SUCCESS) return raise(comm, wrong);
    if (state->type_info(own.type, 1, own_type) != MPI_SUCCESS) return raise(comm, MPI_ERR_TYPE);
    if (!is_root) call.block_bytes = static_cast<std::size_t>(own.count) * own_type.size;
  }
  if (call.block_bytes == 0) return counted.end(nullptr, 0, MPI_SUCCESS);
  const Algorithm* algorithm = choose_for(*state, collective, call.block_bytes, OperatorUse::none);
  if (algorithm == nullptr) return counted.end(nullptr, call.block_bytes, go_native());

  int own_error = MPI_SUCCESS;
  if (is_root && !in_place &&
      static_cast<std::size_t>(own.count) * own_type.size != call.block_bytes) {
    own_error = move_own_block(collective, all, all_type, own, own_type, root, call.tag_base,
                               state->private_comm());
    in_place = true;
  }

  UserBuffer& root_side = collective == Collective::gather ? call.receive : call.send;
  UserBuffer& own_side = collective == Collective::gather ? call.send : call.receive;
  if (is_root) root_side = buffer_of(all, all_type);
  if (!in_place) {
    own_side = buffer_of(own, own_type);
    own_side.base -= static_cast<MPI_Aint>(state->rank()) * own_side.stride;
  }
  const std::size_t first = state->settings().first_segment;
  call.first_segment = first < call.block_bytes ? first : call.block_bytes;
  return counted.end(algorithm, call.block_bytes,
                     run_program(*state, *algorithm, root, in_place, call, comm, own_error));
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
