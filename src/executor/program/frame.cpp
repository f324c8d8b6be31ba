// Memory and local steps of one run; see frame.hpp.
#include "executor/program/frame.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "executor/mpi_library.hpp"
#include "schedule/dependencies.hpp"

namespace sibyl {
namespace {

// Open MPI answers a sender only inside its calls: a gather of 800 KB blocks that copies its own in
// one go takes 25 % longer there. A piece takes some microseconds to copy, a call a tenth of one.
// MPICH over UCX is 20 % slower when it is called in between, so it is not.
std::size_t copied_at_once() {
  return mpi_library() == MpiLibrary::openmpi ? 65536 : std::numeric_limits<std::size_t>::max();
}

void copy_bytes(const char* from, char* to, std::size_t bytes,
                const std::function<void()>& between) {
  for (std::size_t done = 0; done < bytes;) {
    if (done != 0 && between) between();
    const std::size_t now = std::min(copied_at_once(), bytes - done);
    std::memcpy(to + done, from + done, now);
    done += now;
  }
}

}  // namespace

Frame::Frame(const Prepared& prepared, const CollectiveCall& call, Workspace& workspace)
    : prepared_(prepared),
      call_(call),
      layout_(prepared.header, prepared.program, call),
      packed_places_(workspace.packed) {
  if (prepared.staging_slots != 0) staged_bytes_ = in_cache_lines(bytes_to_stage());
  const std::size_t scratch = in_cache_lines(layout_.scratch_bytes());
  const std::size_t staging = prepared.staging_slots * staged_bytes_;
  const std::size_t packed = prepared.packed.empty() ? 0 : place_packed_messages();
  const bool dense = layout_.reduces() ? layout_.vector().type.dense
                                       : call.send.type.dense && call.receive.type.dense;
  const std::size_t total = scratch + staging + packed + (dense ? 0 : call.block_bytes);
  if (total != 0) {
    char* const memory = workspace.frame.reserve(total);
    if (memory == nullptr) return;
    room_ = {memory, total};
    layout_.place_scratch(memory);
    staging_ = memory + scratch;
    packed_ = staging_ + staging;
    copy_room_ = packed_ + packed;
  }
  ready_ = true;
}

// Of the longest message that is combined.
std::size_t Frame::bytes_to_stage() const {
  const UserBuffer& vector = layout_.vector();
  if (call_.block_begins.empty()) {
    const auto units = static_cast<MPI_Count>(data_units(prepared_.header));
    const MPI_Count parts = vector.count * static_cast<MPI_Count>(prepared_.staged_parts);
    return span_of(vector.type, (parts + units - 1) / units);
  }
  MPI_Count most = 0;
  for (const StepIndex index : prepared_.receives) {
    if (step(index).kind == StepKind::receive_combine) {
      most = std::max(most, layout_.elements_of(step(index).slice.range));
    }
  }
  return span_of(vector.type, most);
}

std::size_t Frame::bytes_of(const Slice& slice) const {
  std::size_t bytes = 0;
  for (const Range& range : prepared_.program.ranges_of(slice)) {
    bytes += layout_.bytes_of(slice.buffer, range);
  }
  return bytes;
}

// Returns the bytes of all.
std::size_t Frame::place_packed_messages() {
  std::size_t end = 0;
  packed_places_.clear();
  for (const StepIndex index : prepared_.packed) {
    const std::size_t bytes = is_packed(index) ? bytes_of(step(index).slice) : 0;
    packed_places_.push_back({end, bytes});
    end += in_cache_lines(bytes);
  }
  return end;
}

Piece Frame::packed_message(StepIndex index) const {
  const PackedPlace& place = packed_places_[prepared_.packed_ordinal[index]];
  return {packed_ + place.begin, static_cast<MPI_Count>(place.bytes), MPI_BYTE};
}

std::size_t Frame::element_bytes(StepIndex index) const {
  const Slice& slice = step(index).slice;
  if (slice.range.count == 0 || is_packed(index)) return 1;
  if (!layout_.reduces() && (slice.buffer == Buffer::scratch || prepared_.header.segments > 1)) {
    return 1;  // located as bytes
  }
  const DatatypeInfo& type = type_of(slice);
  return type.dense ? type.size : 0;
}

const DatatypeInfo& Frame::type_of(const Slice& slice) const {
  return layout_.reduces() ? layout_.vector().type : layout_.user(slice.buffer).type;
}

bool Frame::has_data(StepIndex index) const {
  const Slice& slice = step(index).slice;
  return slice.range.count == 0 || bytes_of(slice) != 0;
}

Piece Frame::staged(StepIndex index, std::uint32_t slot) const {
  Piece piece = layout_.locate(step(index).slice.buffer, step(index).slice.range);
  piece.address = staging_place(slot, piece.count);
  return piece;
}

char* Frame::staging_place(std::uint32_t slot, MPI_Count elements) const {
  return staging_ + slot * staged_bytes_ - lowest_of(layout_.vector().type, elements);
}

// Blocks that lie one after the other, one block, or a part of one.
int Frame::move_block(Buffer buffer, const Range& range, bool into_packed, char* packed) const {
  const Piece place = layout_.locate(buffer, range);
  if (place.count == 0) return MPI_SUCCESS;
  if (buffer == Buffer::scratch || prepared_.header.segments > 1) {  // located as bytes
    std::memcpy(into_packed ? packed : place.address, into_packed ? place.address : packed,
                static_cast<std::size_t>(place.count));
    return MPI_SUCCESS;
  }
  const DatatypeInfo& type = layout_.user(buffer).type;
  return into_packed ? pack(place.address, place.count, type, packed, call_.comm)
                     : unpack(packed, place.address, place.count, type, call_.comm);
}

int Frame::move_message(StepIndex index, bool into_packed) const {
  const Slice& slice = step(index).slice;
  char* packed = message(index).address;
  int first_error = MPI_SUCCESS;
  const auto move = [&](const Range& range) {
    const int error = move_block(slice.buffer, range, into_packed, packed);
    if (first_error == MPI_SUCCESS) first_error = error;
    packed += layout_.bytes_of(slice.buffer, range);
  };
  for (const Range& range : prepared_.program.ranges_of(slice)) {
    if (!layout_.is_irregular(slice.buffer)) {
      move(range);
      continue;
    }
    for (Unit unit = range.first; unit < range.first + range.count; ++unit) move({unit, 1});
  }
  return first_error;
}

// A vector shorter than its number of parts has parts of no elements.
int Frame::combine(const Piece& from, const Piece& to) const {
  if (to.count == 0) return MPI_SUCCESS;
  return PMPI_Reduce_local(from.address, to.address, static_cast<int>(to.count), to.type, call_.op);
}

int Frame::combine_staged(StepIndex index, std::uint32_t slot) const {
  const Piece to = message(index);
  return combine({staging_place(slot, to.count), to.count, to.type}, to);
}

int Frame::combine_part(StepIndex index, const char* from, std::size_t begin,
                        std::size_t bytes) const {
  const Piece whole = message(index);
  if (whole.count == 0) return MPI_SUCCESS;  // and so has nowhere to lie
  const std::size_t element = layout_.vector().type.size;
  // MPI does not write to what it takes from.
  return combine({const_cast<char*>(from), 0, whole.type},
                 {whole.address + begin, static_cast<MPI_Count>(bytes / element), whole.type});
}

int Frame::copy(const Step& step, const std::function<void()>& between) const {
  const Piece from = layout_.locate(step.from.buffer, step.from.range);
  const Piece to = layout_.locate(step.slice.buffer, step.slice.range);
  if (layout_.reduces()) {
    return copy_elements(from.address, to.address, to.count, layout_.vector().type, copy_room_,
                         call_.comm);
  }
  // Between a user's buffer and packed bytes, or between the user's two buffers, whose types may
  // differ as long as their signatures match.
  const bool cut = prepared_.header.segments > 1;  // located as bytes
  const bool from_packed = cut || step.from.buffer == Buffer::scratch;
  const bool to_packed = cut || step.slice.buffer == Buffer::scratch;
  const DatatypeInfo& from_type = layout_.user(step.from.buffer).type;
  const DatatypeInfo& to_type = layout_.user(step.slice.buffer).type;
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
  const Piece from = layout_.locate(local.from.buffer, local.from.range);
  return combine(from, layout_.locate(local.slice.buffer, local.slice.range));
}

}  // namespace sibyl
