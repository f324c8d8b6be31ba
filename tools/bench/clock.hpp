// Clocks and common starts of the ranks: real ones (clock.cpp), simulated ones (smpi.cpp).
#pragma once

namespace sibyl::bench {

// Seconds on this rank's clock.
double now();

// Leaves all ranks of MPI_COMM_WORLD ready to begin a measurement. On real machines two barriers,
// as in paper 003; under SMPI, where all ranks share one clock, at exactly the same time.
void start_together();

}  // namespace sibyl::bench
