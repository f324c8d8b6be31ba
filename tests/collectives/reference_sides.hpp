// What the cases that move blocks share: signatures and types that are drawn, sides of a call as
// MPI is given them, comparisons.
#pragma once

#include <string>
#include <vector>

#include "collectives/reference_cases.hpp"

namespace sibyl::reference {

constexpr std::size_t most_entries = 24;  // of a type

int draw_divisor(int number, int at_most, Random& random);
Signature draw_unit(const Limits& limits, Random& random);
// Units of a block of about so many bytes at most, in whole elements of `element` units.
// `in_message`: blocks that may travel in one message.
int draw_units(const Signature& unit, int element, int in_message, std::size_t largest,
               const Limits& limits, Random& random);
// Where blocks of so many elements lie: in any order, apart or not, those of none anywhere.
std::vector<int> draw_places(const std::vector<int>& counts, Random& random);
// One after the other.
std::vector<int> places_in_a_row(const std::vector<int>& counts);

// A type that lies where its buffer does, to be given with MPI_BOTTOM.
class Absolute {
 public:
  Absolute(const Type& type, void* base);
  ~Absolute() { MPI_Type_free(&handle_); }
  Absolute(const Absolute&) = delete;
  Absolute& operator=(const Absolute&) = delete;
  MPI_Datatype handle() const { return handle_; }

 private:
  MPI_Datatype handle_ = MPI_DATATYPE_NULL;
};

// One side as MPI is given it.
struct Side {
  void* buffer = wild();
  int count = wild_count;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const int* counts = static_cast<const int*>(wild());
  const int* places = static_cast<const int*>(wild());
};

std::string compared(const char* what, const Buffer& now, const Buffer& expected);
// Empty for MPI_SUCCESS.
std::string text_of_error(int result);

}  // namespace sibyl::reference
