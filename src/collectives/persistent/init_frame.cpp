// What all persistent collectives share when they are made; see init_frame.hpp.
#include "collectives/persistent/init_frame.hpp"

#include "collectives/operators.hpp"
#include "communicator/make_private.hpp"
#include "communicator/own_calls.hpp"

namespace sibyl {

int keep_type(DatatypeInfo& info, PersistentCall& call) {
  if (info.named || info.handle == MPI_DATATYPE_NULL) return MPI_SUCCESS;
  return call.types.keep(info.handle);
}

namespace {

// A type that is only handed on to the MPI library.
MPI_Datatype kept_type(MPI_Datatype type, bool significant, PersistentCall& call) {
  if (!significant || type == MPI_DATATYPE_NULL) return type;
  DatatypeInfo info;
  if (inspect(type, info) != MPI_SUCCESS) return type;
  keep_type(info, call);
  return info.handle;
}

}  // namespace

void keep_native(CommunicatorState& state, MPI_Comm comm, NativeForm native, PersistentCall& call) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  // What is significant here is kept alive. Between two groups one rank of one is the root, and
  // its own group has no leaves.
  const Collective collective = native.collective;
  const bool moves_blocks = !combines(collective) && collective != Collective::bcast;
  const bool between = state.between_groups();
  const bool at_root = between ? native.root == MPI_ROOT : rank == native.root;
  const bool is_leaf = !between || !has_root(collective) || native.root >= 0;
  const bool gives = is_leaf || (at_root && !gathers(collective));
  const bool sends =
      (scatters(collective) ? at_root : gives) && !(moves_blocks && native.send == MPI_IN_PLACE);
  native.send_type = kept_type(native.send_type, sends, call);
  const bool receives =
      moves_blocks && (gathers(collective) ? at_root : is_leaf) && native.receive != MPI_IN_PLACE;
  native.receive_type = kept_type(native.receive_type, receives, call);
  call.native = [native = std::move(native)](MPI_Comm on, MPI_Request* request) {
    return native.begin(on, request);
  };
}

KeptArrays keep_arrays(Counts counts, Displacements displacements, MPI_Comm comm,
                       NativeForm& native) {
  KeptArrays kept;
  native.is_whole = guarded(
      [&] {
        native.copy_arrays(counts, displacements, comm);
        kept = {native.counts, native.displacements};
        return true;
      },
      false);
  return kept;
}

int succeeded_everywhere(CommunicatorState& state, MPI_Comm comm, int own) {
  if (state.between_groups()) return own;
  const MPI_Comm parent = state.private_comm() != MPI_COMM_NULL ? state.private_comm() : comm;
  const ReturnErrors quiet(parent);
  const OwnCalls calls;
  const int here = own == MPI_SUCCESS ? 1 : 0;
  int everywhere = 0;
  const int error = PMPI_Allreduce(&here, &everywhere, 1, MPI_INT, MPI_MIN, parent);
  if (own != MPI_SUCCESS || error != MPI_SUCCESS) return own != MPI_SUCCESS ? own : error;
  return everywhere != 0 ? MPI_SUCCESS : MPI_ERR_OTHER;
}

int take_host_copies(CommunicatorState& state, PersistentCall& call, NativeForm& native) {
  const CallShape shape{call.collective, state.rank(), state.size(), call.root};
  if (!HostCopies::are_needed(shape, call.call)) return MPI_SUCCESS;
  call.host_copies = std::make_unique<HostCopies>();
  const int error = call.host_copies->redirect(shape, call.call, state.private_comm());
  if (error != MPI_SUCCESS) return error;
  const std::ptrdiff_t sent = call.host_copies->shift_of_send();
  const std::ptrdiff_t received = call.host_copies->shift_of_receive();
  call.blocks.base += scatters(call.collective) ? sent : received;
  if (native.send != MPI_IN_PLACE) native.send = static_cast<const char*>(native.send) + sent;
  if (native.receive != MPI_IN_PLACE) {
    const bool is_sent = call.collective == Collective::bcast && state.rank() == call.root;
    native.receive = static_cast<char*>(native.receive) + (is_sent ? sent : received);
  }
  return MPI_SUCCESS;
}

void offer_reduction(CommunicatorState& state, const ReductionArguments& now,
                     const DatatypeInfo& type, PersistentOffer& offer, PersistentCall& call) {
  offer.bytes = static_cast<std::uint64_t>(now.count) * type.size;
  call.elements = static_cast<std::uint64_t>(now.count);
  const std::optional<OperatorUse> use = operator_use(state, now.op, now.datatype, type.named);
  offer.eligible = use.has_value() && programs_combine(state, call.collective, now.count, type);
  if (!offer.eligible) return;
  offer.use = *use;
  offer.commutes = commutes(now.op, *use);
}

}  // namespace sibyl
