// Persistent collectives with a root, and exscan; see init.hpp.
#include "collectives/persistent/init_frame.hpp"

namespace sibyl {

int init_blocks(Caller caller, Collective collective, const BlockArguments& now, MPI_Comm comm,
                MPI_Info info, PersistentRequest** request) {
  CheckedBlocks checked;
  NativeForm native{.caller = caller, .collective = collective, .root = now.root};
  const BlockSide& from = collective == Collective::gather ? now.own : now.all;
  const BlockSide& to = collective == Collective::gather ? now.all : now.own;
  native.send = from.buffer;
  native.send_count = from.count;
  native.send_type = from.type;
  native.receive = to.buffer;
  native.receive_count = to.count;
  native.receive_type = to.type;
  return init(
      collective, now.root, comm, info, std::move(native), request,
      [&](CommunicatorState& state, PersistentOffer& offer, PersistentCall&) -> int {
        int wrong = judge_blocks(now, state.rank(), state.size()).error_class;
        if (wrong == MPI_SUCCESS) wrong = check_blocks(state, now, checked);
        offer.bytes = checked.block_bytes;
        offer.dense = checked.all_type.dense && checked.own_type.dense;
        if (wrong == MPI_SUCCESS && !checked.own_block_fits(now)) return MPI_ERR_TRUNCATE;
        return wrong;
      },
      [&](CommunicatorState& state, PersistentCall& call) -> int {
        int error = keep_type(checked.all_type, call);
        if (error == MPI_SUCCESS) error = keep_type(checked.own_type, call);
        call.in_place = checked.in_place;
        place_blocks(state, collective, now, checked, checked.in_place, call.call);
        return error;
      });
}

int init_irregular(Caller caller, Collective collective, const IrregularSide& all,
                   const BlockSide& own, int root, MPI_Comm comm, MPI_Info info,
                   PersistentRequest** request) {
  NativeForm native{.caller = caller, .collective = collective, .root = root};
  const bool up = gathers(collective);
  native.send = up ? own.buffer : all.buffer;
  native.receive = up ? all.buffer : own.buffer;
  (up ? native.send_count : native.receive_count) = own.count;
  native.send_type = up ? own.type : all.type;
  native.receive_type = up ? all.type : own.type;
  const KeptArrays arrays = keep_arrays(all.counts, all.displacements, comm, native);
  UserBuffer own_buffer;
  return init(
      collective, root, comm, info, std::move(native), request,
      [&](CommunicatorState& state, PersistentOffer&, PersistentCall& call) -> int {
        int wrong = judge_irregular(all, own, root, state.rank(), state.size()).error_class;
        const bool is_root = state.rank() == root;
        call.in_place = is_root && own.buffer == MPI_IN_PLACE;
        if (wrong == MPI_SUCCESS && is_root) wrong = read_root_side(state, all, call.blocks);
        if (wrong == MPI_SUCCESS && !call.in_place) wrong = read_own_side(state, own, own_buffer);
        if (wrong != MPI_SUCCESS) return wrong;
        const MPI_Count elements = call.in_place ? call.blocks.counts[root] : own_buffer.count;
        const DatatypeInfo& type = call.in_place ? call.blocks.type : own_buffer.type;
        call.bytes = static_cast<std::uint64_t>(elements) * type.size;
        return MPI_SUCCESS;
      },
      [&](CommunicatorState& state, PersistentCall& call) -> int {
        const bool is_root = state.rank() == root;
        int error = keep_type(call.blocks.type, call);
        if (error == MPI_SUCCESS) error = keep_type(own_buffer.type, call);
        call.counts = arrays.counts;
        call.displacements = arrays.displacements;
        place_irregular_blocks(collective, state.rank(), state.size(), is_root, own_buffer,
                               call.blocks, call.call);
        return error;
      });
}

int init_reduce(Caller caller, const ReductionArguments& now, int root, MPI_Comm comm,
                MPI_Info info, PersistentRequest** request) {
  NativeForm native{.caller = caller,
                    .collective = Collective::reduce,
                    .send = now.send,
                    .send_count = now.count,
                    .send_type = now.datatype,
                    .receive = now.receive,
                    .op = now.op,
                    .root = root};
  DatatypeInfo type;
  return init(
      Collective::reduce, root, comm, info, std::move(native), request,
      [&](CommunicatorState& state, PersistentOffer& offer, PersistentCall& call) -> int {
        const int wrong = judge_reduce(now, root, state.rank(), state.size()).error_class;
        if (wrong != MPI_SUCCESS) return wrong;
        if (state.type_info(now.datatype, 0, type) != MPI_SUCCESS) return MPI_ERR_TYPE;
        offer_reduction(state, now, type, offer, call);
        return MPI_SUCCESS;
      },
      [&](CommunicatorState& state, PersistentCall& call) -> int {
        const int error = keep_type(type, call);
        const bool is_root = state.rank() == root;
        call.in_place = is_root && is_in_place(now);
        place_vectors(now, type, call.in_place, is_root, call.call);
        call.call.block_bytes = call.bytes;
        return error;
      });
}

int init_exscan(Caller caller, ReductionArguments now, MPI_Comm comm, MPI_Info info,
                PersistentRequest** request) {
  now.receive = receive_buffer_of_exscan(now.send, now.receive, comm);
  NativeForm native{.caller = caller,
                    .collective = Collective::exscan,
                    .send = now.send,
                    .send_count = now.count,
                    .send_type = now.datatype,
                    .receive = now.receive,
                    .op = now.op};
  DatatypeInfo type;
  return init(
      Collective::exscan, 0, comm, info, std::move(native), request,
      [&](CommunicatorState& state, PersistentOffer& offer, PersistentCall& call) -> int {
        const int wrong = judge_scan(now, true, state.rank()).error_class;
        if (wrong != MPI_SUCCESS) return wrong;
        if (state.type_info(now.datatype, 0, type) != MPI_SUCCESS) return MPI_ERR_TYPE;
        offer_reduction(state, now, type, offer, call);
        return MPI_SUCCESS;
      },
      [&](CommunicatorState&, PersistentCall& call) -> int {
        const int error = keep_type(type, call);
        call.in_place = is_in_place(now);
        place_vectors(now, type, call.in_place, true, call.call);
        call.call.block_bytes = call.bytes;
        return error;
      });
}

}  // namespace sibyl
