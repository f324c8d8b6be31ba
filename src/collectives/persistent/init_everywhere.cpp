// Persistent collectives whose results go to all ranks; see init.hpp.
//
// In the background a rank that comes late finds in its buffer what the others have sent: receives
// are open from the start of the computation wherever the buffer is not the input too.
#include "collectives/persistent/init_frame.hpp"

namespace sibyl {

int init_allreduce(Caller caller, const ReductionArguments& now, MPI_Comm comm, MPI_Info info,
                   PersistentRequest** request) {
  NativeForm native{.caller = caller,
                    .collective = Collective::allreduce,
                    .send = now.send,
                    .send_count = now.count,
                    .send_type = now.datatype,
                    .receive = now.receive,
                    .op = now.op};
  DatatypeInfo type;
  return init(
      Collective::allreduce, 0, comm, info, std::move(native), request,
      [&](CommunicatorState& state, PersistentOffer& offer, PersistentCall& call) -> int {
        const int wrong = judge_allreduce(now, state.rank()).error_class;
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

int init_bcast(Caller caller, const BlockSide& vector, int root, MPI_Comm comm, MPI_Info info,
               PersistentRequest** request) {
  NativeForm native{.caller = caller,
                    .collective = Collective::bcast,
                    .send_count = vector.count,
                    .send_type = vector.type,
                    .receive = vector.buffer,
                    .root = root};
  DatatypeInfo type;
  return init(
      Collective::bcast, root, comm, info, std::move(native), request,
      [&](CommunicatorState& state, PersistentOffer& offer, PersistentCall& call) -> int {
        const int wrong = judge_vector(vector, root, state.size()).error_class;
        if (wrong != MPI_SUCCESS) return wrong;
        if (state.type_info(vector.type, 0, type) != MPI_SUCCESS) return MPI_ERR_TYPE;
        offer.bytes = static_cast<std::uint64_t>(vector.count) * type.size;
        call.elements = offer.bytes;  // it is cut between bytes
        return MPI_SUCCESS;
      },
      [&](CommunicatorState& state, PersistentCall& call) -> int {
        const int error = keep_type(type, call);
        UserBuffer buffer;
        buffer.base = static_cast<char*>(vector.buffer);
        buffer.count = vector.count;
        buffer.type = type;
        (state.rank() == root ? call.call.send : call.call.receive) = buffer;
        call.call.block_bytes = call.bytes;
        return error;
      });
}

int init_exchange(Caller caller, const ExchangeArguments& now, MPI_Comm comm, MPI_Info info,
                  PersistentRequest** request) {
  const Collective collective = now.collective;
  NativeForm native{.caller = caller,
                    .collective = collective,
                    .send = now.send.buffer,
                    .send_count = now.send.count,
                    .send_type = now.send.type,
                    .receive = now.receive.buffer,
                    .receive_count = now.receive.count,
                    .receive_type = now.receive.type};
  const KeptArrays arrays =
      keep_arrays(now.receive.counts, now.receive.displacements, comm, native);
  ReadExchange read;
  return init(
      collective, 0, comm, info, std::move(native), request,
      [&](CommunicatorState& state, PersistentOffer& offer, PersistentCall& call) -> int {
        const int wrong = judge_exchange(now, state.rank(), state.size()).error_class;
        if (wrong != MPI_SUCCESS) return wrong;
        if (const int unread = read.read(state, now); unread != MPI_SUCCESS) return unread;
        call.in_place = now.in_place();
        offer.bytes = read.received_bytes();
        if (now.irregular()) {
          offer.largest = read.largest_block();
        } else {
          offer.bytes /= static_cast<std::uint64_t>(state.size());
        }
        call.elements = offer.bytes;
        return MPI_SUCCESS;
      },
      [&](CommunicatorState& state, PersistentCall& call) -> int {
        read.place(state, call.call);
        int error = keep_type(call.call.receive.type, call);
        if (call.in_place) {
          call.call.send.type = call.call.receive.type;
        } else if (error == MPI_SUCCESS) {
          error = keep_type(call.call.send.type, call);
        }
        call.call.leaves_empty_out = now.irregular();
        if (!now.irregular()) return error;
        call.counts = arrays.counts;
        call.displacements = arrays.displacements;
        call.blocks.base = static_cast<char*>(now.receive.buffer);
        call.blocks.type = call.call.receive.type;
        return error;
      });
}

}  // namespace sibyl
