// The serial parts of the parallel Fourier transform: butterflies, the order of their results, and
// the spectrum of real samples. No MPI here.
//
// A window of N real samples is taken as N/2 complex points, even samples in the real and odd ones
// in the imaginary parts, so that exactly N floats go out to the ranks and N come back. The points
// are cut by radix-2 decimation in frequency: a stage of butterflies over a stretch of points makes
// two independent halves of it, the first with the even, the second with the odd bins. After
// log2(n) stages block b of n holds the points of the bins k with k mod n = b with its bits
// reversed, and one local transform finishes it. There are two blocks for each rank, which it
// finishes one after the other: so it knows when half of its work is done.
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace sibyl::fft {

using Complex = std::complex<float>;

bool is_power_of_two(std::size_t number);

// exp(-2 pi i k / size) for 0 <= k < size / 2, rounded from double precision.
std::vector<Complex> make_factors(std::size_t size);

// One stage over `points`: (a, b) at the same place of the two halves becomes (a + b, (a - b) w^k).
// `factors` is the table of a power of two that is at least the number of points.
void butterflies(std::span<Complex> points, std::span<const Complex> factors);

// The lowest `bits` bits of a number, in reverse.
std::size_t reverse_bits(std::size_t number, int bits);

// The bins 0 to N/2 of the N real samples, from all transformed blocks in their order. `factors` is
// the table of N; `spectrum` has a place for each bin.
void real_spectrum(std::span<const Complex> gathered, std::size_t blocks,
                   std::span<const Complex> factors, std::span<Complex> spectrum);

// The Hann window of `size` samples.
std::vector<float> hann_window(std::size_t size);

}  // namespace sibyl::fft
