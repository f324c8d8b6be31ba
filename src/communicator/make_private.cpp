// Makes communicators that the program does not see; see make_private.hpp.
#include "communicator/make_private.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <vector>

#include "executor/faults.hpp"

namespace sibyl {

bool library_asks_what_is_private = false;

namespace {

std::mutex mutex;
std::vector<MPI_Group> groups;  // of communicators that are being made

// All ranks, by a handle that no other communicator has: PMPI_Comm_group gives the one that a
// communicator shares with its duplicates.
class OwnGroup {
 public:
  explicit OwnGroup(MPI_Group all) {
    int size = 0;
    PMPI_Group_size(all, &size);
    std::vector<int> ranks(static_cast<std::size_t>(size));
    std::iota(ranks.begin(), ranks.end(), 0);
    if (PMPI_Group_incl(all, size, ranks.data(), &handle_) != MPI_SUCCESS) return;
    const std::lock_guard<std::mutex> lock(mutex);
    groups.push_back(handle_);
  }
  ~OwnGroup() {
    if (handle_ == MPI_GROUP_NULL) return;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      std::erase(groups, handle_);
    }
    PMPI_Group_free(&handle_);
  }
  OwnGroup(const OwnGroup&) = delete;
  OwnGroup& operator=(const OwnGroup&) = delete;
  MPI_Group handle() const { return handle_; }

 private:
  MPI_Group handle_ = MPI_GROUP_NULL;
};

int create(MPI_Comm comm, MPI_Group all, MPI_Comm& made) {
  if (!library_asks_what_is_private) return PMPI_Comm_create(comm, all, &made);
  const OwnGroup own(all);
  return PMPI_Comm_create(comm, own.handle(), &made);
}

}  // namespace

bool is_made_private(MPI_Group group) {
  const std::lock_guard<std::mutex> lock(mutex);
  return std::ranges::find(groups, group) != groups.end();
}

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
