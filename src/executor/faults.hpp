// What becomes of a call when a process dies (User-Level Failure Mitigation, ULFM).
//
// Where Open MPI 5 runs with ULFM, a message from or to a dead process fails, and the program goes
// on. A rank that has met such a failure in a served call can send nothing right any more, and
// ranks that wait for it have no dead process to wait for. So the first rank that meets one revokes
// the private communicator: every message on it fails from then on, at every rank, in this call and
// in those that follow, and no wait is in vain. The error handler of the private communicator does
// it, so that it holds for every use. A rank that waits looks for failures as well: a rank that it
// waits for may have left at one that another of the user's collectives has met.
//
// What the user is told is the class that the library's own collectives have: MPI_ERR_REVOKED where
// he has revoked his communicator, else MPI_ERR_PROC_FAILED. Calls that follow end so as well: the
// library may not know yet what has happened.
//
// The functions and classes of ULFM are found at run time: one build serves MPIs with and without.
//
// Thread safety: any.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>

extern "C" {
// Null in an MPI library without ULFM.
// NOLINTBEGIN(readability-identifier-naming): MPI's names
__attribute__((weak)) int PMPIX_Comm_revoke(MPI_Comm comm);
__attribute__((weak)) int PMPIX_Comm_is_revoked(MPI_Comm comm, int* flag);
// NOLINTEND(readability-identifier-naming)
}

#if defined(OPEN_MPI)
#define SIBYL_ULFM 1
#else
#define SIBYL_ULFM 0
#endif

namespace sibyl {

// From now on errors of this private communicator are returned, and one of a dead process revokes
// it.
int return_errors(MPI_Comm comm);

#if SIBYL_ULFM

namespace fault_support {
enum class Kind : std::uint8_t { unknown, none, on };
inline std::atomic<Kind> kind = Kind::unknown;  // of the MPI library: the same for all its ranks
}  // namespace fault_support

// The program goes on when a process dies. Looked up at the first return_errors.
inline bool survives_faults() {
  return fault_support::kind.load(std::memory_order_relaxed) == fault_support::Kind::on;
}
inline bool is_revoked(MPI_Comm comm) {
  if (!survives_faults()) return false;
  int flag = 0;
  return PMPIX_Comm_is_revoked(comm, &flag) == MPI_SUCCESS && flag != 0;
}
// What every message on a revoked private communicator fails with; MPI_SUCCESS on others.
int error_of_revoked(MPI_Comm comm);
inline int fault_of(MPI_Comm comm) {
  return is_revoked(comm) ? error_of_revoked(comm) : MPI_SUCCESS;
}
void revoke(MPI_Comm comm);
// If the error is that of a dead process.
void revoke_after_death(MPI_Comm comm, int error);
// An error that is to be raised on the user's `comm`: the class that he is to see where it is one
// of ULFM's, which came from the private communicator; any other as it is.
int as_users_error(MPI_Comm comm, int error);

// Between two looks of a rank that waits on a private communicator.
class FaultWatch {
 public:
  explicit FaultWatch(MPI_Comm comm) : comm_(comm) {}
  // Revokes the communicator if a process of it has died; most calls do not look.
  void look();
  // The same, and others may have the processor.
  void pause();

 private:
  MPI_Comm comm_;
  std::uint32_t looks_ = 0;
};

#else

inline constexpr bool survives_faults() { return false; }
inline constexpr bool is_revoked(MPI_Comm) { return false; }
inline int fault_of(MPI_Comm) { return MPI_SUCCESS; }
inline void revoke(MPI_Comm) {}
inline void revoke_after_death(MPI_Comm, int) {}
inline int as_users_error(MPI_Comm, int error) { return error; }
class FaultWatch {
 public:
  explicit FaultWatch(MPI_Comm) {}
  void look() {}
  void pause() {}
};

#endif

}  // namespace sibyl
