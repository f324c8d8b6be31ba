// Makes short runs, and runs them; see short_run.hpp.
#include "executor/program/short_run.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "device/owner.hpp"
#include "executor/program/engines.hpp"

namespace sibyl {
namespace {

using Kind = ShortRun::Kind;
using Operation = ShortRun::Operation;
using Place = ShortRun::Place;
using Where = ShortRun::Where;

class Maker {
 public:
  Maker(const Prepared& prepared, const CollectiveCall& call, Workspace& workspace,
        const ShortRunData& data, ShortRun& run)
      : prepared_(prepared),
        call_(call),
        data_(data),
        run_(run),
        frame_(prepared, call, workspace) {}

  bool make() {
    if (!frame_.ready()) return false;
    run_ = {};
    run_.comm = call_.comm;
    run_.op = call_.op;
    if (frame_.room().bytes > std::numeric_limits<std::uint32_t>::max()) return false;
    run_.room = static_cast<std::uint32_t>(frame_.room().bytes);
    run_.most_bytes = lockstep_up_to(prepared_, call_);
    if (call_.leaves_empty_out) {
      const bool up = gathers(prepared_.header.collective);
      run_.own_type = (up ? call_.send : call_.receive).type;
      run_.blocks_type = (up ? call_.receive : call_.send).type;
    }
    if (!std::ranges::all_of(prepared_.lockstep, [&](const auto& one) { return add(one); })) {
      return false;
    }
    for (const Operation& made : run_.all()) {
      const bool moves = made.kind == Kind::copy || made.kind == Kind::combine;
      run_.used |= bit(made.data) | (moves ? bit(made.from) : 0);
    }
    return may_run(run_, data_);
  }

 private:
  static std::uint8_t bit(const Place& place) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(place.where));
  }
  const Step& step_of(const LockstepOperation& operation) const {
    return prepared_.program.steps[operation.step];
  }
  Operation* next() {
    return run_.operations == ShortRun::most_operations ? nullptr
                                                        : &run_.operation[run_.operations++];
  }

  bool add(const LockstepOperation& operation) {
    const Step& step = step_of(operation);
    Operation* const made = next();
    if (made == nullptr) return false;
    if (operation.kind == LockstepOperation::Kind::local) return add_local(step, *made);
    if (frame_.is_packed(operation.step)) return false;
    made->peer = step.peer;
    made->tag = frame_.tag_of(operation.step);
    if (operation.kind == LockstepOperation::Kind::receive) {
      made->kind = Kind::receive;
      if (step.kind == StepKind::receive_combine) return add_combining(operation.step, *made);
    } else {
      made->kind = operation.kind == LockstepOperation::Kind::send ? Kind::send : Kind::post_send;
    }
    return place(step.slice, made->data, made->count) && is_of_one_type(step.slice);
  }

  bool add_local(const Step& step, Operation& made) {
    int count = 0;
    if (!place(step.from, made.from, count) || !place(step.slice, made.data, made.count)) {
      return false;
    }
    if (step.kind == StepKind::combine) {
      made.kind = Kind::combine;
      return is_of_one_type(step.slice);
    }
    made.kind = Kind::copy;
    if (!is_plain(step.from) || !is_plain(step.slice)) return false;
    if (call_.leaves_empty_out) return true;
    // As long as its source, which fits.
    const std::size_t bytes = layout_.bytes_of(step.from.buffer, step.from.range);
    made.count = static_cast<int>(bytes);
    return bytes <= layout_.bytes_of(step.slice.buffer, step.slice.range);
  }

  // The message comes into the workspace, then it is combined.
  bool add_combining(StepIndex index, Operation& made) {
    const Slice& slice = prepared_.program.steps[index].slice;
    const Piece staged = frame_.staged(index, 0);
    made.data = {staged.address - frame_.room().memory, Where::room};
    made.count = static_cast<int>(staged.count);
    const Place arrived = made.data;
    Operation* const combination = next();
    if (combination == nullptr) return false;
    combination->kind = Kind::combine;
    combination->from = arrived;
    return place(slice, combination->data, combination->count) && is_of_one_type(slice);
  }

  bool place(const Slice& slice, Place& place, int& count) {
    if (slice.list_size != 0 || slice.range.count == 0) return false;
    const bool in_scratch = slice.buffer == Buffer::scratch;
    if (call_.leaves_empty_out) {
      if (in_scratch || slice.range.count != 1 || prepared_.header.segments != 1) return false;
      place = {slice.range.first, layout_.is_irregular(slice.buffer) ? Where::blocks : Where::own};
      return true;
    }
    const Piece piece = layout_.locate(slice.buffer, slice.range);
    count = static_cast<int>(piece.count);
    if (in_scratch) {
      place = {piece.address - frame_.room().memory, Where::room};
      return true;
    }
    // In place there is one of them.
    const bool sent =
        data_.receive == nullptr || (slice.buffer == Buffer::send && data_.send != nullptr);
    const char* const begin = sent ? data_.send : data_.receive;
    place = {piece.address - begin, sent ? Where::send : Where::receive};
    return begin != nullptr;
  }

  bool in_packed_bytes(const Slice& slice) const {
    return !layout_.reduces() && slice.buffer == Buffer::scratch;
  }
  // Also where its data are located as bytes: they are the user's, of a type that may have gaps.
  bool is_plain(const Slice& slice) const {
    if (in_packed_bytes(slice)) return true;
    const DatatypeInfo& type = frame_.type_of(slice);
    return type.dense && type.named && type.size != 0;
  }
  // All messages and combinations.
  bool is_of_one_type(const Slice& slice) {
    const bool cut = !layout_.reduces() && prepared_.header.segments > 1;  // located as bytes
    const MPI_Datatype type =
        cut || in_packed_bytes(slice) ? MPI_BYTE : frame_.type_of(slice).handle;
    if (run_.type != MPI_DATATYPE_NULL && run_.type != type) return false;
    run_.type = type;
    return is_plain(slice);
  }

  const Prepared& prepared_;
  const CollectiveCall& call_;
  const ShortRunData& data_;
  ShortRun& run_;
  Frame frame_;
  const Layout& layout_ = frame_.layout();
};

// Where and how long it is is the call's to say.
bool is_irregular(const Place& place) {
  return place.where == Where::blocks || place.where == Where::own;
}

// Of one run.
class Runner {
 public:
  Runner(const ShortRun& run, const ShortRunData& data, char* room)
      : run_(run), data_(data), room_(room) {}

  int run() {
    FirstError error;
    for (const Operation& operation : run_.all()) error.add(one(operation));
    return error.code();
  }
  // Whether a copy is to go where it is.
  bool stays(const Operation& copy) const {
    const bool of_user = copy.data.where != Where::room && copy.from.where != Where::room;
    return of_user && bytes_of_copy(copy) != 0 && find(copy.data) == find(copy.from);
  }
  // One that holds something, of those in one buffer, whose beginning may lie in no memory at all;
  // nullptr where there is none.
  const char* some_block() const {
    for (const Operation& operation : run_.all()) {
      if (operation.data.where == Where::blocks && count_of(operation) != 0) {
        return find(operation.data);
      }
      const bool copies_one = operation.kind == Kind::copy && operation.from.where == Where::blocks;
      if (copies_one && bytes_of_copy(operation) != 0) return find(operation.from);
    }
    return nullptr;
  }

 private:
  char* find(const Place& place) const {
    switch (place.where) {
      case Where::send:
        return data_.send + place.at;
      case Where::receive:
        return data_.receive + place.at;
      case Where::room:
        return room_ + place.at;
      case Where::blocks:
        return data_.blocks.at(static_cast<Rank>(place.at));
      case Where::own:
        return data_.own;
    }
    return nullptr;
  }

  int count_of(const Operation& operation) const {
    if (operation.data.where == Where::blocks) {
      return static_cast<int>(data_.blocks.counts[static_cast<Rank>(operation.data.at)]);
    }
    if (operation.data.where == Where::own) return static_cast<int>(data_.own_count);
    return operation.count;
  }

  int one(const Operation& operation) {
    const int count = count_of(operation);
    const bool empty = count == 0 && is_irregular(operation.data);
    if (empty) return operation.kind == Kind::receive ? finish_send() : MPI_SUCCESS;
    char* const data = find(operation.data);
    switch (operation.kind) {
      case Kind::send:
        return PMPI_Send(data, count, run_.type, operation.peer, operation.tag, run_.comm);
      case Kind::post_send:
        return PMPI_Isend(data, count, run_.type, operation.peer, operation.tag, run_.comm,
                          &posted_);
      case Kind::receive: {
        const int received = PMPI_Recv(data, count, run_.type, operation.peer, operation.tag,
                                       run_.comm, MPI_STATUS_IGNORE);
        const int sent = finish_send();
        arrived_ = received == MPI_SUCCESS;
        return received != MPI_SUCCESS ? received : sent;
      }
      case Kind::copy:
        std::memcpy(data, find(operation.from), bytes_of_copy(operation));
        return MPI_SUCCESS;
      case Kind::combine:
        if (count == 0 || (operation.from.where == Where::room && !arrived_)) return MPI_SUCCESS;
        return PMPI_Reduce_local(find(operation.from), data, count, run_.type, run_.op);
    }
    return MPI_SUCCESS;
  }

  std::size_t bytes_of_copy(const Operation& operation) const {
    return is_irregular(operation.data)
               ? static_cast<std::size_t>(data_.own_count) * run_.own_type.size
               : static_cast<std::size_t>(operation.count);
  }
  int finish_send() {
    return posted_ == MPI_REQUEST_NULL ? MPI_SUCCESS : PMPI_Wait(&posted_, MPI_STATUS_IGNORE);
  }

  const ShortRun& run_;
  const ShortRunData& data_;
  char* room_;
  MPI_Request posted_ = MPI_REQUEST_NULL;
  bool arrived_ = true;
};

}  // namespace

bool make_short_run(const Prepared& prepared, const CollectiveCall& call, Workspace& workspace,
                    const ShortRunData& data, ShortRun& run) {
  const bool simple = call.window == nullptr && call.progress_hook == nullptr;
  return simple && goes_in_lockstep(prepared, call) &&
         Maker(prepared, call, workspace, data, run).make();
}

[[gnu::hot]] bool may_run(const ShortRun& run, const ShortRunData& data) {
  const auto is_host = [&](Where where, const void* buffer) {
    return !run.uses(where) || buffer == nullptr || device::owner_of(buffer) == nullptr;
  };
  if (!is_host(Where::send, data.send) || !is_host(Where::receive, data.receive) ||
      !is_host(Where::own, data.own)) {
    return false;
  }
  char none = 0;
  const Runner runner(run, data, &none);
  if (!is_host(Where::blocks, run.uses(Where::blocks) ? runner.some_block() : nullptr)) {
    return false;
  }
  return std::ranges::none_of(run.all(), [&](const Operation& operation) {
    return operation.kind == Kind::copy && runner.stays(operation);
  });
}

[[gnu::hot]] int execute(const ShortRun& run, const ShortRunData& data, Workspace& workspace) {
  char none = 0;  // of a run that needs no room
  char* const room = run.room == 0 ? &none : workspace.frame.reserve(run.room);
  return room == nullptr ? MPI_ERR_NO_MEM : Runner(run, data, room).run();
}

}  // namespace sibyl
