// Maps of datatypes and their handles; see reference_types.hpp. How random ones are put together
// is in reference_type_maker.cpp.
#include "collectives/reference_types.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <cstdlib>
#include <utility>

namespace sibyl::reference {
namespace {

struct Interval {
  std::ptrdiff_t first;
  std::ptrdiff_t end;
};

std::vector<Interval> intervals_of(const TypeMap& map) {
  std::vector<Interval> all;
  all.reserve(map.entries.size());
  for (const Entry& entry : map.entries)
    all.push_back({entry.at, entry.at + row_of(entry.basic).bytes});
  std::sort(all.begin(), all.end(), [](auto a, auto b) { return a.first < b.first; });
  return all;
}

// Both are sorted; `b` is moved by `shift`.
bool meet(const std::vector<Interval>& a, const std::vector<Interval>& b, std::ptrdiff_t shift) {
  std::size_t i = 0;
  for (const Interval& now : b) {
    while (i < a.size() && a[i].end <= now.first + shift) ++i;
    if (i < a.size() && a[i].first < now.end + shift) return true;
  }
  return false;
}

}  // namespace

const BasicRow& row_of(Basic basic) {
  // Made at run time: handles are addresses in one MPI.
  static const std::array<BasicRow, basic_count> rows{{
      {"char", MPI_CHAR, 1, 1},
      {"byte", MPI_BYTE, 1, 1},
      {"short", MPI_SHORT, sizeof(short), alignof(short)},
      {"int", MPI_INT, sizeof(int), alignof(int)},
      {"unsigned", MPI_UNSIGNED, sizeof(unsigned), alignof(unsigned)},
      {"long", MPI_LONG, sizeof(long), alignof(long)},
      {"ulong", MPI_UNSIGNED_LONG, sizeof(unsigned long), alignof(unsigned long)},
      {"float", MPI_FLOAT, sizeof(float), alignof(float)},
      {"double", MPI_DOUBLE, sizeof(double), alignof(double)},
      {"dcomplex", MPI_C_DOUBLE_COMPLEX, 2 * sizeof(double), alignof(double)},
  }};
  return rows[static_cast<std::size_t>(basic)];
}

std::ptrdiff_t bytes_of(const Signature& signature) {
  std::ptrdiff_t bytes = 0;
  for (const Basic basic : signature) bytes += row_of(basic).bytes;
  return bytes;
}

bool is_mixed(const Signature& signature) {
  return std::any_of(signature.begin(), signature.end(), [&](Basic basic) {
    return row_of(basic).bytes != row_of(signature.front()).bytes;
  });
}

std::string text_of(const Signature& signature) {
  std::string text;
  for (const Basic basic : signature)
    text += (text.empty() ? "" : " ") + std::string(row_of(basic).name);
  return "{" + text + "}";
}

Signature repeated(const Signature& unit, int times) {
  Signature all;
  for (int i = 0; i < times; ++i) all.insert(all.end(), unit.begin(), unit.end());
  return all;
}

std::ptrdiff_t TypeMap::true_lower() const {
  if (entries.empty()) return 0;
  std::ptrdiff_t low = entries.front().at;
  for (const Entry& entry : entries) low = std::min(low, entry.at);
  return low;
}

std::ptrdiff_t TypeMap::true_upper() const {
  if (entries.empty()) return 0;
  std::ptrdiff_t high = entries.front().at;
  for (const Entry& entry : entries) high = std::max(high, entry.at + row_of(entry.basic).bytes);
  return high;
}

bool is_disjoint(const TypeMap& map) {
  const auto all = intervals_of(map);
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].first < all[i - 1].end) return false;
  }
  return true;
}

bool steps_are_disjoint(const TypeMap& map, std::ptrdiff_t extent) {
  if (map.entries.empty()) return true;
  if (extent == 0) return false;
  const auto all = intervals_of(map);
  const std::ptrdiff_t span = map.true_upper() - map.true_lower();
  for (std::ptrdiff_t shift = std::abs(extent); shift < span; shift += std::abs(extent)) {
    if (meet(all, all, shift)) return false;
  }
  return true;
}

Type::Type(MPI_Datatype handle, bool named, TypeMap map, std::string text)
    : handle_(handle), named_(named), map_(std::move(map)), text_(std::move(text)) {}

Type::~Type() {
  if (!named_ && handle_ != MPI_DATATYPE_NULL) MPI_Type_free(&handle_);
}

Type::Type(Type&& other) noexcept
    : handle_(std::exchange(other.handle_, MPI_DATATYPE_NULL)),
      named_(other.named_),
      map_(std::move(other.map_)),
      text_(std::move(other.text_)) {}

Type& Type::operator=(Type&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(named_, other.named_);
  std::swap(map_, other.map_);
  std::swap(text_, other.text_);
  return *this;
}

void Type::commit() {
  if (!named_) MPI_Type_commit(&handle_);
}

std::string Type::disagreement() const {
  if (handle_ == MPI_DATATYPE_NULL) return "no handle";
  int size = 0;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Aint true_lower = 0;
  MPI_Aint true_extent = 0;
  if (MPI_Type_size(handle_, &size) != MPI_SUCCESS ||
      MPI_Type_get_extent(handle_, &lower, &extent) != MPI_SUCCESS ||
      MPI_Type_get_true_extent(handle_, &true_lower, &true_extent) != MPI_SUCCESS) {
    return "MPI cannot tell its bounds";
  }
  std::ptrdiff_t bytes = 0;
  for (const Entry& entry : map_.entries) bytes += row_of(entry.basic).bytes;
  const auto differ = [](const char* what, std::ptrdiff_t theirs, std::ptrdiff_t ours) {
    return theirs == ours ? std::string()
                          : std::string(what) + " " + std::to_string(theirs) + " instead of " +
                                std::to_string(ours) + "; ";
  };
  std::string text = differ("size", size, bytes) + differ("lower bound", lower, map_.lower) +
                     differ("extent", extent, map_.extent());
  if (bytes != 0) {
    text += differ("true lower bound", true_lower, map_.true_lower());
    text += differ("true extent", true_extent, map_.true_upper() - map_.true_lower());
  }
  return text;
}

}  // namespace sibyl::reference
