// The governor's rank-sum test for whoever asks: reads pairs of samples, a line each with its
// values parted by blanks, and prints undecided, above or below for every pair.
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "governor/rank_sum.hpp"

namespace {

std::vector<double> values_of(const std::string& line) {
  std::istringstream words(line);
  std::vector<double> values;
  for (double value = 0; words >> value;) values.push_back(value);
  return values;
}

}  // namespace

int main() {
  constexpr const char* names[] = {"undecided", "above", "below"};
  std::string own;
  for (std::string other; std::getline(std::cin, own) && std::getline(std::cin, other);) {
    const auto verdict = sibyl::rank_sum_test(values_of(own), values_of(other));
    std::cout << names[static_cast<int>(verdict)] << ' ' << sibyl::median_of(values_of(own))
              << '\n';
  }
}
