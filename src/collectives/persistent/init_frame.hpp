// The frame of every SIBYL_..._init: arguments, agreement of the ranks, the request.
//
// Arguments are checked before the ranks agree, so that what is wrong at one rank is refused at all
// of them: a request that only some had could never be complete. For the same reason they agree
// again once all have made theirs, for which one may have found no memory. A communicator that
// Sibyl does not serve has the MPI library's nonblocking collectives behind its requests; between
// two groups it has the library's checks, too.
//
// Nothing is raised in here: the program's error handler may jump, and would leave behind what a
// frame holds.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/persistent/init.hpp"
#include "collectives/persistent/native.hpp"
#include "collectives/persistent/terms.hpp"

namespace sibyl {

// The program may free its datatype while the request lives.
int keep_type(DatatypeInfo& info, PersistentCall& call);
// What the library's collective is to be given, whose types are kept. May throw std::bad_alloc.
void keep_native(CommunicatorState& state, MPI_Comm comm, NativeForm native, PersistentCall& call);
// The arrays of blocks of any sizes, which the program may use again at once: for the request, and
// in what the library is to be given, which is not whole where there is no memory for both.
struct KeptArrays {
  std::vector<MPI_Count> counts;
  std::vector<MPI_Aint> displacements;
};
KeptArrays keep_arrays(Counts counts, Displacements displacements, MPI_Comm comm,
                       NativeForm& native);
// Collective over this communicator or the private one: MPI_SUCCESS where it is so on all ranks,
// else this rank's own error, or MPI_ERR_OTHER. Ranks of two groups are not asked.
int succeeded_everywhere(CommunicatorState& state, MPI_Comm comm, int own);
// Where buffers lie in device memory, copies in host memory take their place: in the call, or in
// what the library is given. MPI_SUCCESS, or MPI_ERR_NO_MEM.
int take_host_copies(CommunicatorState& state, PersistentCall& call, NativeForm& native);
// Whether a reduction may go by a program; the same on all ranks.
void offer_reduction(CommunicatorState& state, const ReductionArguments& now,
                     const DatatypeInfo& type, PersistentOffer& offer, PersistentCall& call);

// `check` looks at the arguments, `place` fills in the executor's call once the ranks have agreed.
// Returns an error code that is not raised, but for MPI_ERR_COMM, which MPI has raised where there
// is another handle than MPI_COMM_NULL.
template <class Check, class Place>
int make_request(Collective collective, int root, MPI_Comm comm, MPI_Info info, NativeForm native,
                 PersistentRequest** request, Check check, Place place) {
  int raised = MPI_SUCCESS;
  CommunicatorState* state = CommunicatorState::get(comm, raised);
  if (raised != MPI_SUCCESS) return MPI_ERR_COMM;
  if (state == nullptr) return MPI_ERR_INTERN;
  PersistentCall call;
  call.collective = collective;
  call.root = root;
  const bool served = state->serves(comm, true);
  if (state->refused()) return refusal(*state);
  PersistentOffer offer;
  if (!native.is_whole) {
    offer.wrong = MPI_ERR_NO_MEM;
  } else if (!state->between_groups()) {
    offer.wrong = guarded([&] { return check(*state, offer, call); }, MPI_ERR_NO_MEM);
  }
  if (served) {
    // Empty where this rank alone has no memory.
    const std::optional<int> agreed =
        guarded([&] { return std::optional<int>(agree_on_persistent(*state, info, offer, call)); },
                std::nullopt);
    if (!agreed) {
      succeeded_everywhere(*state, comm, MPI_ERR_NO_MEM);
      return MPI_ERR_NO_MEM;
    }
    if (*agreed != MPI_SUCCESS) return *agreed;
  }
  const bool by_library = call.served_by == PersistentCall::ServedBy::library;
  std::unique_ptr<PersistentRequest> made;
  int error = guarded(
      [&]() -> int {
        if (offer.wrong != MPI_SUCCESS) return offer.wrong;
        if (served) {
          const bool moves = call.served_by != PersistentCall::ServedBy::nobody;
          const bool may_copy = moves && device::any_loaded();
          int wrong = MPI_SUCCESS;
          if (call.served_by == PersistentCall::ServedBy::program || may_copy) {
            wrong = place(*state, call);
          }
          if (wrong == MPI_SUCCESS && may_copy) wrong = take_host_copies(*state, call, native);
          if (wrong != MPI_SUCCESS) return wrong;
        }
        if (by_library) keep_native(*state, comm, std::move(native), call);
        made = std::make_unique<PersistentRequest>(*state, std::move(call));
        return made->reserve();
      },
      MPI_ERR_NO_MEM);
  error = succeeded_everywhere(*state, comm, error);
  if (error == MPI_SUCCESS && by_library) error = made->open_native(*state, comm);
  if (error == MPI_SUCCESS) made->open_window();
  if (error != MPI_SUCCESS) {
    if (made != nullptr) made->refuse();
    made.reset();
    int error_class = error;
    PMPI_Error_class(error, &error_class);
    return error_class;
  }
  *request = made.release();
  return MPI_SUCCESS;
}

template <class Check, class Place>
int init(Collective collective, int root, MPI_Comm comm, MPI_Info info, NativeForm native,
         PersistentRequest** request, Check check, Place place) {
  if (comm == MPI_COMM_NULL) return MPI_ERR_COMM;
  return guarded(
      [&] {
        return make_request(collective, root, comm, info, std::move(native), request,
                            std::move(check), std::move(place));
      },
      MPI_ERR_NO_MEM);
}

}  // namespace sibyl
