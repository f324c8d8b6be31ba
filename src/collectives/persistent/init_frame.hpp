// The frame of every SIBYL_..._init: arguments, agreement of the ranks, the request.
//
// Arguments are checked before the ranks agree, so that what is wrong at one rank is refused at all
// of them: a request that only some had could never be complete. A communicator that Sibyl does not
// serve has the MPI library's nonblocking collectives behind its requests, and the library's
// checks.
#pragma once

#include <memory>
#include <utility>

#include "collectives/persistent/init.hpp"
#include "collectives/persistent/native.hpp"
#include "collectives/persistent/terms.hpp"

namespace sibyl {

// The program may free its datatype while the request lives.
int keep_type(DatatypeInfo& info, PersistentCall& call);
void free_types(PersistentCall& call);
// A communicator for the library's collectives of one request. Collective.
int make_native(CommunicatorState& state, MPI_Comm comm, NativeForm native, PersistentCall& call);
// Whether a reduction may go by a program; the same on all ranks.
void offer_reduction(CommunicatorState& state, const ReductionArguments& now,
                     const DatatypeInfo& type, PersistentOffer& offer, PersistentCall& call);

// `check` looks at the arguments, `place` fills in the executor's call once the
// ranks have agreed.
template <class Check, class Place>
int make_request(Collective collective, int root, MPI_Comm comm, MPI_Info info, NativeForm native,
                 PersistentRequest** request, Check check, Place place) {
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
}

template <class Check, class Place>
int init(Collective collective, int root, MPI_Comm comm, MPI_Info info, NativeForm native,
         PersistentRequest** request, Check check, Place place) {
  *request = nullptr;
  if (comm == MPI_COMM_NULL) return raise_nowhere(MPI_ERR_COMM);
  return raising_lack_of_memory(comm, [&] {
    return make_request(collective, root, comm, info, std::move(native), request, std::move(check),
                        std::move(place));
  });
}

}  // namespace sibyl
