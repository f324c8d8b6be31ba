// The predictors for Python: recorded arrivals are replayed through them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plan.hpp"
#include "sibyl/predictors.hpp"

namespace nb = nanobind;

namespace sibyl::python {
namespace {

using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Predictions = nb::ndarray<nb::numpy, double, nb::ndim<2>>;

// Row by row, as the calls come in: each column has a predictor of its own, which is asked before
// it is told.
template <class P>
void replay(const Table& times, std::vector<P> predictors, double* out) {
  const std::size_t ranks = times.shape(1);
  for (std::size_t call = 0; call < times.shape(0); ++call) {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      out[call * ranks + rank] = predictors[rank].prediction();
      predictors[rank].observe(times.data()[call * ranks + rank]);
    }
  }
}

Predictions predict(const Table& times, const std::string& predictor) {
  PredictorRequest request;
  const bool best = predictor == "best";
  if (!best && !predictor_from_text(predictor, request)) {
    throw nb::value_error(
        ("unknown predictor '" + predictor + "'; say last, sma:K, ewma:A or best").c_str());
  }
  const std::size_t ranks = times.shape(1);
  const std::size_t shape[2] = {times.shape(0), ranks};
  auto values = std::make_unique<double[]>(shape[0] * shape[1]);
  if (best) {
    replay(times, std::vector<BestPredictor>(ranks), values.get());
  } else {
    replay(times, std::vector<Predictor>(ranks, Predictor(request)), values.get());
  }
  double* const data = values.get();
  const nb::capsule owner(values.release(),
                          [](void* kept) noexcept { delete[] static_cast<double*>(kept); });
  return Predictions(data, 2, shape, owner);
}

}  // namespace

void bind_predictors(nb::module_& module) {
  module.def("predict_arrivals", predict, nb::arg("times"), nb::arg("predictor"));
  module.def("extrapolate_edge", extrapolate_edge, nb::arg("start"), nb::arg("edge"),
             nb::arg("fraction"));
  module.def("standard_predictors", [] {
    std::vector<std::string> names;
    for (const PredictorRequest& request : standard_predictors()) names.push_back(text_of(request));
    return names;
  });
}

}  // namespace sibyl::python
