// Clocks, sleep and common starts of the ranks: real ones (clock.cpp), simulated ones (smpi.cpp).
#pragma once

namespace sibyl::bench {

// Seconds on this rank's clock.
double now();

// Leaves all ranks of MPI_COMM_WORLD ready to begin a measurement. On real machines two barriers,
// as in Traeff 2025; under SMPI, where all ranks share one clock, at exactly the same time.
void start_together();

// Comes back when now() has reached `when`, without use of the processor until `spin` seconds
// before: many ranks that compute at the same time must not take it from each other.
void sleep_until(double when, double spin);

// The machine whose clock this rank reads, as a number: ranks with the same one share a clock.
unsigned long long clock_identity();

}  // namespace sibyl::bench
