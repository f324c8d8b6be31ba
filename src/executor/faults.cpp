// Finds ULFM in the MPI library, and revokes; see faults.hpp.
#include "executor/faults.hpp"

#include <sched.h>

#include <array>
#include <string_view>

namespace sibyl {

#if SIBYL_ULFM

namespace {

// Open MPI 5 takes the level that its tools interface is asked for as that of the whole library: a
// lower one than the program has would switch its locks off. Without MPI_Init the program's is not
// to be had, and the highest is no error.
int thread_level() {
  int initialized = 0;
  int finalized = 0;
  int level = MPI_THREAD_MULTIPLE;
  const bool world = PMPI_Initialized(&initialized) == MPI_SUCCESS && initialized != 0 &&
                     PMPI_Finalized(&finalized) == MPI_SUCCESS && finalized == 0;
  if (world && PMPI_Query_thread(&level) != MPI_SUCCESS) level = MPI_THREAD_MULTIPLE;
  return level;
}

// The library's setting, as its tools interface tells it.
bool switched_on() {
  int provided = 0;
  if (PMPI_T_init_thread(thread_level(), &provided) != MPI_SUCCESS) return false;
  int index = 0;
  int count = 0;
  // Room for any kind of value, although this one is a truth value.
  alignas(std::uint64_t) std::array<char, 512> value{};
  MPI_T_cvar_handle handle = nullptr;
  bool on = false;
  if (PMPI_T_cvar_get_index("mpi_ft_enable", &index) == MPI_SUCCESS &&
      PMPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS) {
    on = PMPI_T_cvar_read(handle, value.data()) == MPI_SUCCESS && value.front() != 0;
    PMPI_T_cvar_handle_free(&handle);
  }
  PMPI_T_finalize();
  return on;
}

// Whether the text of an error code or class begins so: the numbers differ between versions.
bool is_called(int error, std::string_view name) {
  std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
  int length = 0;
  return PMPI_Error_string(error, text.data(), &length) == MPI_SUCCESS &&
         std::string_view(text.data()).starts_with(name);
}

constexpr std::string_view of_a_dead_process = "MPI_ERR_PROC_FAILED";  // or ..._PENDING
constexpr std::string_view dead_process = "MPI_ERR_PROC_FAILED:";
constexpr std::string_view revoked = "MPI_ERR_REVOKED:";

void on_error(MPI_Comm* comm, int* error, ...) { revoke_after_death(*comm, *error); }

// Classes are numbered without gaps, and ULFM's stand together.
int find_class(std::string_view name, int near) {
  for (int number = near + 2; number > 0; --number) {
    if (is_called(number, name)) return number;
  }
  return MPI_ERR_OTHER;
}

// Looks for failures cost as much as those for messages.
constexpr std::uint32_t looks_for_a_fault = 16;
constexpr std::uint32_t fault_looks_before_yield = 64;

}  // namespace

int return_errors(MPI_Comm comm) {
  using fault_support::Kind;
  if (fault_support::kind == Kind::unknown) {
    const bool known = &PMPIX_Comm_revoke != nullptr && &PMPIX_Comm_is_revoked != nullptr;
    fault_support::kind = known && switched_on() ? Kind::on : Kind::none;
  }
  if (!survives_faults()) return PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  const int made = PMPI_Comm_create_errhandler(&on_error, &handler);
  if (made != MPI_SUCCESS) return made;
  const int set = PMPI_Comm_set_errhandler(comm, handler);
  PMPI_Errhandler_free(&handler);  // the communicator keeps it
  return set;
}

int error_of_revoked(MPI_Comm comm) {
  int there = 0;
  return PMPI_Iprobe(MPI_ANY_SOURCE, 0, comm, &there, MPI_STATUS_IGNORE);
}

void revoke(MPI_Comm comm) {
  if (comm != MPI_COMM_NULL && survives_faults() && !is_revoked(comm)) PMPIX_Comm_revoke(comm);
}

void revoke_after_death(MPI_Comm comm, int error) {
  if (is_called(error, of_a_dead_process)) revoke(comm);
}

int as_users_error(MPI_Comm comm, int error) {
  if (!survives_faults() || error == MPI_SUCCESS) return error;
  const bool ends = is_called(error, revoked);
  if (!ends && !is_called(error, of_a_dead_process)) return error;
  int error_class = error;
  PMPI_Error_class(error, &error_class);
  return find_class(is_revoked(comm) ? revoked : dead_process, error_class);
}

void FaultWatch::look() {
  if (++looks_ % looks_for_a_fault != 0) return;
  // Asking for any rank's message fails where one of them has died; the tag is no matter.
  int there = 0;
  const int error = PMPI_Iprobe(MPI_ANY_SOURCE, 0, comm_, &there, MPI_STATUS_IGNORE);
  if (error != MPI_SUCCESS) revoke_after_death(comm_, error);
}

void FaultWatch::pause() {
  look();
  if (looks_ >= fault_looks_before_yield) sched_yield();
}

#else

int return_errors(MPI_Comm comm) { return PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN); }

#endif

}  // namespace sibyl
