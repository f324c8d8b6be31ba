// Random derived datatypes whose type maps the test works out itself.
//
// A type is made for a given signature: the sequence of basic types that MPI compares between
// sender and receiver. Any two types made for one signature may so be used at the two ends of a
// message. Beside the handle stands the type map by the rules of MPI 4.1, sections 5.1.2 to 5.1.7:
// where every basic element lies. What a message must do follows from two maps alone, and the MPI
// library's own packing is never asked.
//
// Needs nothing but MPI, since a plain program is built from it as well (tests/preload/programs).
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace sibyl::reference {

using Random = std::mt19937_64;

// A uniform number of [0, below).
inline std::uint64_t pick(Random& random, std::uint64_t below) { return random() % below; }
inline bool one_in(Random& random, std::uint64_t n) { return pick(random, n) == 0; }
// A uniform number of [low, high].
inline std::ptrdiff_t between(Random& random, std::ptrdiff_t low, std::ptrdiff_t high) {
  return low +
         static_cast<std::ptrdiff_t>(pick(random, static_cast<std::uint64_t>(high - low + 1)));
}

// Basic types of data that is moved, not combined.
enum class Basic : std::uint8_t {
  character,
  byte,
  short_integer,
  integer,
  unsigned_integer,
  long_integer,
  unsigned_long,
  single_float,
  double_float,
  double_complex,
};
constexpr std::size_t basic_count = 10;

struct BasicRow {
  const char* name;
  MPI_Datatype type;
  std::ptrdiff_t bytes;
  std::ptrdiff_t alignment;
};
const BasicRow& row_of(Basic basic);

using Signature = std::vector<Basic>;
std::ptrdiff_t bytes_of(const Signature& signature);
// True when its basic types are of several sizes.
bool is_mixed(const Signature& signature);
std::string text_of(const Signature& signature);
Signature repeated(const Signature& unit, int times);

struct Entry {
  Basic basic;
  std::ptrdiff_t at;  // bytes from the address that MPI is given
};

struct TypeMap {
  std::vector<Entry> entries;  // in the order of the type
  std::ptrdiff_t lower = 0;
  std::ptrdiff_t upper = 0;
  bool marked = false;  // bounds were given (resized, subarray), so that no alignment is added
  std::ptrdiff_t extent() const { return upper - lower; }
  // The bytes that the entries touch: from the first to one after the last; 0 and 0 for none.
  std::ptrdiff_t true_lower() const;
  std::ptrdiff_t true_upper() const;
};

// True when no two entries share a byte.
bool is_disjoint(const TypeMap& map);
// True when no two of any number of elements, one extent apart, share a byte.
bool steps_are_disjoint(const TypeMap& map, std::ptrdiff_t extent);

// A committed datatype with its map. Named types are not freed.
class Type {
 public:
  Type() = default;
  Type(MPI_Datatype handle, bool named, TypeMap map, std::string text);
  ~Type();
  Type(Type&& other) noexcept;
  Type& operator=(Type&& other) noexcept;
  Type(const Type&) = delete;
  Type& operator=(const Type&) = delete;

  MPI_Datatype handle() const { return handle_; }
  const TypeMap& map() const { return map_; }
  const std::string& text() const { return text_; }
  void commit();
  // Empty when the MPI library says the same of the type's size and bounds as the map.
  std::string disagreement() const;

 private:
  friend class TypeMaker;
  MPI_Datatype handle_ = MPI_DATATYPE_NULL;
  bool named_ = true;
  TypeMap map_;
  std::string text_;
};

// What a type is for: elements that are received lie apart from each other; those of a send buffer
// may overlap unless all ranks' blocks come from it.
enum class Overlap : std::uint8_t { forbidden, allowed };

// What an MPI library cannot do with types (reference_limits.hpp).
struct TypeLimits {
  bool negative_extents = true;
  bool interleaved_elements = true;
  bool basic_alone = false;       // a signature of one basic type by that type itself
  bool pairs_of_one_size = true;  // MPI's pairs of two basic types of the same size
  int depth = 3;
};

// True when the MPI library's own packing of the committed type agrees with the map.
bool library_moves(const Type& type);

// One whose size and bounds the MPI library states, and whose bytes it packs, as its map says.
Type make_type(const Signature& signature, Overlap overlap, const TypeLimits& limits,
               Random& random);

}  // namespace sibyl::reference
