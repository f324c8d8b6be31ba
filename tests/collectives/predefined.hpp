// The predefined datatypes that operators take, the operators, and values for them that every
// order of evaluation combines exactly: what two implementations compute must be equal to the bit.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "collectives/harness.hpp"

namespace sibyl::test {

// The groups of MPI 4.1, section 6.9.2, and the pairs of section 6.9.4. Other integers are those of
// Fortran and MPI_AINT, MPI_OFFSET, MPI_COUNT, which logical operators do not take.
enum class TypeGroup { c_integer, other_integer, floating, logical, complex_number, byte, pair };

struct PredefinedType {
  std::string name;
  MPI_Datatype type;
  TypeGroup group;
  // Bytes of the scalars that a packed element consists of, and whether they are floating point.
  struct Scalar {
    std::size_t bytes;
    bool floating;
  };
  std::vector<Scalar> scalars;
};

struct PredefinedOperator {
  std::string name;
  MPI_Op op;
  std::vector<TypeGroup> groups;
};

// Those that this MPI has.
std::vector<PredefinedType> predefined_types();
std::vector<PredefinedOperator> predefined_operators();
bool takes(const PredefinedOperator& op, const PredefinedType& type);

// `count` packed elements of random values.
std::vector<unsigned char> random_values(const PredefinedType& type, const PredefinedOperator& op,
                                         int count, Random& random);
// The packed elements of a buffer, with padding cleared and zeros without a sign.
std::vector<unsigned char> packed_values(const PredefinedType& type, const void* buffer, int count);

// Memory for `count` elements between guards; gaps and guards hold a pattern.
class ElementBuffer {
 public:
  ElementBuffer(const PredefinedType& type, int count);
  void* base() { return bytes_.data() + guard; }
  void fill(const std::vector<unsigned char>& packed);
  std::vector<unsigned char> values() { return packed_values(type_, base(), count_); }
  bool surroundings_untouched();
  bool untouched() const;  // every byte still holds the pattern

 private:
  static constexpr std::size_t guard = 64;
  static unsigned char pattern(std::size_t place) {
    return static_cast<unsigned char>(place * 29 + 5);
  }
  const PredefinedType& type_;
  int count_;
  std::vector<unsigned char> bytes_;
};

}  // namespace sibyl::test
