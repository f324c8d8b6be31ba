// Another handler for the world or for MPI_COMM_SELF while a program runs; see raised_errors.hpp.
#include "executor/raised_errors.hpp"

#if !defined(OPEN_MPI) && !defined(SMPI_H)

#include <array>
#include <mutex>

namespace sibyl {
namespace {

// Of the process, as the handlers of these communicators are: these MPIs run one rank in a process.
std::mutex mutex;
int runs = 0;
bool prepared = false;
MPI_Comm place = MPI_COMM_NULL;  // where errors without a communicator are raised
bool threads = false;            // MPI_THREAD_MULTIPLE
MPI_Errhandler stand_in = MPI_ERRHANDLER_NULL;
MPI_Errhandler before = MPI_ERRHANDLER_NULL;  // null: nothing is replaced now

thread_local int* catches = nullptr;  // where the wait of this thread wants its error

void take_or_end_job(MPI_Comm* comm, int* code, ...) {
  if (catches != nullptr) {
    *catches = *code;
  } else {
    PMPI_Abort(*comm, *code);
  }
}

void note_place(MPI_Comm* comm, int*, ...) { place = *comm; }

// Makes a harmless error without a communicator, the first key of an empty info object, and sees
// where it is raised: on the world as the MPI 3 standard has it, on MPI_COMM_SELF as MPI 4 has it.
void find_place() {
  constexpr std::array<MPI_Comm, 2> candidates{MPI_COMM_WORLD, MPI_COMM_SELF};
  std::array<MPI_Errhandler, 2> kept{MPI_ERRHANDLER_NULL, MPI_ERRHANDLER_NULL};
  MPI_Errhandler noting = MPI_ERRHANDLER_NULL;
  MPI_Info empty = MPI_INFO_NULL;
  if (PMPI_Comm_create_errhandler(&note_place, &noting) != MPI_SUCCESS) return;
  bool ready = PMPI_Info_create(&empty) == MPI_SUCCESS;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    ready = ready && PMPI_Comm_get_errhandler(candidates[i], &kept[i]) == MPI_SUCCESS &&
            PMPI_Comm_set_errhandler(candidates[i], noting) == MPI_SUCCESS;
  }
  std::array<char, MPI_MAX_INFO_KEY + 1> key{};
  if (ready) PMPI_Info_get_nthkey(empty, 0, key.data());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (kept[i] == MPI_ERRHANDLER_NULL) continue;
    PMPI_Comm_set_errhandler(candidates[i], kept[i]);
    PMPI_Errhandler_free(&kept[i]);
  }
  if (empty != MPI_INFO_NULL) PMPI_Info_free(&empty);
  PMPI_Errhandler_free(&noting);
}

void prepare_once() {
  if (prepared) return;
  prepared = true;
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  threads = level == MPI_THREAD_MULTIPLE;
  find_place();
  if (threads && PMPI_Comm_create_errhandler(&take_or_end_job, &stand_in) != MPI_SUCCESS) {
    place = MPI_COMM_NULL;
  }
}

bool ends_job(MPI_Errhandler handler) {
#if MPI_VERSION >= 4
  if (handler == MPI_ERRORS_ABORT) return true;
#endif
  return handler == MPI_ERRORS_ARE_FATAL;
}

void replace() {
  MPI_Errhandler now = MPI_ERRHANDLER_NULL;
  if (place == MPI_COMM_NULL || PMPI_Comm_get_errhandler(place, &now) != MPI_SUCCESS) return;
  const bool in_the_way = threads ? ends_job(now) : now != MPI_ERRORS_RETURN;
  if (in_the_way &&
      PMPI_Comm_set_errhandler(place, threads ? stand_in : MPI_ERRORS_RETURN) == MPI_SUCCESS) {
    before = now;
  } else {
    PMPI_Errhandler_free(&now);
  }
}

// Unless the user has set another one meanwhile.
void put_back() {
  if (before == MPI_ERRHANDLER_NULL) return;
  MPI_Errhandler now = MPI_ERRHANDLER_NULL;
  if (PMPI_Comm_get_errhandler(place, &now) == MPI_SUCCESS) {
    if (now == (threads ? stand_in : MPI_ERRORS_RETURN)) PMPI_Comm_set_errhandler(place, before);
    PMPI_Errhandler_free(&now);
  }
  PMPI_Errhandler_free(&before);
}

}  // namespace

RaisedErrors::RaisedErrors() {
  const std::lock_guard<std::mutex> lock(mutex);
  if (runs++ != 0) return;
  prepare_once();
  replace();
}

RaisedErrors::~RaisedErrors() {
  const std::lock_guard<std::mutex> lock(mutex);
  if (--runs == 0) put_back();
}

void RaisedErrors::catch_into(int* raised) { catches = raised; }

}  // namespace sibyl

#endif
