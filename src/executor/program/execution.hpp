// A program bound to buffers, run in pieces: started when the computation starts, progressed
// without blocking, opened for all its steps when the rank arrives, waited for at the end.
//
// Until the rank arrives the send buffer is not read and, of the receive buffer, only what the
// program receives in the background is written. After a failed step the remaining messages still
// move, as in execute().
//
// Thread safety: one caller at a time.
#pragma once

#include <optional>

#include "executor/program/dataflow.hpp"
#include "executor/program/packed_mirror.hpp"

namespace sibyl {

class Execution {
 public:
  Execution() = default;
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  // A program that cuts blocks whose datatype cannot be cut at a byte.
  static bool needs_mirrors(const Prepared& prepared, const CollectiveCall& call);

  // For one run; `prepared` and `workspace` must outlive it, and no run may be under way.
  // MPI_ERR_NO_MEM when the workspace cannot grow to what the program needs.
  int bind(const Prepared& prepared, const CollectiveCall& call, Workspace& workspace);
  bool bound() const { return flow_.has_value(); }
  void unbind() { flow_.reset(); }

  // The following need a bound program; see dataflow.hpp.
  void start(bool arrived, bool held = false);
  void arrive();
  void admit(Rank peer);
  bool heard_from(Rank peer) const { return flow_->heard_from(peer); }
  bool progress();
  void finish();
  bool ended() const { return flow_->ended(); }
  std::size_t open() const { return flow_->open(); }
  // Also without one, which waits for nothing.
  bool waits() const { return bound() && flow_->waits(); }
  int error() const { return error_.code() != MPI_SUCCESS ? error_.code() : flow_->error(); }
  void abandon(int error) { flow_->abandon(error); }

 private:
  int open_mirrors(Workspace& workspace);
  void fill_mirror();
  void empty_mirror();

  const Prepared* prepared_ = nullptr;
  CollectiveCall call_;
  PackedMirror send_;
  PackedMirror receive_;
  std::optional<Frame> frame_;
  std::optional<Dataflow> flow_;
  FirstError error_;
};

}  // namespace sibyl
