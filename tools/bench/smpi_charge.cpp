// What an application of an operator costs under SMPI.
//
// The simulations run with smpi/simulate-computation:no, so that their times do not depend on the
// machine that they run on. Then an operator would cost nothing. The link option --wrap leads every
// PMPI_Reduce_local of this program (Sibyl's executor and the hand-written loops) here, and the
// simulated core is kept busy for the time that the bytes would take it. SMPI's own collectives
// apply operators inside its library and are charged nothing: they are flattered.
#include <mpi.h>
#include <simgrid/host.h>
#include <smpi/smpi.h>

namespace {

// Seconds per byte of the vector. Predefined: from the published times of two-op and 123-doubling
// at 10 000 and 100 000 elements, which differ by 5 applications (platforms/README.md). User: the
// 2x2 product modulo a prime of this program, measured at 40 ns per element of 32 bytes.
constexpr double predefined_seconds = 0.10e-9;
constexpr double user_seconds = 1.25e-9;

}  // namespace

extern "C" {

// The linker gives these their names.
int __real_PMPI_Reduce_local(const void*, void*, int, MPI_Datatype, MPI_Op);  // NOLINT
int __wrap_PMPI_Reduce_local(const void* in, void* inout, int count, MPI_Datatype datatype,  // NOLINT
                             MPI_Op op) {
  const int error = __real_PMPI_Reduce_local(in, inout, count, datatype, op);
  int size = 0;
  PMPI_Type_size(datatype, &size);
  const double seconds = (op == MPI_BXOR ? predefined_seconds : user_seconds) * size * count;
  smpi_execute_flops(seconds * sg_host_get_speed(sg_host_self()));
  return error;
}

}  // extern "C"
