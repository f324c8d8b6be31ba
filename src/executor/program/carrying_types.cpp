// Makes and keeps them; see carrying_types.hpp.
#include "executor/program/carrying_types.hpp"

#include <array>
#include <cstdint>

#include "executor/program/piggyback.hpp"

namespace sibyl {
namespace {

// Buffers lie at multiples of powers of two, so that low bits of addresses alone are much alike.
std::size_t slot_of(const CarryingTypes::Parts& parts) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15U;  // of the golden ratio
  std::uint64_t mixed = static_cast<std::uint64_t>(parts.data) * odd;
  mixed = (mixed ^ static_cast<std::uint64_t>(parts.record)) * odd;
  mixed = (mixed ^ static_cast<std::uint64_t>(parts.count)) * odd;
  return static_cast<std::size_t>(mixed >> 32) % CarryingTypes::slots;
}

}  // namespace

CarryingTypes::~CarryingTypes() {
  for (Slot& slot : slots_) {
    if (slot.made != MPI_DATATYPE_NULL) PMPI_Type_free(&slot.made);
  }
}

int CarryingTypes::make(const Parts& parts, MPI_Datatype& made) {
  const std::array<int, 2> counts{parts.count, words_of_piggyback};
  const std::array<MPI_Aint, 2> addresses{parts.data, parts.record};
  const std::array<MPI_Datatype, 2> types{parts.type, MPI_INT64_T};
  made = MPI_DATATYPE_NULL;
  int error = PMPI_Type_create_struct(2, counts.data(), addresses.data(), types.data(), &made);
  if (error != MPI_SUCCESS) return error;
  error = PMPI_Type_commit(&made);
  if (error != MPI_SUCCESS) PMPI_Type_free(&made);
  return error;
}

int CarryingTypes::find(const Parts& parts, MPI_Datatype& made) {
  if (slots_.empty()) slots_.resize(slots);
  Slot& slot = slots_[slot_of(parts)];
  if (slot.made == MPI_DATATYPE_NULL || slot.parts != parts) {
    if (slot.made != MPI_DATATYPE_NULL) PMPI_Type_free(&slot.made);
    if (const int error = make(parts, slot.made); error != MPI_SUCCESS) return error;
    slot.parts = parts;
  }
  made = slot.made;
  return MPI_SUCCESS;
}

}  // namespace sibyl
