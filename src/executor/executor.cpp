// Chooses the engine; see executor.hpp.
#include "executor/executor.hpp"

#include <new>

#include "executor/engines.hpp"
#include "executor/execution.hpp"

namespace sibyl {
namespace {

// Above these sizes posting receives ahead pays (bytes of a block or vector). Vectors go in
// lockstep as far as messages are usually sent eagerly: a round's send is over at once, and the
// rounds of a scan depend on each other (simulated: docs/performance.md).
constexpr std::size_t lockstep_block = 16384;
constexpr std::size_t lockstep_vector = 65536;

bool goes_in_lockstep(const Prepared& prepared, std::size_t bytes) {
  const bool vector = prepared.header.partition == Partition::vector;
  return !prepared.lockstep.empty() && bytes <= (vector ? lockstep_vector : lockstep_block);
}

}  // namespace

int execute(const Prepared& prepared, const CollectiveCall& call, Workspace& workspace) try {
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
  if (goes_in_lockstep(prepared, call.block_bytes)) {
    return run_lockstep(prepared, call, frame);
  }
  return run_dataflow(prepared, call, frame, workspace);
} catch (const std::bad_alloc&) {
  return MPI_ERR_NO_MEM;
}

}  // namespace sibyl
