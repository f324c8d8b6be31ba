// Copies of one datatype by each of MPI's constructors of copies; see reference_type_maker.hpp.
#include <algorithm>
#include <array>
#include <utility>

#include "collectives/reference_type_maker.hpp"

namespace sibyl::reference {
namespace {

template <class List>
std::string text_of(const List& numbers) {
  std::string text;
  for (const auto number : numbers) text += (text.empty() ? "" : " ") + std::to_string(number);
  return "[" + text + "]";
}

std::vector<Block> blocks_of(const Type& inner, const std::vector<int>& lengths) {
  std::vector<Block> blocks;
  blocks.reserve(lengths.size());
  for (const int length : lengths) blocks.push_back({&inner.map(), length, 0});
  return blocks;
}

}  // namespace

Type TypeMaker::strided(const Type& inner, int n) {
  const std::ptrdiff_t extent = inner.map().extent();
  const std::ptrdiff_t unit = alignment_of(inner.map());
  const bool in_bytes = one_in(random_, 2);
  const std::vector<int> lengths = split_evenly(n);
  const auto count = static_cast<int>(lengths.size());
  const int length = lengths.front();
  std::ptrdiff_t stride = length + between(random_, 0, 2);  // elements
  if (in_bytes) stride = length * extent + unit * between(random_, -4, 6);
  if (one_in(random_, 2)) stride = -stride;
  std::vector<Block> blocks = blocks_of(inner, lengths);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    blocks[b].at = static_cast<std::ptrdiff_t>(b) * stride * (in_bytes ? 1 : extent);
  }
  TypeMap map = joined(blocks);
  if (!is_disjoint(map)) return {};
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  if (in_bytes) {
    MPI_Type_create_hvector(count, length, stride, inner.handle(), &handle);
  } else {
    MPI_Type_vector(count, length, static_cast<int>(stride), inner.handle(), &handle);
  }
  return made(handle, std::move(map),
              std::string(in_bytes ? "hvector(" : "vector(") + std::to_string(count) + ", " +
                  std::to_string(length) + ", " + std::to_string(stride) + ", " + inner.text() +
                  ")");
}

Type TypeMaker::indexed(const Type& inner, int n) {
  const std::ptrdiff_t extent = inner.map().extent();
  const bool equal = one_in(random_, 2);
  const bool in_bytes = extent <= 0 || one_in(random_, 2);
  const std::vector<int> lengths = equal ? split_evenly(n) : split(n);
  const auto count = static_cast<int>(lengths.size());
  std::vector<Block> blocks = blocks_of(inner, lengths);
  const std::ptrdiff_t unit = in_bytes ? alignment_of(inner.map()) : extent;
  place(blocks, std::vector<std::ptrdiff_t>(blocks.size(), unit));
  TypeMap map = joined(blocks);
  if (!is_disjoint(map)) return {};
  std::vector<MPI_Aint> bytes;
  std::vector<int> elements;
  for (const Block& block : blocks) {
    bytes.push_back(block.at);
    elements.push_back(in_bytes ? 0 : static_cast<int>(block.at / extent));
  }
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  if (equal && in_bytes) {
    MPI_Type_create_hindexed_block(count, lengths.front(), bytes.data(), inner.handle(), &handle);
  } else if (equal) {
    MPI_Type_create_indexed_block(count, lengths.front(), elements.data(), inner.handle(), &handle);
  } else if (in_bytes) {
    MPI_Type_create_hindexed(count, lengths.data(), bytes.data(), inner.handle(), &handle);
  } else {
    MPI_Type_indexed(count, lengths.data(), elements.data(), inner.handle(), &handle);
  }
  const std::string name = std::string(in_bytes ? "h" : "") + "indexed" + (equal ? "_block" : "");
  const std::string counts = equal ? std::to_string(lengths.front()) : text_of(lengths);
  const std::string at = in_bytes ? text_of(bytes) : text_of(elements);
  return made(handle, std::move(map), name + "(" + counts + " " + at + ", " + inner.text() + ")");
}

// n elements of an array of two dimensions.
Type TypeMaker::subarray(const Type& inner, int n) {
  const std::ptrdiff_t extent = inner.map().extent();
  const bool c_order = one_in(random_, 2);
  const int wide = split_evenly(n).front();
  std::array<int, 2> part{n / wide, wide};  // the slow dimension, the fast one
  std::array<int, 2> size{};
  std::array<int, 2> start{};
  for (std::size_t d = 0; d < 2; ++d) {
    size[d] = part[d] + static_cast<int>(pick(random_, 3));
    start[d] = static_cast<int>(between(random_, 0, size[d] - part[d]));
  }
  std::vector<Block> blocks;
  for (int slow = 0; slow < part[0]; ++slow) {
    const std::ptrdiff_t at = std::ptrdiff_t{start[0] + slow} * size[1] + start[1];
    blocks.push_back({&inner.map(), part[1], at * extent});
  }
  TypeMap map = joined(blocks);
  if (!is_disjoint(map)) return {};
  map.marked = true;
  map.lower = 0;
  map.upper = std::ptrdiff_t{size[0]} * size[1] * extent;
  if (!c_order) {
    for (auto* list : {&part, &size, &start}) std::swap((*list)[0], (*list)[1]);
  }
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(2, size.data(), part.data(), start.data(),
                           c_order ? MPI_ORDER_C : MPI_ORDER_FORTRAN, inner.handle(), &handle);
  return made(handle, std::move(map),
              "subarray(" + text_of(size) + " " + text_of(part) + " " + text_of(start) +
                  (c_order ? " C, " : " Fortran, ") + inner.text() + ")");
}

Type TypeMaker::plain(const Type& inner, int n) {
  TypeMap map = joined({{&inner.map(), n, 0}});
  if (!is_disjoint(map)) return {};
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  if (n == 1 && one_in(random_, 2)) {
    MPI_Type_dup(inner.handle(), &handle);
    return made(handle, std::move(map), "dup(" + inner.text() + ")");
  }
  MPI_Type_contiguous(n, inner.handle(), &handle);
  return made(handle, std::move(map),
              "contiguous(" + std::to_string(n) + ", " + inner.text() + ")");
}

Type TypeMaker::repeat(Type inner, int n) {
  for (int tries = 0; tries < 12; ++tries) {
    const std::uint64_t kind = pick(random_, 8);
    Type type = kind < 2   ? strided(inner, n)
                : kind < 6 ? indexed(inner, n)
                : kind < 7 ? subarray(inner, n)
                           : plain(inner, n);
    if (type.handle() != MPI_DATATYPE_NULL) return type;
  }
  return repeat(tight(std::move(inner)), n);
}

}  // namespace sibyl::reference
