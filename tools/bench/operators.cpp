// Sums of floats and of ints, bit-wise exclusive or, and two products of 2x2 matrices; see
// operators.hpp.
//
// The contents of iteration i differ from those of iteration 0 by one number per rank, so that the
// expected result of every iteration follows from that of the first.
#include "bench/operators.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace sibyl::bench {
namespace {

struct Matrix {
  double a, b, c, d;
};

struct ModularMatrix {
  std::uint64_t a, b, c, d;
};

constexpr std::uint64_t prime = 0xffffffffffffffc5ULL;  // the largest below 2^64

// Linear congruences are enough: the values need only differ.
std::uint64_t mixed(std::uint64_t rank, std::uint64_t element) {
  std::uint64_t x = (rank + 1) * 0x9e3779b97f4a7c15ULL + element * 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 31;
  return x * 0x94d049bb133111ebULL;
}

// MPI's order: `left` comes from the lower ranks, `right` takes the result.
void multiply(void* left, void* right, int* count, MPI_Datatype*) {
  const auto* l = static_cast<const Matrix*>(left);
  auto* r = static_cast<Matrix*>(right);
  for (int i = 0; i < *count; ++i) {
    const Matrix x = l[i];
    const Matrix y = r[i];
    r[i] = {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c,
            x.c * y.b + x.d * y.d};
  }
}

__extension__ using Wide = unsigned __int128;

std::uint64_t dot(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) {
  const auto left = static_cast<std::uint64_t>(Wide{a} * b % prime);
  const auto right = static_cast<std::uint64_t>(Wide{c} * d % prime);
  return static_cast<std::uint64_t>((Wide{left} + right) % prime);
}

void multiply_modular(void* left, void* right, int* count, MPI_Datatype*) {
  const auto* l = static_cast<const ModularMatrix*>(left);
  auto* r = static_cast<ModularMatrix*>(right);
  for (int i = 0; i < *count; ++i) {
    const ModularMatrix x = l[i];
    const ModularMatrix y = r[i];
    r[i] = {dot(x.a, y.a, x.b, y.c), dot(x.a, y.b, x.b, y.d), dot(x.c, y.a, x.d, y.c),
            dot(x.c, y.b, x.d, y.d)};
  }
}

}  // namespace

Operator::Operator(std::string_view name) : name_(name) {
  if (name == "sum") {
    op_ = MPI_SUM;
    type_ = MPI_FLOAT;
    element_bytes_ = sizeof(float);
    return;
  }
  if (name == "int-sum") {
    op_ = MPI_SUM;
    type_ = MPI_INT;
    element_bytes_ = sizeof(int);
    return;
  }
  if (name == "bxor") {
    op_ = MPI_BXOR;
    type_ = MPI_LONG;
    element_bytes_ = sizeof(long);
    return;
  }
  if (name != "matrix" && name != "modular") return;
  commutes_ = false;
  owned_ = true;
  element_bytes_ = sizeof(Matrix);
  MPI_Type_contiguous(4, name == "matrix" ? MPI_DOUBLE : MPI_UINT64_T, &type_);
  MPI_Type_commit(&type_);
  MPI_Op_create(name == "matrix" ? &multiply : &multiply_modular, 0, &op_);
}

Operator::~Operator() {
  if (!owned_) return;
  MPI_Op_free(&op_);
  MPI_Type_free(&type_);
}

void Operator::fill(void* data, int count, int rank, std::uint64_t iteration, int first) const {
  const auto of = static_cast<std::uint64_t>(rank);
  const std::uint64_t own = change(rank, iteration);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t x =
        mixed(of, static_cast<std::uint64_t>(first) + static_cast<std::uint64_t>(i));
    if (name_ == "sum") {
      static_cast<float*>(data)[i] = static_cast<float>((x >> 56) + own);
    } else if (name_ == "int-sum") {
      static_cast<int*>(data)[i] = static_cast<int>((x >> 56) + own);
    } else if (name_ == "bxor") {
      static_cast<long*>(data)[i] = static_cast<long>(x ^ own);
    } else if (name_ == "matrix") {
      // A shear of determinant 1 times a rotation: products of many neither vanish nor overflow.
      const double angle = static_cast<double>(x >> 40) * 1e-7;
      const double shear = 1e-3 * static_cast<double>(rank % 7 - 3);
      const double sine = std::sin(angle);
      const double cosine = std::cos(angle);
      static_cast<Matrix*>(data)[i] = {cosine + shear * sine, shear * cosine - sine, sine, cosine};
    } else {
      static_cast<ModularMatrix*>(data)[i] = {x % prime, (x * 3 + 1) % prime, (x * 5 + 2) % prime,
                                              (x * 7 + 3) % prime};
    }
  }
}

std::uint64_t Operator::change(int rank, std::uint64_t iteration) const {
  if (iteration == 0 || !commutes_) return 0;
  const std::uint64_t x = mixed(static_cast<std::uint64_t>(rank), ~iteration);
  // Sums of small whole numbers are exact in floats, in any order.
  return adds() ? x >> 56 : x;
}

void Operator::move_to(void* result, int count, int ranks, std::uint64_t iteration) const {
  std::uint64_t all = 0;
  for (int r = 0; r < ranks; ++r) {
    if (adds()) {
      all += change(r, iteration);
    } else {
      all ^= change(r, iteration);
    }
  }
  for (int i = 0; all != 0 && i < count; ++i) {
    if (name_ == "sum") {
      static_cast<float*>(result)[i] += static_cast<float>(all);
    } else if (name_ == "int-sum") {
      static_cast<int*>(result)[i] += static_cast<int>(all);
    } else {
      static_cast<long*>(result)[i] ^= static_cast<long>(all);
    }
  }
}

bool Operator::same(const void* a, const void* b, int count) const {
  if (name_ != "matrix")
    return std::memcmp(a, b, static_cast<std::size_t>(count) * element_bytes_) == 0;
  const auto* x = static_cast<const double*>(a);
  const auto* y = static_cast<const double*>(b);
  for (int i = 0; i < 4 * count; ++i) {
    // Association differs between algorithms, hence rounding; a wrong order shows in digits.
    if (!(std::abs(x[i] - y[i]) <= 1e-9 * (1 + std::abs(x[i])))) return false;
  }
  return true;
}

}  // namespace sibyl::bench
