// What a program says about when its ranks arrive.
//
// All ranks compare their times before any of them plans by them: a rank with others would wait for
// messages that nobody sends. A rank whose arguments are wrong takes part with what cannot be used.
#include <span>

#include "collectives/call.hpp"

namespace sibyl {

namespace {

int agree_on_arrivals(MPI_Comm comm, const double* times, int count) {
  if (comm == MPI_COMM_NULL) return raise_nowhere(MPI_ERR_COMM);
  int raised = MPI_SUCCESS;
  CommunicatorState* state = CommunicatorState::get(comm, raised);
  if (state == nullptr) return raised;
  if (!state->serves(comm, true)) {
    return state->refused() ? raise_refusal(comm, *state) : MPI_SUCCESS;
  }
  constexpr double unusable = -1;
  const bool whole = count >= 0 && (times != nullptr || count == 0);
  const std::span<const double> given =
      whole ? std::span(times, static_cast<std::size_t>(count)) : std::span(&unusable, 1);
  if (state->arrivals.agree_on(given)) return MPI_SUCCESS;
  if (state->arrivals_code == MPI_SUCCESS) {
    state->arrivals_code = code_with_text(
        "Sibyl: the arrival times differ between ranks, or are not one per rank, finite, not "
        "negative and at most 1e6 seconds apart");
  }
  return raise(comm, state->arrivals_code);
}

}  // namespace

int set_arrivals(MPI_Comm comm, const double* times, int count) {
  return raising_lack_of_memory(comm, [&] { return agree_on_arrivals(comm, times, count); });
}

}  // namespace sibyl
