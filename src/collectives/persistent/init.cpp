// Makes persistent collectives from their arguments; see init.hpp.
//
// Arguments are checked before the ranks agree, so that what is wrong at one rank is refused at all
// of them: a request that only some had could never be complete. A communicator that Sibyl does not
// serve has the MPI library's nonblocking collectives behind its requests, and the library's
// checks.
#include "collectives/persistent/init.hpp"

#include <limits>
#include <memory>
#include <new>

#include "base/own_failure.hpp"
#include "collectives/operators.hpp"
#include "collectives/persistent/native.hpp"
#include "collectives/persistent/terms.hpp"

namespace sibyl {
namespace {

// The program may free its datatype while the request lives.
int keep_type(DatatypeInfo& info, PersistentCall& call) {
  if (info.named || info.handle == MPI_DATATYPE_NULL) return MPI_SUCCESS;
  MPI_Datatype kept = MPI_DATATYPE_NULL;
  const int error = PMPI_Type_dup(info.handle, &kept);
  if (error != MPI_SUCCESS) return error;
  call.types.push_back(kept);
  info.handle = kept;
  return MPI_SUCCESS;
}

// The same for a type that is only handed on to the MPI library.
MPI_Datatype kept_type(MPI_Datatype type, bool significant, PersistentCall& call) {
  if (!significant || type == MPI_DATATYPE_NULL) return type;
  DatatypeInfo info;
  if (inspect(type, info) != MPI_SUCCESS) return type;
  keep_type(info, call);
  return info.handle;
}

void free_types(PersistentCall& call) {
  for (MPI_Datatype& type : call.types) PMPI_Type_free(&type);
  call.types.clear();
}

// A communicator for the library's collectives of one request. Collective.
int make_native(CommunicatorState& state, MPI_Comm comm, NativeForm native, PersistentCall& call) {
  const MPI_Comm parent = state.private_comm() != MPI_COMM_NULL ? state.private_comm() : comm;
  const int error = PMPI_Comm_dup(parent, &call.native_comm);
  if (error != MPI_SUCCESS) return error;
  PMPI_Comm_set_errhandler(call.native_comm, MPI_ERRORS_RETURN);
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  // What is significant here is kept alive; on an intercommunicator the program keeps its types.
  if (!state.between_groups()) {
    const bool at_root = rank == native.root;
    const bool all_send = !scatters(native.collective) || at_root;
    const bool own_in_place = native.send == MPI_IN_PLACE;
    native.send_type = kept_type(native.send_type,
                                 all_send && !(own_in_place && gathers(native.collective)), call);
    const bool receives = has_root(native.collective) && !combines(native.collective) &&
                          (scatters(native.collective) || at_root) &&
                          native.receive != MPI_IN_PLACE;
    native.receive_type = kept_type(native.receive_type, receives, call);
  }
  call.native = [native = std::move(native)](MPI_Comm on, MPI_Request* request) {
    return native.begin(on, request);
  };
  return MPI_SUCCESS;
}

// The frame of all: `check` looks at the arguments, `place` fills in the executor's call once the
// ranks have agreed.
template <class Check, class Place>
int init(Collective collective, int root, MPI_Comm comm, MPI_Info info, NativeForm native,
         PersistentRequest** request, Check check, Place place) try {
  *request = nullptr;
  if (comm == MPI_COMM_NULL) return raise_nowhere(MPI_ERR_COMM);
  CommunicatorState* state = CommunicatorState::get(comm);
  if (state == nullptr) return raise(comm, MPI_ERR_INTERN);
  PersistentCall call;
  call.collective = collective;
  call.root = root;
  const bool served = state->serves(comm, true);
  if (state->refused()) return raise_refusal(comm, *state);
  int error = MPI_SUCCESS;
  if (served) {
    PersistentOffer offer;
    offer.wrong = check(*state, offer, call);
    error = agree_on_persistent(*state, info, offer, call);
    if (error != MPI_SUCCESS) return raise(comm, error);
    if (call.served_by == PersistentCall::ServedBy::program) error = place(*state, call);
  }
  if (error == MPI_SUCCESS && call.served_by == PersistentCall::ServedBy::library) {
    error = make_native(*state, comm, std::move(native), call);
  }
  if (error != MPI_SUCCESS) {
    free_types(call);
    if (call.home != nullptr) call.home->tags.give_back(call.first_block, call.blocks_taken);
    return raise_class(comm, error);
  }
  *request = std::make_unique<PersistentRequest>(*state, std::move(call)).release();
  return MPI_SUCCESS;
} catch (const std::bad_alloc& failure) {
  if (!is_own(failure)) throw;
  return raise(comm, MPI_ERR_NO_MEM);
}

// Whether a reduction may go by a program; the same on all ranks.
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

}  // namespace

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
  native.copy_arrays(all.counts, all.displacements, comm);
  const std::vector<MPI_Count> counts = native.counts;
  const std::vector<MPI_Aint> displacements = native.displacements;
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
        call.counts = counts;
        call.displacements = displacements;
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
        call.in_place = now.send == MPI_IN_PLACE;
        UserBuffer buffer;
        buffer.count = now.count;
        buffer.type = type;
        buffer.base = static_cast<char*>(call.in_place ? now.receive : const_cast<void*>(now.send));
        call.call.send = buffer;
        buffer.base = state.rank() == root ? static_cast<char*>(now.receive) : nullptr;
        call.call.receive = buffer;
        call.call.block_bytes = call.bytes;
        call.call.op = now.op;
        return error;
      });
}

int init_exscan(Caller caller, const ReductionArguments& now, MPI_Comm comm, MPI_Info info,
                PersistentRequest** request) {
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
        call.in_place = now.send == MPI_IN_PLACE;
        UserBuffer& receive = call.call.receive;
        receive.base = static_cast<char*>(now.receive);
        receive.count = now.count;
        receive.type = type;
        call.call.send = receive;
        if (!call.in_place) {
          call.call.send.base = static_cast<char*>(const_cast<void*>(now.send));
        }
        call.call.block_bytes = call.bytes;
        call.call.op = now.op;
        return error;
      });
}

}  // namespace sibyl
