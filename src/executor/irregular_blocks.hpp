// Blocks of different sizes in the root's buffer: the arguments of gatherv and scatterv.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "executor/datatype.hpp"
#include "sibyl/schedule.hpp"

namespace sibyl {

// An array of counts of one of MPI's two widths; where it is null all counts are 0.
class Counts {
 public:
  Counts() = default;
  Counts(const int* counts) : small_(counts) {}
  Counts(const MPI_Count* counts) : large_(counts) {}
  MPI_Count operator[](Rank rank) const {
    if (small_ != nullptr) return small_[rank];
    return large_ == nullptr ? 0 : large_[rank];
  }
  bool given() const { return small_ != nullptr || large_ != nullptr; }
  const int* small() const { return small_; }
  const MPI_Count* large() const { return large_; }
  bool same_array(const Counts& other) const {
    return small_ == other.small_ && large_ == other.large_;
  }

 private:
  const int* small_ = nullptr;
  const MPI_Count* large_ = nullptr;
};

// Likewise of displacements, in extents of the datatype.
class Displacements {
 public:
  Displacements() = default;
  Displacements(const int* displacements) : small_(displacements) {}
  Displacements(const MPI_Aint* displacements) : large_(displacements) {}
  MPI_Aint operator[](Rank rank) const { return small_ != nullptr ? small_[rank] : large_[rank]; }
  bool given() const { return small_ != nullptr || large_ != nullptr; }
  const int* small() const { return small_; }
  const MPI_Aint* large() const { return large_; }

 private:
  const int* small_ = nullptr;
  const MPI_Aint* large_ = nullptr;
};

struct IrregularBlocks {
  char* base = nullptr;
  DatatypeInfo type;
  Counts counts;
  Displacements displacements;

  std::size_t bytes(Rank rank) const { return static_cast<std::size_t>(counts[rank]) * type.size; }
  // Of a block that has elements.
  char* at(Rank rank) const { return base + displacements[rank] * type.extent; }
};

}  // namespace sibyl
