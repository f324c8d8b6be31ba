// What a rank says of its computation at an edge that is to seem to come at another time than it
// will: the control of what it is worth to know who is late.
#pragma once

#include <algorithm>

namespace sibyl {

// The part that is done after `elapsed` seconds of a computation that seems to take `pretended`; of
// one that would seem to be over by now nearly all.
inline double pretended_fraction(double elapsed, double pretended) {
  constexpr double nearly_all = 0.999;
  return pretended > 0 ? std::min(nearly_all, elapsed / pretended) : nearly_all;
}

}  // namespace sibyl
