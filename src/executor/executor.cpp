// Chooses the engine; see executor.hpp.
#include "executor/executor.hpp"

#include "base/own_failure.hpp"
#include "executor/faults.hpp"
#include "executor/program/engines.hpp"
#include "executor/program/execution.hpp"
#include "planners/ceil_log2.hpp"

namespace sibyl {
namespace {

// Above these sizes posting receives ahead pays (bytes of a block or vector). Vectors go in
// lockstep as far as messages are usually sent eagerly: a round's send is over at once, and the
// rounds of a scan depend on each other (simulated: docs/results/scans.md).
constexpr std::size_t lockstep_block = 16384;
constexpr std::size_t lockstep_vector = 65536;
// Irregular blocks come in the order of their sizes rather than of the program: a root that took
// them one after the other would find most of them waiting when a large one is there at last, and
// would copy them only then (simulated: docs/results/irregular.md).
constexpr std::size_t lockstep_irregular = 256;
// Of two ranks each has one message: there is nothing to post ahead.
constexpr std::size_t lockstep_pair = std::size_t{1} << 18;

// Where everybody exchanges with everybody, rounds are not for anybody to wait for: a rank that is
// late would hold up the blocks of others.
bool has_independent_rounds(const PlanHeader& header) {
  const bool everywhere = gathers_everywhere(header.collective) || exchanges_all(header.collective);
  return everywhere && header.rounds > 2 * ceil_log2(static_cast<std::uint64_t>(header.ranks)) &&
         header.window.receives != 1;
}

int execute_now(const Prepared& prepared, const CollectiveCall& call, Workspace& workspace) {
  if (Execution::needs_mirrors(prepared, call)) {
    Execution execution;
    const int bound = execution.bind(prepared, call, workspace);
    if (bound != MPI_SUCCESS) return bound;
    execution.start(true);
    execution.finish();
    return execution.error();
  }
  const Frame frame(prepared, call, workspace);
  if (!frame.ready()) return MPI_ERR_NO_MEM;
  return goes_in_lockstep(prepared, call) ? run_lockstep(prepared, call, frame)
                                          : run_dataflow(prepared, call, frame, workspace);
}

}  // namespace

std::size_t lockstep_up_to(const Prepared& prepared, const CollectiveCall& call) {
  const PlanHeader& header = prepared.header;
  if (header.partition == Partition::vector || combines(header.collective)) return lockstep_vector;
  if (gathers_everywhere(header.collective)) {
    return lockstep_vector / static_cast<std::size_t>(header.ranks);
  }
  if (header.ranks == 2) return lockstep_pair;
  const bool one_at_a_time = header.window.receives == 1 || prepared.receives.size() <= 1;
  return call.receive.irregular != nullptr && !one_at_a_time ? lockstep_irregular : lockstep_block;
}

bool goes_in_lockstep(const Prepared& prepared, const CollectiveCall& call) {
  // A rank that blocks in a message of one peer does not see others die.
  const bool may_block =
      !prepared.lockstep.empty() && !survives_faults() && !has_independent_rounds(prepared.header);
  return may_block && call.piggyback == nullptr &&
         call.block_bytes <= lockstep_up_to(prepared, call);
}

int execute(const Prepared& prepared, const CollectiveCall& call, Workspace& workspace) {
  return guarded([&] { return execute_now(prepared, call, workspace); }, MPI_ERR_NO_MEM);
}

}  // namespace sibyl
