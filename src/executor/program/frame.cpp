// Addresses and local steps of one run; see frame.hpp.
#include "executor/program/frame.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace sibyl {
namespace {

constexpr std::size_t cache_line = 64;

std::size_t round_up(std::size_t bytes) {
  return (bytes + cache_line - 1) / cache_line * cache_line;
}

// Open MPI answers a sender only inside its calls: a gather of 800 KB blocks that copies its own in
// one go takes 25 % longer there. A piece takes some microseconds to copy, a call a tenth of one.
// MPICH over UCX is 20 % slower when it is called in between, so it is not.
#ifdef OPEN_MPI
constexpr std::size_t copied_at_once = 65536;
#else
constexpr std::size_t copied_at_once = std::numeric_limits<std::size_t>::max();
#endif

void copy_bytes(const char* from, char* to, std::size_t bytes,
                const std::function<void()>& between) {
  for (std::size_t done = 0; done < bytes;) {
    if (done != 0) between();
    const std::size_t now = std::min(copied_at_once, bytes - done);
    std::memcpy(to + done, from + done, now);
    done += now;
  }
}

}  // namespace

const UserBuffer& Frame::vector_buffer() const {
  // Rank 0 of an exclusive scan in place has both, others too; count and type are the same.
  return call_.send.base != nullptr ? call_.send : call_.receive;
}

Frame::Elements Frame::elements_of(const Range& part) const {
  const MPI_Count count = vector_buffer().count;
  const auto segments = static_cast<MPI_Count>(prepared_.header.segments);
  const MPI_Count first = static_cast<MPI_Count>(part.first) * count / segments;
  const MPI_Count end = static_cast<MPI_Count>(part.first + part.count) * count / segments;
  return {first, end - first};
}

Frame::Frame(const Prepared& prepared, const CollectiveCall& call, Workspace& workspace)
    : prepared_(prepared), call_(call) {
  std::size_t scratch = 0;  // units or copies
  std::size_t copy_bytes = 0;
  if (moves_blocks()) {
    scratch_bytes_ = call.block_bytes;  // contiguous, so that a run of units is one message
    scratch = prepared.program.scratch_units;
    if (!call.send.type.dense || !call.receive.type.dense) copy_bytes = call.block_bytes;
  } else {
    const UserBuffer& vector = vector_buffer();
    const Unit segments = prepared.header.segments;
    scratch_bytes_ = round_up(span_of(vector.type, vector.count));
    scratch = (std::size_t{prepared.program.scratch_units} + segments - 1) / segments;
    const MPI_Count staged = vector.count * static_cast<MPI_Count>(prepared.staged_parts);
    staged_bytes_ = round_up(span_of(vector.type, (staged + segments - 1) / segments));
    if (!vector.type.dense) copy_bytes = call.block_bytes;
  }
  scratch = round_up(scratch * scratch_bytes_);
  const std::size_t staging = prepared.staging_slots * staged_bytes_;
  const std::size_t packed = round_up(prepared.packed_units * call.block_bytes);
  const std::size_t total = scratch + staging + packed + copy_bytes;
  if (total != 0) {
    scratch_ = workspace.frame.reserve(total);
    if (scratch_ == nullptr) return;
    staging_ = scratch_ + scratch;
    packed_ = staging_ + staging;
    copy_room_ = packed_ + packed;
  }
  ready_ = true;
}

// Bytes from the start of a block to the start of one of its segments, in a cut block.
std::size_t Frame::block_offset(Unit unit) const {
  const Unit block = unit / prepared_.header.segments;
  const bool second = unit % prepared_.header.segments != 0;
  return block * call_.block_bytes + (second ? call_.first_segment : 0);
}

Piece Frame::locate(Buffer buffer, const Range& range) const {
  if (range.count == 0) return {};
  if (!moves_blocks()) {
    const UserBuffer& vector = vector_buffer();
    const Unit segments = prepared_.header.segments;
    const bool scratch = buffer == Buffer::scratch;
    const Elements elements =
        elements_of({scratch ? range.first % segments : range.first, range.count});
    char* base = scratch ? scratch_ + range.first / segments * scratch_bytes_ -
                               lowest_of(vector.type, vector.count)
                         : user(buffer).base;
    return {base + static_cast<MPI_Aint>(elements.first) * vector.type.extent,
            static_cast<int>(elements.count), vector.type.handle};
  }
  if (buffer == Buffer::scratch) {
    return {scratch_ + range.first * scratch_bytes_, static_cast<int>(range.count * scratch_bytes_),
            MPI_BYTE};
  }
  const UserBuffer& data = user(buffer);
  if (data.irregular != nullptr) {
    const auto rank = static_cast<Rank>(range.first);
    const MPI_Count count = data.irregular->counts[rank];
    return {count == 0 ? nullptr : data.irregular->at(rank), count, data.type.handle};
  }
  if (prepared_.header.segments == 1) {
    return {data.base + static_cast<MPI_Aint>(range.first) * data.stride,
            static_cast<MPI_Count>(range.count) * data.count, data.type.handle};
  }
  const std::size_t begin = block_offset(range.first);
  return {data.base + begin, static_cast<int>(block_offset(range.first + range.count) - begin),
          MPI_BYTE};
}

Piece Frame::packed_place(StepIndex index) const {
  return {packed_ + prepared_.packed_unit[index] * call_.block_bytes,
          static_cast<int>(step(index).slice.range.count * call_.block_bytes), MPI_BYTE};
}

Piece Frame::message(StepIndex index) const {
  if (prepared_.packed_unit[index] != Prepared::not_packed) return packed_place(index);
  return locate(step(index).slice.buffer, step(index).slice.range);
}

bool Frame::is_sent(StepIndex index) const {
  if (!call_.leaves_empty_out) return true;
  const Slice& slice = step(index).slice;
  const UserBuffer& data = user(slice.buffer);
  if (data.irregular != nullptr) {
    return data.irregular->bytes(static_cast<Rank>(slice.range.first)) != 0;
  }
  return data.count != 0 && data.type.size != 0;
}

Piece Frame::staged(StepIndex index, std::uint32_t slot) const {
  Piece piece = locate(step(index).slice.buffer, step(index).slice.range);
  piece.address = staging_ + slot * staged_bytes_ - lowest_of(vector_buffer().type, piece.count);
  return piece;
}

int Frame::move_message(StepIndex index, bool into_packed) const {
  if (prepared_.packed_unit[index] == Prepared::not_packed) return MPI_SUCCESS;
  const Slice& slice = step(index).slice;
  const UserBuffer& data = user(slice.buffer);
  char* packed = packed_place(index).address;
  int first_error = MPI_SUCCESS;
  for (const Range& range : prepared_.program.ranges_of(slice)) {
    char* place = slice.buffer == Buffer::scratch
                      ? scratch_ + range.first * scratch_bytes_
                      : data.base + static_cast<MPI_Aint>(range.first) * data.stride;
    const std::size_t bytes = range.count * call_.block_bytes;
    int error = MPI_SUCCESS;
    if (slice.buffer == Buffer::scratch) {
      std::memcpy(into_packed ? packed : place, into_packed ? place : packed, bytes);
    } else if (into_packed) {
      error = pack(place, range.count * data.count, data.type, packed, call_.comm);
    } else {
      error = unpack(packed, place, range.count * data.count, data.type, call_.comm);
    }
    if (first_error == MPI_SUCCESS) first_error = error;
    packed += bytes;
  }
  return first_error;
}

int Frame::gather_message(StepIndex index) const { return move_message(index, true); }
int Frame::scatter_message(StepIndex index) const { return move_message(index, false); }

// A vector shorter than its number of parts has parts of no elements.
int Frame::combine(const Piece& from, const Piece& to) const {
  if (to.count == 0) return MPI_SUCCESS;
  return PMPI_Reduce_local(from.address, to.address, static_cast<int>(to.count), to.type, call_.op);
}

int Frame::combine_staged(StepIndex index, std::uint32_t slot) const {
  const Piece from = staged(index, slot);
  return combine(from, message(index));
}

int Frame::copy(const Step& step, const std::function<void()>& between) const {
  const Piece from = locate(step.from.buffer, step.from.range);
  const Piece to = locate(step.slice.buffer, step.slice.range);
  if (!moves_blocks()) {
    return copy_elements(from.address, to.address, to.count, vector_buffer().type, copy_room_,
                         call_.comm);
  }
  // Between a user's buffer and packed bytes, or between the user's two buffers, whose types may
  // differ as long as their signatures match.
  const bool cut = prepared_.header.segments > 1;  // located as bytes
  const bool from_packed = cut || step.from.buffer == Buffer::scratch;
  const bool to_packed = cut || step.slice.buffer == Buffer::scratch;
  const DatatypeInfo& from_type = user(step.from.buffer).type;
  const DatatypeInfo& to_type = user(step.slice.buffer).type;
  const std::size_t bytes = from_packed ? static_cast<std::size_t>(from.count)
                                        : static_cast<std::size_t>(from.count) * from_type.size;
  const std::size_t room = to_packed ? static_cast<std::size_t>(to.count)
                                     : static_cast<std::size_t>(to.count) * to_type.size;
  if (bytes > room) return MPI_ERR_TRUNCATE;
  if (bytes == 0) return MPI_SUCCESS;  // there may be no room to copy through
  if ((from_packed || from_type.dense) && (to_packed || to_type.dense)) {
    copy_bytes(from.address, to.address, bytes, between);
    return MPI_SUCCESS;
  }
  if (to_packed) return pack(from.address, from.count, from_type, to.address, call_.comm);
  const MPI_Count arriving = to_type.size == 0 ? 0 : static_cast<MPI_Count>(bytes / to_type.size);
  if (from_packed || from_type.dense) {
    return unpack(from.address, to.address, arriving, to_type, call_.comm);
  }
  const int error = pack(from.address, from.count, from_type, copy_room_, call_.comm);
  if (error != MPI_SUCCESS) return error;
  return unpack(copy_room_, to.address, arriving, to_type, call_.comm);
}

int Frame::run_local(StepIndex index, const std::function<void()>& between) const {
  const Step& local = step(index);
  if (local.kind == StepKind::copy) return copy(local, between);
  const Piece from = locate(local.from.buffer, local.from.range);
  return combine(from, locate(local.slice.buffer, local.slice.range));
}

}  // namespace sibyl
