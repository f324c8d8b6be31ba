// Scatterv, linear: the program of linear scatter, which minds no sizes (scatter/linear.cpp).
#include "planners/scatter/scatter.hpp"
#include "planners/scatterv/scatterv.hpp"

namespace sibyl::scatterv {

PlanHeader describe_linear(const PlanRequest& request) {
  PlanHeader header = scatter::describe_linear(request);
  header.collective = Collective::scatterv;
  return header;
}

}  // namespace sibyl::scatterv
