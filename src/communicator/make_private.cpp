// Makes communicators that the program does not see; see make_private.hpp.
#include "communicator/make_private.hpp"

#include <mutex>
#include <utility>

#include "communicator/process.hpp"
#include "executor/faults.hpp"
#include "executor/mpi_library.hpp"

namespace sibyl {

bool library_asks_what_is_private = false;

namespace {

// All ranks, by a handle that no other communicator has: PMPI_Comm_group gives the one that a
// communicator shares with its duplicates. Without memory that one is as good as any.
class OwnGroup {
 public:
  explicit OwnGroup(MPI_Group all) : handle_(all) {
    int size = 0;
    PMPI_Group_size(all, &size);
    int every[1][3] = {{0, size - 1, 1}};
    made_ = PMPI_Group_range_incl(all, 1, every, &handle_) == MPI_SUCCESS;
    if (!made_) handle_ = all;
    const std::lock_guard<std::mutex> lock(mutex);
    next_ = std::exchange(first, this);
  }
  ~OwnGroup() {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      OwnGroup** place = &first;
      while (*place != this) place = &(*place)->next_;
      *place = next_;
    }
    if (made_) PMPI_Group_free(&handle_);
  }
  OwnGroup(const OwnGroup&) = delete;
  OwnGroup& operator=(const OwnGroup&) = delete;
  MPI_Group handle() const { return handle_; }
  // Whether one that stands, of any thread, has this handle.
  static bool is_one(MPI_Group group) {
    const std::lock_guard<std::mutex> lock(mutex);
    for (const OwnGroup* one = first; one != nullptr; one = one->next_) {
      if (one->made_ && one->handle_ == group) return true;
    }
    return false;
  }

 private:
  MPI_Group handle_;
  bool made_ = false;
  OwnGroup* next_ = nullptr;
  static inline std::mutex mutex;
  static inline OwnGroup* first = nullptr;
};

int create(MPI_Comm comm, MPI_Group all, MPI_Comm& made) {
  if (!library_asks_what_is_private) return PMPI_Comm_create(comm, all, &made);
  const OwnGroup own(all);
  return PMPI_Comm_create(comm, own.handle(), &made);
}

bool returns_errors(MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (PMPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return false;
  const bool returns = handler == MPI_ERRORS_RETURN;
  PMPI_Errhandler_free(&handler);
  return returns;
}

// In MPICH a communicator has no handler until it is given one, though it says that errors are
// fatal: it goes by the world's (from 4.2 on by that of MPI_COMM_SELF before), and so does what is
// made of it. One that is given to it can never be taken away again. So where it says so it is left
// alone if nothing is to be feared, or the world returns errors; and so is MPI_COMM_SELF, since the
// one that it would have would hold for all others.
bool goes_by_another(MPI_Comm comm, bool has_contexts) {
  if (mpi_library() != MpiLibrary::mpich || !Process::has_world()) return false;
  return has_contexts || comm == MPI_COMM_SELF || returns_errors(MPI_COMM_WORLD);
}

}  // namespace

ReturnErrors::ReturnErrors(MPI_Comm comm, bool has_contexts) : comm_(comm) {
  MPI_Errhandler now = MPI_ERRHANDLER_NULL;
  if (PMPI_Comm_get_errhandler(comm, &now) != MPI_SUCCESS) return;
  if (now == MPI_ERRORS_ARE_FATAL && goes_by_another(comm, has_contexts)) return;
  before_ = now;
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

bool is_made_private(MPI_Group group) { return OwnGroup::is_one(group); }

MPI_Comm make_private(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  if (PMPI_Comm_group(comm, &group) != MPI_SUCCESS) return MPI_COMM_NULL;
  const int error = create(comm, group, made);
  PMPI_Group_free(&group);
  if (error != MPI_SUCCESS) return MPI_COMM_NULL;
  if (made != MPI_COMM_NULL) return_errors(made);
  return made;
}

}  // namespace sibyl
