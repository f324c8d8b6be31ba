// What the picture of a run shows.
#include "fft/picture.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sibyl::fft {
namespace {

TEST(Picture, ShowsASineOfFullScaleAtItsFrequencyAndAtZeroDecibels) {
  constexpr std::size_t size = 8192;
  constexpr double rate = 48000;
  Picture picture(size, rate);
  std::vector<Complex> spectrum(size / 2 + 1);
  spectrum[1000] = {0.0F, size / 4.0F};
  picture.add(spectrum, 0.5);
  ASSERT_EQ(picture.rows().size(), 1U);
  const std::vector<double>& row = picture.rows()[0];
  const auto most = std::max_element(row.begin(), row.end());
  EXPECT_NEAR(*most, 0.0, 1e-6);
  const double frequency = picture.frequencies()[static_cast<std::size_t>(most - row.begin())];
  EXPECT_NEAR(frequency, 1000 * rate / size, 0.01 * frequency);
  EXPECT_EQ(std::count_if(row.begin(), row.end(), [](double level) { return level > -1.0; }), 1);
}

TEST(Picture, ItsMeanIsThatOfThePowerOfAllRows) {
  Picture picture(1024, 1024);
  std::vector<Complex> spectrum(513);
  spectrum[100] = {256.0F, 0.0F};
  picture.add(spectrum, 0);
  spectrum[100] = 0;
  picture.add(spectrum, 1);
  const std::vector<double> mean = picture.mean();
  EXPECT_NEAR(*std::max_element(mean.begin(), mean.end()), -3.01, 0.01);
}

}  // namespace
}  // namespace sibyl::fft
