// The functions of Sibyl's that random calls are made by (reference_cases.hpp).
#pragma once

#include "collectives/reference_cases.hpp"
#include "sibyl/sibyl.h"

namespace sibyl::test {

inline constexpr reference::Library by_sibyl{
    SIBYL_Gather,    SIBYL_Scatter,   SIBYL_Gatherv,        SIBYL_Scatterv,
    SIBYL_Bcast,     SIBYL_Allgather, SIBYL_Allgatherv,     SIBYL_Alltoall,
    SIBYL_Alltoallv, SIBYL_Barrier,   SIBYL_Reduce,         SIBYL_Scan,
    SIBYL_Exscan,    SIBYL_Allreduce, SIBYL_Reduce_scatter, SIBYL_Reduce_scatter_block};

}  // namespace sibyl::test
