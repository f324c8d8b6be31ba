// The messages of a run that carry a record (piggyback.hpp): which they are, and the memory and
// type by which data and record are one message.
//
// Thread safety: none; a run has its own.
#pragma once

#include "executor/executor.hpp"
#include "executor/program/layout.hpp"
#include "executor/program/piggyback.hpp"

namespace sibyl {

// A message in memory: its data, and the record behind it where there is one. The type is there as
// long as this is.
class CarryingPiece {
 public:
  // `types`: where its type stays; nullptr: it does not.
  CarryingPiece(const Piece& data, Piggyback* record, CarryingTypes* types);
  ~CarryingPiece();
  CarryingPiece(const CarryingPiece&) = delete;
  CarryingPiece& operator=(const CarryingPiece&) = delete;

  const Piece& piece() const { return piece_; }
  int error() const { return error_; }  // of making the type

 private:
  Piece piece_;
  MPI_Datatype own_ = MPI_DATATYPE_NULL;  // where it does not stay
  int error_ = MPI_SUCCESS;
};

class PiggybackMessages {
 public:
  // For one run of a call; where the call has no record, nothing is carried.
  PiggybackMessages(const Prepared& prepared, const CollectiveCall& call, Workspace& workspace);

  // What a message sends behind its data: what is known now. nullptr: it carries none.
  Piggyback* outgoing(StepIndex index);
  // Where the record of an incoming message goes.
  Piggyback* incoming(StepIndex index);
  // It is there.
  void merge(StepIndex index);
  // Where the types of such messages stay; nullptr where elements are of a derived type.
  CarryingTypes* types() { return types_; }

 private:
  const Prepared& prepared_;
  Piggyback* const record_;
  std::vector<Piggyback>& of_message_;  // that carries one
  CarryingTypes* const types_;
};

}  // namespace sibyl
