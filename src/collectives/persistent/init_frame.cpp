// What all persistent collectives share when they are made; see init_frame.hpp.
#include "collectives/persistent/init_frame.hpp"

#include <limits>

#include "collectives/operators.hpp"

namespace sibyl {

int keep_type(DatatypeInfo& info, PersistentCall& call) {
  if (info.named || info.handle == MPI_DATATYPE_NULL) return MPI_SUCCESS;
  MPI_Datatype kept = MPI_DATATYPE_NULL;
  const int error = PMPI_Type_dup(info.handle, &kept);
  if (error != MPI_SUCCESS) return error;
  call.types.push_back(kept);
  info.handle = kept;
  return MPI_SUCCESS;
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

void free_types(PersistentCall& call) {
  for (MPI_Datatype& type : call.types) PMPI_Type_free(&type);
  call.types.clear();
}

int make_native(CommunicatorState& state, MPI_Comm comm, NativeForm native, PersistentCall& call) {
  const MPI_Comm parent = state.private_comm() != MPI_COMM_NULL ? state.private_comm() : comm;
  const int error = PMPI_Comm_dup(parent, &call.native_comm);
  if (error != MPI_SUCCESS) return error;
  PMPI_Comm_set_errhandler(call.native_comm, MPI_ERRORS_RETURN);
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  // What is significant here is kept alive; on an intercommunicator the program keeps its types.
  if (!state.between_groups()) {
    const Collective collective = native.collective;
    const bool moves_blocks = !combines(collective) && collective != Collective::bcast;
    const bool at_root = rank == native.root;
    const bool sends =
        (!scatters(collective) || at_root) && !(moves_blocks && native.send == MPI_IN_PLACE);
    native.send_type = kept_type(native.send_type, sends, call);
    const bool receives =
        moves_blocks && (!gathers(collective) || at_root) && native.receive != MPI_IN_PLACE;
    native.receive_type = kept_type(native.receive_type, receives, call);
  }
  call.native = [native = std::move(native)](MPI_Comm on, MPI_Request* request) {
    return native.begin(on, request);
  };
  return MPI_SUCCESS;
}

void offer_reduction(CommunicatorState& state, const ReductionArguments& now,
                     const DatatypeInfo& type, PersistentOffer& offer, PersistentCall& call) {
  offer.bytes = static_cast<std::uint64_t>(now.count) * type.size;
  call.elements = static_cast<std::uint64_t>(now.count);
  const std::optional<OperatorUse> use = operator_use(state, now.op, now.datatype, type.named);
  offer.eligible = use.has_value() && state.combines() &&
                   type.size <= static_cast<std::size_t>(std::numeric_limits<int>::max());
  if (!offer.eligible) return;
  offer.use = *use;
  offer.commutes = commutes(now.op, *use);
}

}  // namespace sibyl
