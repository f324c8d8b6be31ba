"""The spectrum of a recording by a Fourier transform over all ranks, in a page of mpi4py.

    sibyl run -n 4 -- python fft.py SIGNAL.wav
    sibyl run -n 4 --set gather=linear-synchronised -- python fft.py SIGNAL.wav

The ranks, a power of two, share the work as those of sibyl-fft do: rank 0 decimates in frequency
and sends every other rank its share, the last rank's first; a gather brings the results back.
WAV of 16 bits; options: samples of a window (a power of two), number of windows.
"""

import sys
import time
import wave

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
size = int(sys.argv[2]) if len(sys.argv) > 2 else 32768
windows = int(sys.argv[3]) if len(sys.argv) > 3 else 50


def read(path):
    """The mean of all channels, and the sampling rate."""
    with wave.open(path) as file:
        frames = np.frombuffer(file.readframes(file.getnframes()), np.int16)
        return frames.reshape(-1, file.getnchannels()).mean(axis=1) / 32768, file.getframerate()


def distribute(points, first, count):
    """Share these points among ranks first to first + count - 1; return the first one's share."""
    if count == 1:
        if first != 0:
            comm.Send(points, dest=first)
        return points
    a, b = np.split(points, 2)
    twist = np.exp(-2j * np.pi * np.arange(len(a)) / len(points))
    distribute(((a - b) * twist).astype(np.complex64), first + count // 2, count // 2)
    return distribute(a + b, first, count // 2)


def in_order(gathered):
    """Bin k came from the rank whose number is k modulo ranks with its bits reversed."""
    bits = ranks.bit_length() - 1
    reverse = [int(format(r, f"0{bits}b")[::-1] or "0", 2) for r in range(ranks)]
    return gathered[reverse].T.reshape(-1)


gathered = np.empty((ranks, size // ranks), np.complex64) if rank == 0 else None
share = np.empty(size // ranks, np.complex64)
mean, times, worst = np.zeros(size), [], 0.0
if rank == 0:
    samples, rate = read(sys.argv[1])
for window in range(windows):
    if rank == 0:
        start = (len(samples) - size) * window // max(windows - 1, 1)
        points = (samples[start : start + size] * np.hanning(size)).astype(np.complex64)
        begin = time.perf_counter()
        share = distribute(points, 0, ranks)
    else:
        comm.Recv(share, source=0)
    result = np.fft.fft(share).astype(np.complex64)
    comm.Gather(result, gathered, root=0)
    if rank == 0:
        spectrum = in_order(gathered)
        times.append(time.perf_counter() - begin)
        direct = np.fft.fft(points.astype(np.complex128))
        worst = max(worst, np.linalg.norm(spectrum - direct) / np.linalg.norm(direct))
        mean += abs(spectrum) ** 2 / windows
if rank == 0:
    peak = np.argmax(mean[: size // 2]) * rate / size
    print(
        f"{windows} windows of {size} samples, {ranks} ranks: {1e3 * np.median(times):.3f} ms each"
    )
    print(f"loudest at {peak:.1f} Hz; largest error against a direct transform {worst:.1e}")
    sys.exit(0 if worst < 1e-5 else "the spectra are WRONG")
