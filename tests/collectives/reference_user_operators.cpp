// Operators of a user on any derived type; see reference_operators.hpp.
#include <algorithm>
#include <array>
#include <cstring>

#include "collectives/reference_operators.hpp"

namespace sibyl::reference {
namespace {

constexpr std::uint64_t prime = 2147483647;

std::uint64_t read_unsigned(const unsigned char* from, std::ptrdiff_t bytes) {
  return bytes == 4 ? read<std::uint32_t>(from) : read<std::uint64_t>(from);
}

void write_unsigned(std::uint64_t value, unsigned char* to, std::ptrdiff_t bytes) {
  if (bytes == 4) return write(static_cast<std::uint32_t>(value), to);
  write(value, to);
}

template <class T>
void add(const unsigned char* left, unsigned char* right) {
  write(static_cast<T>(read<T>(left) + read<T>(right)), right);
}

void multiply_matrices(const Signature& signature, const unsigned char* left,
                       unsigned char* right) {
  for (std::size_t entry = 0; entry < signature.size(); entry += 4) {
    std::array<std::uint64_t, 4> a{};
    std::array<std::uint64_t, 4> b{};
    std::array<std::ptrdiff_t, 4> at{};
    std::ptrdiff_t bytes = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      at[k] = bytes;
      const std::ptrdiff_t width = row_of(signature[entry + k]).bytes;
      a[k] = read_unsigned(left + bytes, width) % prime;
      b[k] = read_unsigned(right + bytes, width) % prime;
      bytes += width;
    }
    const std::array<std::uint64_t, 4> c{
        a[0] * b[0] % prime + a[1] * b[2] % prime, a[0] * b[1] % prime + a[1] * b[3] % prime,
        a[2] * b[0] % prime + a[3] * b[2] % prime, a[2] * b[1] % prime + a[3] * b[3] % prime};
    for (std::size_t k = 0; k < 4; ++k) {
      write_unsigned(c[k] % prime, right + at[k], row_of(signature[entry + k]).bytes);
    }
    left += bytes;
    right += bytes;
  }
}

// The operator in use.
struct InUse {
  Operator op = Operator::user_sum;
  const Signature* signature = nullptr;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  Layout layout;
};
InUse in_use;

void copy_element(const Layout& layout, unsigned char* element, unsigned char* packed, bool out) {
  for (const Layout::Piece& piece : layout.pieces) {
    unsigned char* place = element + piece.at;
    std::memcpy(out ? packed : place, out ? place : packed, static_cast<std::size_t>(piece.bytes));
    packed += piece.bytes;
  }
}

void apply(void* left, void* right, int* count, MPI_Datatype* type) {
  // An operator of another type than the call's: nothing is done, and the result is wrong.
  if (in_use.signature == nullptr || *type != in_use.type) return;
  Bytes a(in_use.layout.packed);
  Bytes b(in_use.layout.packed);
  for (std::ptrdiff_t i = 0; i < *count; ++i) {
    auto* const from = static_cast<unsigned char*>(left) + i * in_use.layout.extent;
    auto* const to = static_cast<unsigned char*>(right) + i * in_use.layout.extent;
    copy_element(in_use.layout, from, a.data(), true);
    copy_element(in_use.layout, to, b.data(), true);
    combine_by_user(in_use.op, *in_use.signature, a.data(), b.data());
    copy_element(in_use.layout, to, b.data(), false);
  }
}

}  // namespace

Signature signature_of_matrices(int matrices, Random& random) {
  constexpr std::array wide{Basic::integer, Basic::unsigned_integer, Basic::long_integer,
                            Basic::unsigned_long};
  const bool all_alike = one_in(random, 2);
  const Basic basic = wide[pick(random, wide.size())];
  Signature signature;
  for (int i = 0; i < 4 * matrices; ++i) {
    signature.push_back(all_alike ? basic : wide[pick(random, wide.size())]);
  }
  return signature;
}

void combine_by_user(Operator op, const Signature& signature, const unsigned char* left,
                     unsigned char* right) {
  if (op == Operator::user_product) return multiply_matrices(signature, left, right);
  for (const Basic basic : signature) {
    const std::ptrdiff_t bytes = row_of(basic).bytes;
    if (bytes == 1) add<std::uint8_t>(left, right);
    if (bytes == 2) add<std::uint16_t>(left, right);
    if (bytes == 4) add<std::uint32_t>(left, right);
    for (std::ptrdiff_t at = 0; at + 8 <= bytes; at += 8) add<std::uint64_t>(left + at, right + at);
    left += bytes;
    right += bytes;
  }
}

void draw_for_user(Operator op, const Signature& signature, Random& random, unsigned char* to) {
  for (const Basic basic : signature) {
    const std::ptrdiff_t bytes = row_of(basic).bytes;
    if (op == Operator::user_product) {
      write_unsigned(random() % prime, to, bytes);
    } else {
      const Bytes any = noise(random(), static_cast<std::size_t>(bytes));
      std::copy(any.begin(), any.end(), to);
    }
    to += bytes;
  }
}

UserOperator::UserOperator(Operator op, const Signature& signature, const Type& type) {
  in_use = {op, &signature, type.handle(), layout_of(type.map())};
  MPI_Op_create(&apply, commutes(op) ? 1 : 0, &handle_);
}

UserOperator::~UserOperator() {
  in_use = {};
  MPI_Op_free(&handle_);
}

}  // namespace sibyl::reference
