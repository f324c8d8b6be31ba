// What the benchmark needs of SMPI: the cost of operators, a common start, simulated sleep.
//
// The simulations run with smpi/simulate-computation:no, so that their times do not depend on the
// machine that they run on. Then an operator would cost nothing. The link option --wrap leads every
// PMPI_Reduce_local of this program (Sibyl's executor and the hand-written loops) here, and the
// simulated core is kept busy for the time that the bytes would take it. SMPI's own collectives
// apply operators inside its library and are charged nothing: they are flattered. With
// SIBYL_SMPI_FREE_OPERATORS=1 nobody is charged anything, so that what both move is compared.
#include <mpi.h>
#include <simgrid/actor.h>
#include <simgrid/host.h>

#include <cstdlib>
#include <string_view>

#include "bench/clock.hpp"
#include "bench/native_variants.hpp"

namespace {

// Seconds per byte of the vector; platforms/README.md says where they come from.
constexpr double predefined_seconds = 0.1e-9;
constexpr double user_seconds = 1.25e-9;

bool are_free() {
  static const bool known = [] {
    const char* const text = std::getenv("SIBYL_SMPI_FREE_OPERATORS");
    return text != nullptr && std::string_view(text) == "1";
  }();
  return known;
}

}  // namespace

extern "C" {

// The linker's names.
int __real_PMPI_Reduce_local(const void*, void*, int, MPI_Datatype, MPI_Op);  // NOLINT
int __wrap_PMPI_Reduce_local(const void* in, void* inout, int count,          // NOLINT
                             MPI_Datatype datatype, MPI_Op op) {
  const int error = __real_PMPI_Reduce_local(in, inout, count, datatype, op);
  if (are_free()) return error;
  int size = 0;
  PMPI_Type_size(datatype, &size);
  const bool predefined = op == MPI_BXOR || op == MPI_SUM;
  const double seconds = (predefined ? predefined_seconds : user_seconds) * size * count;
  smpi_execute_flops(seconds * sg_host_get_speed(sg_host_self()));
  return error;
}

}  // extern "C"

namespace sibyl::bench {

double now() { return MPI_Wtime(); }

void start_together() {
  double own = now();
  double latest = 0;
  PMPI_Allreduce(&own, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  // Later than the slowest rank comes back from the reduction.
  constexpr double pause = 0.1;
  sg_actor_sleep_for(latest + pause - now());
}

void sleep_until(double when, double) {
  const double left = when - now();
  if (left > 0) sg_actor_sleep_for(left);
}

unsigned long long clock_identity() { return 1; }

// SMPI's algorithms are chosen on the command line of smpirun, for all ranks and for the whole run.
struct NativeChoice::Variable {};
void allow_native_variants() {}
NativeChoice::NativeChoice(Operation operation) : operation_(operation) {}
NativeChoice::~NativeChoice() = default;
std::vector<NativeVariant> NativeChoice::variants() const { return {}; }
bool NativeChoice::cuts_segments() const { return false; }
void NativeChoice::set(const NativeVariant&) {}
void NativeChoice::reset() {}
MPI_Comm NativeChoice::duplicate_world(const NativeVariant&) {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  return copy;
}
bool NativeChoice::is_read_per_call() { return false; }

}  // namespace sibyl::bench
