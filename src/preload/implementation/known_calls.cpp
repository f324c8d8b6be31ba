// From a settled call to the words by which the shim knows it; see known_calls.hpp.
#include "preload/implementation/known_calls.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "communicator/communicator_state.hpp"
#include "communicator/settled_calls.hpp"
#include "selection/choose.hpp"

namespace sibyl::preload {
namespace {

void (*remember)(const char*, const sibyl_preload_arguments*) = nullptr;
void (*forget)(std::uint64_t) = nullptr;

// Those whose entries look there.
const char* symbol_of(Collective collective) {
  switch (collective) {
    case Collective::exscan:
      return "MPI_Exscan";
    case Collective::scan:
      return "MPI_Scan";
    case Collective::reduce:
      return "MPI_Reduce";
    case Collective::gather:
      return "MPI_Gather";
    case Collective::scatter:
      return "MPI_Scatter";
    case Collective::gatherv:
      return "MPI_Gatherv";
    case Collective::scatterv:
      return "MPI_Scatterv";
    case Collective::allreduce:
      return "MPI_Allreduce";
    case Collective::bcast:
      return "MPI_Bcast";
    case Collective::reduce_scatter:
      return "MPI_Reduce_scatter";
    case Collective::reduce_scatter_block:
      return "MPI_Reduce_scatter_block";
    case Collective::allgather:
      return "MPI_Allgather";
    case Collective::allgatherv:
      return "MPI_Allgatherv";
    case Collective::alltoall:
      return "MPI_Alltoall";
    case Collective::alltoallv:
      return "MPI_Alltoallv";
    case Collective::barrier:
      return "MPI_Barrier";
    default:
      return nullptr;
  }
}

// A function of the user's may make calls of its own, which are none of the program's while the
// implementation stands around it.
bool is_predefined(std::uint64_t op) {
  const std::array all{MPI_MAX, MPI_MIN,  MPI_SUM,  MPI_PROD,   MPI_LAND,   MPI_BAND,   MPI_LOR,
                       MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE};
  return std::ranges::any_of(all, [op](MPI_Op one) { return SettledCall::word(one) == op; });
}

// A number or a pointer.
template <class Handle>
Handle handle_of(std::uint64_t word) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<Handle>(word);
  } else {
    return static_cast<Handle>(word);
  }
}

// Another one of the program's may make calls, too, on some ranks before others, and those whose
// call is not known are within an entry. Whoever sets one later has all calls forgotten
// (hooks.hpp).
bool has_predefined_handler(MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (PMPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return false;
  const bool predefined = handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_RETURN;
  PMPI_Errhandler_free(&handler);
  return predefined;
}

// MPICH calls the world's where a communicator was never given one, and from 4.2 on that of
// MPI_COMM_SELF before.
bool are_handlers_predefined(std::uint64_t communicator) {
  return has_predefined_handler(handle_of<MPI_Comm>(communicator)) &&
         (!Process::has_world() ||
          (has_predefined_handler(MPI_COMM_WORLD) && has_predefined_handler(MPI_COMM_SELF)));
}

// Which of the buffers that the function has are null, in its own order: a gather's settled call
// has the root's first. Empty where one is MPI_IN_PLACE, or both are the same.
std::optional<std::uint32_t> nulls_of(const SettledCall& call) {
  if (call.collective() == Collective::barrier) return 0;
  const bool first_null = call.is_null(0);
  if (call.collective() == Collective::bcast) {
    return first_null ? 1U : 0U;  // a broadcast into MPI_IN_PLACE would be wrong
  }
  const bool second_null = call.is_null(1);
  if (call.is_in_place(0) || call.is_in_place(1)) return std::nullopt;
  if (call.has_one_buffer_twice() && !first_null) return std::nullopt;
  const bool swapped = gathers(call.collective());
  return (first_null ? (swapped ? 2U : 1U) : 0U) | (second_null ? (swapped ? 1U : 2U) : 0U);
}

// As the function has its arguments: in a scatter and a gatherv the settled call has them the other
// way round.
sibyl_preload_arguments words_of(const KnownCall& known, std::uint32_t nulls) {
  const SettledCall& call = known.call;
  sibyl_preload_arguments words{};
  words.communicator = call.communicator;
  words.handle_bits = sizeof(MPI_Comm) == sizeof(std::uint32_t) ? UINT32_MAX : UINT64_MAX;
  words.root = has_root(call.collective()) ? call.root() : 0;
  words.nulls = nulls;
  if (known.sizes) {
    words.type = call.type;
    words.other = call.op != 0 ? call.op : call.other_type;
    words.counts = static_cast<std::uint64_t>(known.sizes->all);
    words.root = static_cast<std::uint32_t>(known.sizes->largest);
    words.nulls |= static_cast<std::uint32_t>(known.state->size()) << 2U;
    return words;
  }
  switch (call.collective()) {
    case Collective::allgatherv:  // whatever its sizes are: of no rank
    case Collective::reduce_scatter:
      words.type = call.type;
      words.other = call.op != 0 ? call.op : call.other_type;
      return words;
    case Collective::gatherv:  // which of the arrays are given, counts and displacements
    case Collective::scatterv:
      words.type = call.type;  // of its own block, where it has no buffer for that
      words.counts = call.count | call.other_count << 1U;
      return words;
    case Collective::alltoallv:  // of both sides
      words.counts = (call.count & 1U) | (call.other_count & 1U) << 1U | (call.count & 2U) << 1U |
                     (call.other_count & 2U) << 2U;
      return words;
    case Collective::scatter:
      words.type = call.other_type;
      words.other = call.type;
      words.counts = static_cast<std::uint32_t>(call.other_count) | call.count << 32U;
      return words;
    default:
      words.type = call.type;
      words.other = call.op != 0 ? call.op : call.other_type;
      words.counts = static_cast<std::uint32_t>(call.count) | call.other_count << 32U;
      return words;
  }
}

void tell(const KnownCall& known) {
  const SettledCall& call = known.call;
  const char* const symbol = symbol_of(call.collective());
  const std::optional<std::uint32_t> nulls = nulls_of(call);
  if (symbol == nullptr || !nulls || !call.is_preloads()) return;
  const auto is_int = [](std::uint64_t count) {
    return std::in_range<std::int32_t>(static_cast<std::int64_t>(count));
  };
  if (!is_int(call.count) || !is_int(call.other_count)) return;
  if (call.op != 0 && !is_predefined(call.op)) return;
  if (!are_handlers_predefined(call.communicator)) return;
  // A rank without a buffer is right where its block is empty, which sums and maxima do not tell.
  const bool of_sizes = call.collective() == Collective::allgatherv ||
                        call.collective() == Collective::reduce_scatter;
  if (of_sizes && (*nulls != 0 || (known.sizes && known.sizes->all < 0))) return;
  const sibyl_preload_arguments words = words_of(known, *nulls);
  remember(symbol, &words);
  // Somebody may have forgotten it meanwhile.
  if (!SettledCalls::is_current(call)) forget(call.communicator);
}

}  // namespace

void* (*find_known)(unsigned, const sibyl_preload_arguments*) = nullptr;

void tell_known_calls_by(const sibyl_preload_services& services) {
  if (services.remember == nullptr || services.forget == nullptr) return;
  find_known = services.known;
  remember = services.remember;
  forget = services.forget;
  SettledCalls::tell(&tell, forget);
}

}  // namespace sibyl::preload
