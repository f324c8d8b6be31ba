// Copies in host memory; see host_copies.hpp.
//
// Which bytes a datatype with gaps touches is found by unpacking ones into zeros, so that types
// need not be taken apart by how they were made. Pieces of equal size at equal distances, as
// columns of a matrix, are one copy of rows.
#include "executor/host_copies.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/own_failure.hpp"

namespace sibyl {
namespace {

// Of a type that is unpacked at a time.
constexpr std::size_t unpacked_at_once = std::size_t{1} << 20;
constexpr std::size_t largest_element = std::size_t{1} << 30;  // unpacking counts in an int
// What a mask may be larger than what the type holds, before memory for it is a risk.
constexpr std::size_t most_gaps = 64;

bool is_vector(Collective collective) {
  return combines(collective) || collective == Collective::bcast;
}

bool is_significant(const UserBuffer& buffer) { return buffer.type.handle != MPI_DATATYPE_NULL; }

// What is in place has the description of the receive side for its send side, too; equal addresses
// alone say nothing, since those of a call with blocks are shifted by the rank.
bool is_in_place(const CollectiveCall& call) {
  const UserBuffer& send = call.send;
  const UserBuffer& receive = call.receive;
  return is_significant(send) && is_significant(receive) && send.irregular == receive.irregular &&
         send.base == receive.base && send.stride == receive.stride &&
         send.type.handle == receive.type.handle;
}

// Where the first byte of these elements lies. The address is null, MPI_BOTTOM, where the type's
// displacements are addresses.
char* lowest(char* address, MPI_Count count, const DatatypeInfo& type) {
  return address + lowest_of(type, count);  // NOLINT(clang-analyzer-core.NullPointerArithm)
}

}  // namespace

std::size_t HostCopies::small_span = std::size_t{1} << 28;

// Both hand pieces to `add` until it returns true, and return whether it has.
template <class Add>
bool HostCopies::each_read(const CallShape& shape, const CollectiveCall& call, Add add) {
  const UserBuffer& send = call.send;
  if (!is_significant(send)) return false;
  const auto add_block = [&](Rank rank) {
    if (send.bytes_of(rank) == 0) return false;
    const UserBuffer::Block block = send.block(rank);
    return add(Piece{block.address, block.count, &send.type});
  };
  if (is_vector(shape.collective)) return add_block(0);
  if (!scatters(shape.collective) && !exchanges_all(shape.collective)) return add_block(shape.rank);
  for (Rank rank = 0; rank < shape.ranks; ++rank) {
    if (add_block(rank)) return true;
  }
  return false;
}

template <class Add>
bool HostCopies::each_written(const CallShape& shape, const CollectiveCall& call, Add add) {
  const UserBuffer& receive = call.receive;
  const Collective collective = shape.collective;
  if (!is_significant(receive)) return false;
  const auto add_block = [&](Rank rank) {
    if (receive.bytes_of(rank) == 0) return false;
    const UserBuffer::Block block = receive.block(rank);
    return add(Piece{block.address, block.count, &receive.type});
  };
  if (scatters_sums(collective)) {
    const MPI_Count begin = call.block_begins[static_cast<std::size_t>(shape.rank)];
    const MPI_Count end = call.block_begins[static_cast<std::size_t>(shape.rank) + 1];
    char* const address = receive.base + static_cast<MPI_Aint>(begin) * receive.type.extent;
    return end > begin && add(Piece{address, end - begin, &receive.type});
  }
  if (collective == Collective::exscan && shape.rank == 0) return false;
  if (collective == Collective::reduce && shape.rank != shape.root) return false;
  if (is_vector(collective)) return add_block(0);
  if (scatters(collective)) return add_block(shape.rank);
  // An own block that is in its place is not moved.
  const bool stays =
      (!is_significant(call.send) || is_in_place(call)) && !exchanges_all(collective);
  for (Rank rank = 0; rank < shape.ranks; ++rank) {
    if (rank == shape.rank && stays) continue;
    if (add_block(rank)) return true;
  }
  return false;
}

device::Runtime* HostCopies::owner_of(const Piece& piece) {
  return device::owner_of(lowest(piece.address, piece.count, *piece.type));
}

bool HostCopies::are_needed(const CallShape& shape, const CollectiveCall& call) {
  bool needed = false;
  const auto ask = [&](const Piece& piece) {
    needed = owner_of(piece) != nullptr;
    return true;  // a buffer lies in one memory
  };
  each_read(shape, call, ask);
  if (!needed) each_written(shape, call, ask);
  return needed;
}

void HostCopies::measure(Side& side) {
  side.moved = false;
  side.shift = 0;
  side.low = side.high = nullptr;
  side.owner = side.pieces.empty() ? nullptr : owner_of(side.pieces.front());
  for (const Piece& piece : side.pieces) {
    char* const low = lowest(piece.address, piece.count, *piece.type);
    if (side.low == nullptr || low < side.low) side.low = low;
    side.high = std::max(side.high, low + span_of(*piece.type, piece.count));
  }
}

// A call in place reads and writes one buffer, which has one copy.
int HostCopies::place(bool in_place) {
  constexpr std::size_t alignment = 64;
  auto& [read, written] = sides_;
  const auto give = [](Side& side, char* low, const char* high) {
    const std::size_t before = reinterpret_cast<std::uintptr_t>(low) % alignment;
    char* const memory = side.memory.reserve(before + static_cast<std::size_t>(high - low));
    if (memory == nullptr) return false;
    side.shift = memory + before - low;
    return side.moved = true;
  };
  const bool both = read.owner != nullptr && written.owner != nullptr;
  if (both && (in_place || (read.low < written.high && written.low < read.high))) {
    if (!give(read, std::min(read.low, written.low), std::max(read.high, written.high))) {
      return MPI_ERR_NO_MEM;
    }
  } else {
    for (Side& side : sides_) {
      if (side.owner != nullptr && !give(side, side.low, side.high)) return MPI_ERR_NO_MEM;
    }
    if (!in_place || read.moved == written.moved) return MPI_SUCCESS;
  }
  (read.moved ? written : read).shift = (read.moved ? read : written).shift;
  read.moved = written.moved = true;
  return MPI_SUCCESS;
}

void HostCopies::move(Side& side, UserBuffer& buffer) {
  if (!side.moved) return;
  if (buffer.irregular != nullptr) {
    side.blocks = *buffer.irregular;
    side.blocks.base += side.shift;
    buffer.irregular = &side.blocks;
  }
  buffer.base += side.shift;
}

int HostCopies::redirect(const CallShape& shape, CollectiveCall& call, MPI_Comm comm) {
  return guarded(
      [&]() -> int {
        for (Side& side : sides_) side.pieces.clear();
        const auto keep_in = [](Side& side) {
          return [&side](const Piece& piece) {
            side.pieces.push_back(piece);
            return false;
          };
        };
        each_read(shape, call, keep_in(sides_[0]));
        each_written(shape, call, keep_in(sides_[1]));
        for (Side& side : sides_) measure(side);
        const int placed = place(is_in_place(call));
        if (placed != MPI_SUCCESS) return placed;
        for (Side& side : sides_) find_runs(side, comm);
        move(sides_[0], call.send);
        move(sides_[1], call.receive);
        return MPI_SUCCESS;
      },
      MPI_ERR_NO_MEM);
}

void HostCopies::find_runs(Side& side, MPI_Comm comm) {
  side.runs.clear();
  if (side.owner == nullptr) return;
  for (const Piece& piece : side.pieces) {
    const DatatypeInfo& type = *piece.type;
    const std::size_t bytes = static_cast<std::size_t>(piece.count) * type.size;
    if (type.dense) {
      side.runs.push_back({piece.address, {.width = bytes}});
      continue;
    }
    char* const low = lowest(piece.address, piece.count, type);
    const std::size_t span = span_of(type, piece.count);
    const bool sparse = span / most_gaps > bytes && span > small_span;
    char* const mask = sparse || type.size > largest_element ? nullptr : mask_.reserve(span);
    bool known = mask != nullptr;
    if (known) std::memset(mask, 0, span);
    const auto at_once =
        static_cast<MPI_Count>(std::max<std::size_t>(1, unpacked_at_once / type.size));
    for (MPI_Count done = 0; done < piece.count && known; done += at_once) {
      const MPI_Count now = std::min(at_once, piece.count - done);
      char* const at = mask + (piece.address - low) + static_cast<MPI_Aint>(done) * type.extent;
      ones_.assign(static_cast<std::size_t>(now) * type.size, '\1');
      known = unpack(ones_.data(), at, now, type, comm) == MPI_SUCCESS;
    }
    if (known) {
      add_runs_of_mask(mask, span, low, side.runs);
    } else {
      side.runs.push_back({low, {.width = span}, true});
    }
  }
}

void HostCopies::add_runs_of_mask(const char* mask, std::size_t bytes, char* begin,
                                  std::vector<Run>& runs) {
  Run open{};
  for (std::size_t at = 0; at < bytes;) {
    const void* const first = std::memchr(mask + at, 1, bytes - at);
    if (first == nullptr) break;
    const auto from = static_cast<std::size_t>(static_cast<const char*>(first) - mask);
    const void* const gap = std::memchr(mask + from, 0, bytes - from);
    const std::size_t to =
        gap == nullptr ? bytes : static_cast<std::size_t>(static_cast<const char*>(gap) - mask);
    at = to;
    char* const address = begin + from;
    const std::size_t width = to - from;
    if (open.begin != nullptr && open.rows.width == width) {
      const auto pitch =
          static_cast<std::size_t>(address - (open.begin + (open.rows.rows - 1) * open.rows.pitch));
      if (open.rows.rows == 1 || pitch == open.rows.pitch) {
        open.rows.pitch = pitch;
        ++open.rows.rows;
        continue;
      }
    }
    if (open.begin != nullptr) runs.push_back(open);
    open = {address, {.width = width}};
  }
  if (open.begin != nullptr) runs.push_back(open);
}

bool HostCopies::bring_gaps() const {
  return std::ranges::any_of(
      sides_, [](const Side& side) { return std::ranges::any_of(side.runs, &Run::with_gaps); });
}

int HostCopies::bring() {
  int error = MPI_SUCCESS;
  auto& [read, written] = sides_;
  const auto take = [&](Side& side, bool all) {
    for (const Run& run : side.runs) {
      if (!all && !run.with_gaps) continue;
      if (!device::copy(side.owner, run.begin, run.begin + side.shift, run.begin, run.rows)) {
        error = MPI_ERR_OTHER;
      }
    }
  };
  take(written, false);  // first, since in place it lies where is read
  take(read, true);
  return error;
}

int HostCopies::deliver() {
  Side& written = sides_[1];
  if (written.runs.empty()) return MPI_SUCCESS;
  bool done = true;
  for (const Run& run : written.runs) {
    done = device::copy(written.owner, run.begin, run.begin, run.begin + written.shift, run.rows) &&
           done;
  }
  if (written.owner != nullptr) done = written.owner->settle() && done;
  return done ? MPI_SUCCESS : MPI_ERR_OTHER;
}

}  // namespace sibyl
