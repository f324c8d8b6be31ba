// Which messages carry a record, and how; see piggyback_messages.hpp.
#include "executor/program/piggyback_messages.hpp"

#include <array>

#include "schedule/dependencies.hpp"

namespace sibyl {

CarryingPiece::CarryingPiece(const Piece& data, Piggyback* record) : piece_(data) {
  if (record == nullptr) return;
  const std::array<int, 2> counts{static_cast<int>(data.count), words_of_piggyback};
  const std::array<MPI_Datatype, 2> types{data.type, MPI_INT64_T};
  std::array<MPI_Aint, 2> addresses{};
  for (const int error :
       {PMPI_Get_address(data.address, addresses.data()), PMPI_Get_address(record, &addresses[1]),
        PMPI_Type_create_struct(2, counts.data(), addresses.data(), types.data(), &type_)}) {
    if (error_ == MPI_SUCCESS) error_ = error;
  }
  if (error_ == MPI_SUCCESS) error_ = PMPI_Type_commit(&type_);
  piece_ = {static_cast<char*>(MPI_BOTTOM), 1, type_};
}

CarryingPiece::~CarryingPiece() {
  if (type_ != MPI_DATATYPE_NULL) PMPI_Type_free(&type_);
}

PiggybackMessages::PiggybackMessages(const Prepared& prepared, const CollectiveCall& call,
                                     Workspace& workspace)
    : prepared_(prepared), record_(call.piggyback), of_step_(workspace.piggybacks) {
  if (record_ != nullptr) of_step_.assign(prepared.program.steps.size(), Piggyback{});
}

bool PiggybackMessages::carries(StepIndex index) const {
  const Program& program = prepared_.program;
  return record_ != nullptr &&
         holds_first_unit(prepared_.header, program, program.steps[index].slice);
}

Piggyback* PiggybackMessages::outgoing(StepIndex index) {
  if (!carries(index)) return nullptr;
  of_step_[index] = *record_;
  return &of_step_[index];
}

Piggyback* PiggybackMessages::incoming(StepIndex index) {
  return carries(index) ? &of_step_[index] : nullptr;
}

void PiggybackMessages::merge(StepIndex index) {
  if (carries(index)) record_->merge(of_step_[index]);
}

}  // namespace sibyl
