// An operator that tells the order of its operands, on every layout of a datatype.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "collectives/harness.hpp"

namespace sibyl::test {

// 2x2 matrices of 32-bit numbers modulo 2^32: associative, not commutative, exact.
using Matrix = std::array<std::uint32_t, 4>;

inline Matrix product(const Matrix& a, const Matrix& b) {
  return {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
          a[2] * b[1] + a[3] * b[3]};
}

// MPI hands an operator no context; the layout of the call in progress stands here.
inline const Layout* matrix_layout = nullptr;

inline void multiply(void* left, void* right, int* count, MPI_Datatype* type) {
  if (matrix_layout == nullptr || *type == MPI_DATATYPE_NULL) return;
  for (std::int64_t i = 0; i < *count; ++i) {
    const auto place = [&](void* base, std::size_t component) {
      return static_cast<char*>(base) + i * matrix_layout->extent +
             matrix_layout->offsets[component];
    };
    Matrix a;
    Matrix b;
    for (std::size_t c = 0; c < 4; ++c) {
      std::memcpy(&a[c], place(left, c), 4);
      std::memcpy(&b[c], place(right, c), 4);
    }
    const Matrix ab = product(a, b);
    for (std::size_t c = 0; c < 4; ++c) std::memcpy(place(right, c), &ab[c], 4);
  }
}

inline Matrix matrix_of(std::uint64_t seed, int rank, int element) {
  Random random(seed * 1000003 + static_cast<std::uint64_t>(rank) * 7919 +
                static_cast<std::uint64_t>(element));
  Matrix matrix;
  for (auto& entry : matrix) entry = static_cast<std::uint32_t>(random());
  return matrix;
}

inline void put(GuardedBuffer& buffer, int element, const Matrix& matrix) {
  for (int c = 0; c < 4; ++c) {
    buffer.set(element, c, static_cast<std::int32_t>(matrix[static_cast<std::size_t>(c)]));
  }
}

// What `rank` gives; where it does so in place, in both buffers. They are watched from then on.
inline void give_matrices(std::uint64_t seed, int rank, int count, bool in_place,
                          GuardedBuffer& send, GuardedBuffer& receive) {
  for (int i = 0; i < count; ++i) {
    put(send, i, matrix_of(seed, rank, i));
    if (in_place) put(receive, i, matrix_of(seed, rank, i));
  }
  send.take_snapshot();
  receive.take_snapshot();
}

inline Matrix take(const GuardedBuffer& buffer, int element) {
  Matrix matrix;
  for (int c = 0; c < 4; ++c) {
    matrix[static_cast<std::size_t>(c)] = static_cast<std::uint32_t>(buffer.get(element, c));
  }
  return matrix;
}

}  // namespace sibyl::test
