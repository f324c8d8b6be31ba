// The common parts of the collectives; see call.hpp.
#include "collectives/call.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <string>

#include "executor/faults.hpp"

namespace sibyl {

int raise(MPI_Comm comm, int error_class) {
  error_class = as_users_error(comm, error_class);
  PMPI_Comm_call_errhandler(comm, error_class);
  return error_class;
}

int code_with_text(std::string text) {
  if (text.size() >= MPI_MAX_ERROR_STRING) text.resize(MPI_MAX_ERROR_STRING - 1);
  int code = MPI_ERR_ARG;
  if (PMPI_Add_error_code(MPI_ERR_ARG, &code) != MPI_SUCCESS) return MPI_ERR_ARG;
  std::array<char, MPI_MAX_ERROR_STRING + 1> kept{};
  int length = 0;
  if (PMPI_Add_error_string(code, text.data()) != MPI_SUCCESS ||
      PMPI_Error_string(code, kept.data(), &length) != MPI_SUCCESS || text != kept.data()) {
    return MPI_ERR_ARG;
  }
  return code;
}

int raise_refusal(MPI_Comm comm, CommunicatorState& state) {
  if (state.refusal_code == MPI_SUCCESS) {  // the library's room for codes is limited
    const std::string& own = state.process().problem();
    state.refusal_code = code_with_text(
        "Sibyl: " +
        (own.empty() ? std::string("another rank's SIBYL_ environment is wrong") : own));
  }
  return raise(comm, state.refusal_code);
}

int check_data(const void* buffer, MPI_Count count, MPI_Datatype datatype) {
  if (count < 0) return MPI_ERR_COUNT;
  if (datatype == MPI_DATATYPE_NULL) return MPI_ERR_TYPE;
  if (buffer == nullptr && count > 0) {
    // MPI_BOTTOM is a null pointer too: it is right with a type that holds addresses.
    int integers = 0;
    int addresses = 0;
    int datatypes = 0;
    int combiner = 0;
    const int error =
        PMPI_Type_get_envelope(datatype, &integers, &addresses, &datatypes, &combiner);
    if (error != MPI_SUCCESS) return MPI_ERR_TYPE;
    if (combiner == MPI_COMBINER_NAMED) return MPI_ERR_BUFFER;
  }
  return MPI_SUCCESS;
}

const CommunicatorState::KnownChoice& choose_for(CommunicatorState& state, Collective collective,
                                                 std::uint64_t bytes, OperatorUse use,
                                                 bool commutes, std::uint32_t elements) {
  CommunicatorState::KnownChoice& known = state.known_choice[static_cast<std::size_t>(collective)];
  if (!known.valid || known.bytes != bytes || known.operator_use != use ||
      known.commutes != commutes || known.elements != elements) {
    known = {};
    known.bytes = bytes;
    known.elements = elements;
    known.operator_use = use;
    known.commutes = commutes;
    state.complete(known, state.situation(collective, bytes, use, commutes));
  }
  return known;
}

const CommunicatorState::KnownChoice& choose_reduction(CommunicatorState& state,
                                                       Collective collective, MPI_Count count,
                                                       const DatatypeInfo& type,
                                                       std::optional<OperatorUse> use,
                                                       bool commutes) {
  static constexpr CommunicatorState::KnownChoice native;
  // Pack counts bytes in an int, and one element is not cut.
  constexpr std::size_t most = std::numeric_limits<int>::max();
  const std::size_t bytes = static_cast<std::size_t>(count) * type.size;
  const bool countable = count <= static_cast<MPI_Count>(most) && type.size <= most;
  if (!use.has_value() || !countable || bytes == 0) return native;
  return choose_for(state, collective, bytes, *use, commutes, static_cast<std::uint32_t>(count));
}

const Prepared* reduction_program(CommunicatorState& state, const Algorithm& algorithm,
                                  const SegmentPlan& cut, int root, bool in_place) {
  const Prepared& prepared = state.plans.get(
      algorithm, root, in_place, outstanding_in(state.settings(), algorithm.collective), cut);
  const bool fits = prepared.header.tag_span <= CommunicatorState::tags_of_a_reduction;
  return fits ? &prepared : nullptr;
}

void find_costs(CommunicatorState& state, int tag_base, Collective collective, std::uint64_t bytes,
                OperatorUse use, bool commutes) {
  if (state.costs_sought()) return;
  const Situation now = state.situation(collective, bytes, use, commutes);
  if (wants_costs(state.settings(), now)) state.find_costs(tag_base);
}

int run_prepared(CommunicatorState& state, const Prepared& prepared, CollectiveCall& call,
                 MPI_Comm comm, int earlier_error) {
  call.comm = state.private_comm();
  call.meanwhile = state.meanwhile();
  const int result = execute(prepared, call, state.workspace);
  const int error = earlier_error != MPI_SUCCESS ? earlier_error : result;
  if (error == MPI_SUCCESS) return MPI_SUCCESS;
  int error_class = error;
  PMPI_Error_class(error, &error_class);
  return raise(comm, error_class);
}

int run_program(CommunicatorState& state, const Algorithm& algorithm, int root, bool in_place,
                CollectiveCall& call, MPI_Comm comm, int earlier_error) try {
  const Prepared& prepared = state.plans.get(
      algorithm, root, in_place, outstanding_in(state.settings(), algorithm.collective));
  return run_prepared(state, prepared, call, comm, earlier_error);
} catch (const std::bad_alloc&) {
  return raise(comm, MPI_ERR_NO_MEM);
}

}  // namespace sibyl
