// Duplicates of a program's datatypes, which it may free while a persistent request lives; freed
// with the request.
#pragma once

#include <mpi.h>

#include <utility>
#include <vector>

namespace sibyl {

class KeptTypes {
 public:
  KeptTypes() = default;
  KeptTypes(KeptTypes&& other) noexcept : types_(std::exchange(other.types_, {})) {}
  KeptTypes& operator=(KeptTypes&&) = delete;
  KeptTypes(const KeptTypes&) = delete;
  KeptTypes& operator=(const KeptTypes&) = delete;
  ~KeptTypes() { free(); }

  // `type` becomes its duplicate, but where the MPI library makes none. Its error code; may throw
  // std::bad_alloc, and has made none then.
  int keep(MPI_Datatype& type) {
    types_.reserve(types_.size() + 1);
    MPI_Datatype kept = MPI_DATATYPE_NULL;
    const int error = PMPI_Type_dup(type, &kept);
    if (error != MPI_SUCCESS) return error;
    types_.push_back(kept);
    type = kept;
    return MPI_SUCCESS;
  }
  void free() {
    for (MPI_Datatype& type : types_) PMPI_Type_free(&type);
    types_.clear();
  }

 private:
  std::vector<MPI_Datatype> types_;
};

}  // namespace sibyl
