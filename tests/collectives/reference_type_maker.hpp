// How random datatypes are put together; see reference_types.hpp, whose make_type is what others
// call.
//
// From a signature downwards: where it is a part that repeats, one of MPI's constructors of copies;
// else a struct of its pieces; each part is made likewise, up to a depth. Displacements are drawn
// first, then their map is looked at, and drawn again where entries would share bytes.
#pragma once

#include <string>
#include <vector>

#include "collectives/reference_types.hpp"

namespace sibyl::reference {

// One member of a struct, or one block of copies: `copies` elements from `at` on.
struct Block {
  const TypeMap* map;
  int copies;
  std::ptrdiff_t at;
};

// The map of blocks, by the rule of section 5.1.6: where bounds were given to any part, those of
// the parts without do not count.
TypeMap joined(const std::vector<Block>& blocks);

class TypeMaker {
 public:
  TypeMaker(const TypeLimits& limits, Random& random) : limits_(limits), random_(random) {}
  Type outermost(const Signature& signature, Overlap overlap);

 private:
  Type make(const Signature& signature, int depth);
  // Types of no bytes.
  Type nothing(int depth);
  Type structure(const Signature& signature, int depth);
  // n copies of a type by one of MPI's constructors (reference_type_copies.cpp).
  Type repeat(Type inner, int n);
  // One try each; no handle where entries would share bytes.
  Type strided(const Type& inner, int n);
  Type indexed(const Type& inner, int n);
  Type subarray(const Type& inner, int n);
  Type plain(const Type& inner, int n);
  Type resized(Type inner, std::ptrdiff_t lower, std::ptrdiff_t extent);
  // With elements side by side.
  Type tight(Type inner);

  // n in random pieces, of which some may be empty; or in equal ones.
  std::vector<int> split(int n);
  std::vector<int> split_evenly(int n);
  // Where blocks go, each in multiples of its unit: anywhere, so that they may interleave, or one
  // after the other in some order with gaps.
  void place(std::vector<Block>& blocks, const std::vector<std::ptrdiff_t>& units);
  bool elements_fit(const TypeMap& map, std::ptrdiff_t extent, Overlap overlap) const;

  const TypeLimits& limits_;
  Random& random_;
};

// With what the library added for alignment, which section 5.1.6 leaves to it.
Type made(MPI_Datatype handle, TypeMap map, std::string text);
std::ptrdiff_t alignment_of(const TypeMap& map);
std::ptrdiff_t span_of(const TypeMap& map);

}  // namespace sibyl::reference
