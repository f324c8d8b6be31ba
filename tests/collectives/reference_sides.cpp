// Drawing and comparing of blocks; see reference_sides.hpp.
#include "collectives/reference_sides.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace sibyl::reference {

int draw_divisor(int number, int at_most, Random& random) {
  std::vector<int> divisors;
  for (int d = 1; d <= std::min(number, at_most); ++d) {
    if (number % d == 0) divisors.push_back(d);
  }
  return divisors.empty() ? 1 : divisors[pick(random, divisors.size())];
}

Signature draw_unit(const Limits& limits, Random& random) {
  const auto basic = [&] { return static_cast<Basic>(pick(random, limits.basics)); };
  Signature unit;
  if (one_in(random, 25)) return unit;  // types of no bytes
  const std::uint64_t basics = one_in(random, 2) ? 1 : 2 + pick(random, 4);
  for (std::uint64_t i = 0; i < basics; ++i) unit.push_back(basic());
  // The signatures of MPI's pairs.
  if (basics == 2 && one_in(random, 2)) unit[1] = Basic::integer;
  return unit;
}

int draw_units(const Signature& unit, int element, int in_message, std::size_t largest,
               const Limits& limits, Random& random) {
  const auto bytes = static_cast<std::size_t>(bytes_of(unit));
  if (bytes == 0) return element * static_cast<int>(pick(random, 5));
  const std::size_t element_bytes = bytes * static_cast<std::size_t>(element);
  if (is_mixed(unit)) {
    largest = std::min(largest, limits.largest_mixed / static_cast<std::size_t>(in_message));
  }
  const std::size_t wanted = draw_bytes(random, largest);
  const std::size_t rounded =
      std::min(wanted + one_in(random, 2) * (element_bytes - 1), largest) / element_bytes;
  return element * static_cast<int>(rounded);
}

std::vector<int> draw_places(const std::vector<int>& counts, Random& random) {
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  const bool gaps = one_in(random, 2);
  std::ptrdiff_t cursor = one_in(random, 2) ? between(random, -40, 10) : 0;
  std::vector<int> places(counts.size(), 0);
  for (const std::size_t rank : order) {
    if (gaps) cursor += between(random, 0, 3);
    places[rank] = static_cast<int>(cursor);
    cursor += counts[rank];
    if (counts[rank] == 0) {  // never looked at
      places[rank] = static_cast<int>(between(random, -1000, 1000));
    }
  }
  return places;
}

std::vector<int> places_in_a_row(const std::vector<int>& counts) {
  std::vector<int> places(counts.size(), 0);
  std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
  return places;
}

Absolute::Absolute(const Type& type, void* base) {
  MPI_Aint address = 0;
  MPI_Get_address(base, &address);
  MPI_Type_create_hindexed_block(1, 1, &address, type.handle(), &handle_);
  MPI_Type_commit(&handle_);
}

std::string compared(const char* what, const Buffer& now, const Buffer& expected) {
  const std::string difference = now.difference(expected);
  return difference.empty() ? difference : std::string(what) + ": " + difference;
}

std::string text_of_error(int result) {
  if (result == MPI_SUCCESS) return {};
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(result, text.data(), &length);
  return std::string("returned an error: ") + text.data() + "\n";
}

}  // namespace sibyl::reference
