// Gatherv, linear: the program of linear gather, which minds no sizes (gather/linear.cpp).
#include "planners/gatherv/gatherv.hpp"

#include "planners/gather/gather.hpp"

namespace sibyl::gatherv {

PlanHeader describe_linear(const PlanRequest& request) {
  PlanHeader header = gather::describe_linear(request);
  header.collective = Collective::gatherv;
  return header;
}

}  // namespace sibyl::gatherv
