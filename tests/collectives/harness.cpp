// Layouts and guarded buffers; see harness.hpp.
#include "collectives/harness.hpp"

#include <algorithm>
#include <cstring>

namespace sibyl::test {
namespace {

constexpr std::ptrdiff_t guard_bytes = 64;

unsigned char pattern(std::size_t place) { return static_cast<unsigned char>(place * 37 + 11); }

}  // namespace

Layouts::Layouts() {
  const std::vector<MPI_Aint> in_order{0, 4, 8, 12};
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(4, MPI_INT32_T, &made);
  add("contiguous", in_order, made);
  MPI_Type_vector(2, 2, 3, MPI_INT32_T, &made);
  add("vector", {0, 4, 12, 16}, made);
  MPI_Type_vector(4, 1, -2, MPI_INT32_T, &made);
  add("backward vector", {0, -8, -16, -24}, made);
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(4, MPI_INT32_T, &inner);
  MPI_Type_dup(inner, &made);
  MPI_Type_free(&inner);
  add("duplicate", in_order, made);
  add("negative lower bound", in_order, -8, 32);
  add("struct with gaps", {4, 16, 20, 40}, 0, 48);
  add("permuted", {12, 0, 8, 4}, 0, 16);
  add("interleaved", {0, 1 << 17, 2 << 17, 3 << 17}, 0, 4);  // a column: up to 32768 elements
  add("below its origin", {-16, -12, -4, 8}, -16, 32);
  add("backward elements", in_order, 0, -16);
  add("backward elements with gaps", {-4, -12, 8, -20}, -20, -40);
}

Layouts::~Layouts() {
  for (Layout& layout : layouts_) MPI_Type_free(&layout.type);
}

void Layouts::add(std::string name, std::vector<MPI_Aint> offsets, MPI_Aint lower_bound,
                  MPI_Aint extent) {
  MPI_Datatype indexed = MPI_DATATYPE_NULL;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed_block(static_cast<int>(offsets.size()), 1, offsets.data(), MPI_INT32_T,
                                 &indexed);
  MPI_Type_create_resized(indexed, lower_bound, extent, &made);
  MPI_Type_free(&indexed);
  add(std::move(name), std::move(offsets), made);
}

void Layouts::add(std::string name, std::vector<MPI_Aint> offsets, MPI_Datatype made) {
  MPI_Type_commit(&made);
  Layout layout;
  layout.name = std::move(name);
  layout.offsets = std::move(offsets);
  layout.type = made;
  MPI_Type_get_extent(made, &layout.lower_bound, &layout.extent);
  layouts_.push_back(layout);
}

GuardedBuffer::GuardedBuffer(const Layout& layout, std::int64_t count)
    : layout_(layout), count_(count) {
  std::ptrdiff_t low = 0;
  std::ptrdiff_t high = 0;
  for (const std::int64_t element : {std::int64_t{0}, std::max<std::int64_t>(count, 1) - 1}) {
    for (const MPI_Aint offset : layout.offsets) {
      const std::ptrdiff_t at = offset + element * layout.extent;
      low = std::min(low, at);
      high = std::max(high, at + 4);
    }
  }
  origin_ = guard_bytes - low;
  bytes_.resize(static_cast<std::size_t>(high - low + 2 * guard_bytes));
  for (std::size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = pattern(i);
  take_snapshot();
}

std::size_t GuardedBuffer::place(std::int64_t element, int component) const {
  return static_cast<std::size_t>(origin_ + element * layout_.extent +
                                  layout_.offsets[static_cast<std::size_t>(component)]);
}

std::int32_t GuardedBuffer::get(std::int64_t element, int component) const {
  std::int32_t value = 0;
  std::memcpy(&value, &bytes_[place(element, component)], sizeof value);
  return value;
}

void GuardedBuffer::set(std::int64_t element, int component, std::int32_t value) {
  std::memcpy(&bytes_[place(element, component)], &value, sizeof value);
}

bool GuardedBuffer::surroundings_untouched() const {
  std::vector<bool> data(bytes_.size(), false);
  for (std::int64_t element = 0; element < count_; ++element) {
    for (int component = 0; component < layout_.components(); ++component) {
      const std::size_t first = place(element, component);
      for (std::size_t i = first; i < first + 4; ++i) data[i] = true;
    }
  }
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    if (!data[i] && bytes_[i] != pattern(i)) return false;
  }
  return true;
}

}  // namespace sibyl::test
