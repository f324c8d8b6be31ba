// Which messages carry a record, and how; see piggyback_messages.hpp.
#include "executor/program/piggyback_messages.hpp"

#include "schedule/dependencies.hpp"

namespace sibyl {

CarryingPiece::CarryingPiece(const Piece& data, Piggyback* record, CarryingTypes* types)
    : piece_(data) {
  if (record == nullptr) return;
  CarryingTypes::Parts parts{.count = static_cast<int>(data.count), .type = data.type};
  PMPI_Get_address(data.address, &parts.data);
  PMPI_Get_address(record, &parts.record);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (types != nullptr) {
    error_ = types->find(parts, type);
  } else {
    error_ = CarryingTypes::make(parts, own_);
    type = own_;
  }
  piece_ = {static_cast<char*>(MPI_BOTTOM), 1, type};
}

CarryingPiece::~CarryingPiece() {
  if (own_ != MPI_DATATYPE_NULL) PMPI_Type_free(&own_);
}

PiggybackMessages::PiggybackMessages(const Prepared& prepared, const CollectiveCall& call,
                                     Workspace& workspace)
    : prepared_(prepared),
      record_(call.piggyback),
      of_step_(workspace.piggybacks),
      types_(call.receive.type.named ? &workspace.carrying : nullptr) {
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
