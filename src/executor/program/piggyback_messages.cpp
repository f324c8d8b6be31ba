// Which messages carry a record, and how; see piggyback_messages.hpp.
#include "executor/program/piggyback_messages.hpp"

#include "executor/messages.hpp"

namespace sibyl {

CarryingPiece::CarryingPiece(const Piece& data, Piggyback* record, CarryingTypes* types)
    : piece_(data) {
  if (record == nullptr) return;
  const bool is_large = needs_large_count(data.count);  // several copies of a long vector
  CarryingTypes::Parts parts{.count = is_large ? 1 : static_cast<int>(data.count),
                             .type = data.type};
  PMPI_Get_address(data.address, &parts.data);
  PMPI_Get_address(record, &parts.record);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (is_large) {
    error_ = post_many(data.count, data.type, [&](MPI_Datatype many) {
      parts.type = many;
      return CarryingTypes::make(parts, own_);
    });
    type = own_;
  } else if (types != nullptr) {
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
      record_(prepared.carrying == 0 ? nullptr : call.piggyback),
      of_message_(workspace.piggybacks),
      types_(call.receive.type.named ? &workspace.carrying : nullptr) {
  if (record_ != nullptr) of_message_.assign(prepared.carrying, Piggyback{});
}

Piggyback* PiggybackMessages::outgoing(StepIndex index) {
  Piggyback* const sent = incoming(index);
  if (sent != nullptr) *sent = *record_;
  return sent;
}

Piggyback* PiggybackMessages::incoming(StepIndex index) {
  if (record_ == nullptr) return nullptr;
  const std::uint32_t ordinal = prepared_.carrying_ordinal[index];
  return ordinal == Prepared::carries_none ? nullptr : &of_message_[ordinal];
}

void PiggybackMessages::merge(StepIndex index) {
  if (const Piggyback* const brought = incoming(index)) record_->merge(*brought);
}

}  // namespace sibyl
