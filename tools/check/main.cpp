// What a cluster of namespaces holds of its shaped rate: the measuring program of
// `sibyl cluster check`, which starts one rank a host and reads the line of JSON that rank 0
// prints.
//
// Point-to-point messages only, so that no MPI's choice of algorithm is measured with the network.
// All hosts are on one machine and share its monotonic clock: a time runs from the first rank's
// start to the last rank's end.
//
//   sibyl-cluster-check RATE    (bits per second of a link and direction)

#include <mpi.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "run_time.hpp"
#include "settle.hpp"

namespace {

using sibyl::median;
using sibyl::now;
using sibyl::run_time;

constexpr int repetitions = 7;
constexpr int latency_repetitions = 101;
constexpr int busy_repetitions = 31;
// Wire times: long against what the links' token buckets hold (1.5 ms), short for the user.
constexpr double pingpong_seconds = 0.1;
constexpr double collective_seconds = 0.25;

int rank = 0;
int ranks = 0;

void nap(long microseconds) {
  const timespec time{0, microseconds * 1000};
  nanosleep(&time, nullptr);
}

// What precedes each round trip. Without it, many would fit into one slice of time in which the
// scheduler happens to run both ranks, and none of the waiting would be seen.
enum class Before { nothing, nap, barrier };

// Half round trips of `bytes` bytes between ranks 0 and 1; 0.0 on the others.
double half_round_trip(std::vector<char>& buffer, int bytes, int count, Before before) {
  if (rank > 1 && before != Before::barrier) return 0.0;
  std::vector<double> times;
  for (int i = -count / 10 - 1; i < count; ++i) {
    if (before == Before::nap && rank == 0) nap(500 + 37L * ((i + count) % 29));
    if (before == Before::barrier) MPI_Barrier(MPI_COMM_WORLD);
    if (rank > 1) continue;
    const double start = now();
    if (rank == 0) {
      MPI_Send(buffer.data(), bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(buffer.data(), bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(buffer.data(), bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(buffer.data(), bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
    if (i >= 0) times.push_back((now() - start) / 2);
  }
  return times.empty() ? 0.0 : median(times);
}

// These ranks, which take no part so far, wait without using a processor until rank 0 is here.
void sleep_until_rank_0_comes(int first, int end) {
  if (rank == 0) {
    for (int peer = first; peer < end; ++peer) {
      MPI_Send(nullptr, 0, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
    }
  } else if (rank >= first && rank < end) {
    MPI_Request come;
    MPI_Irecv(nullptr, 0, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &come);
    for (int flag = 0; flag == 0;) {
      nap(20'000);
      MPI_Test(&come, &flag, MPI_STATUS_IGNORE);
    }
  }
}

// Each of the first `hosts` ranks sends to its right neighbour and receives from its left one.
void shift_once(int hosts, std::vector<char>& out, std::vector<char>& in) {
  const int bytes = static_cast<int>(out.size());
  const int right = (rank + 1) % hosts, left = (rank + hosts - 1) % hosts;
  MPI_Sendrecv(out.data(), bytes, MPI_CHAR, right, 3, in.data(), bytes, MPI_CHAR, left, 3,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// How long that takes a few; 0.0 on the others.
double shift_of(int hosts, int bytes) {
  if (rank >= hosts) return 0.0;
  std::vector<char> out(static_cast<std::size_t>(bytes), 'x'), in(out.size());
  std::vector<double> times;
  for (int i = -1; i < repetitions; ++i) {
    const double start = now();
    shift_once(hosts, out, in);
    if (i >= 0) times.push_back(now() - start);
  }
  return median(times);
}

struct Line {
  double alpha = 0.0;
  double beta = 0.0;
  double few = 0.0;
};

// alpha is the time of an empty message; beta the least-squares slope over large ones; `few` that
// of a shift of three hosts, which send and receive at once like all, but are alone. (Of two, each
// direction's acknowledgements wait behind the other's data: it takes twice as long.)
Line measure_line(double rate, int shifted) {
  const int largest =
      static_cast<int>(std::clamp(rate / 8 * pingpong_seconds, 64.0 * 1024, 512.0 * 1024 * 1024));
  std::vector<char> buffer(static_cast<std::size_t>(largest), 'x');
  Line line;
  line.alpha = half_round_trip(buffer, 0, latency_repetitions, Before::nap);
  double n = 0.0, sum_m = 0.0, sum_t = 0.0, sum_mm = 0.0, sum_mt = 0.0;
  for (int parts = 8; parts >= 1; parts /= 2) {
    const int bytes = largest / parts;
    const double m = bytes, t = half_round_trip(buffer, bytes, repetitions, Before::nothing);
    n += 1.0;
    sum_m += m;
    sum_t += t;
    sum_mm += m * m;
    sum_mt += m * t;
  }
  line.beta = (n * sum_mt - sum_m * sum_t) / (n * sum_mm - sum_m * sum_m);
  const int few = std::min(ranks, 3);
  sleep_until_rank_0_comes(2, few);
  line.few = shift_of(few, shifted);
  sleep_until_rank_0_comes(few, ranks);
  return line;
}

// Every other rank sends its block to rank 0 at once; the root's link is the one that is busy.
double gather_time(int block) {
  std::vector<char> buffer(static_cast<std::size_t>(block) *
                           static_cast<std::size_t>(rank == 0 ? ranks - 1 : 1));
  std::vector<double> times;
  for (int i = -1; i < repetitions; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = now();
    if (rank == 0) {
      std::vector<MPI_Request> requests(static_cast<std::size_t>(ranks - 1));
      for (int peer = 1; peer < ranks; ++peer) {
        const std::size_t place = static_cast<std::size_t>(peer - 1);
        MPI_Irecv(buffer.data() + place * static_cast<std::size_t>(block), block, MPI_CHAR, peer, 2,
                  MPI_COMM_WORLD, &requests[place]);
      }
      MPI_Waitall(ranks - 1, requests.data(), MPI_STATUSES_IGNORE);
    } else {
      MPI_Send(buffer.data(), block, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
    }
    const double time = run_time(start, now());
    if (i >= 0) times.push_back(time);
  }
  return median(times);
}

// The machine's processor time so far, in ticks of /proc/stat.
struct Processors {
  double idle = 0.0;
  double kernel = 0.0;
  double total = 0.0;
};

Processors processors() {
  Processors sum;
  std::FILE* file = std::fopen("/proc/stat", "r");
  if (file == nullptr) return sum;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, softirq = 0, stolen = 0;
  if (std::fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle,
                  &waiting, &irq, &softirq, &stolen) == 8) {
    sum.idle = idle + waiting;
    sum.kernel = system + irq + softirq;
    sum.total = user + nice + system + idle + waiting + irq + softirq + stolen;
  }
  std::fclose(file);
  return sum;
}

struct Shift {
  double seconds = 0.0;
  double idle_share = 0.0;
  double kernel_share = 0.0;
};

// Every rank sends to its right neighbour and receives from its left one: all links are busy.
Shift shift(int bytes) {
  std::vector<char> out(static_cast<std::size_t>(bytes), 'x'), in(out.size());
  std::vector<double> times;
  Processors before;
  for (int i = -1; i < repetitions; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (i == 0) before = processors();
    const double start = now();
    shift_once(ranks, out, in);
    const double time = run_time(start, now());
    if (i >= 0) times.push_back(time);
  }
  const Processors after = processors();
  const double total = std::max(after.total - before.total, 1.0);
  return {median(times), (after.idle - before.idle) / total,
          (after.kernel - before.kernel) / total};
}

std::string library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  // MPICH separates by tabs; what stands after the version is how it was built.
  std::string line(text, std::strcspn(text, ",\n"));
  std::string words;
  for (const char c : line) {
    if (c == '\t' || c == ' ') {
      if (!words.empty() && words.back() != ' ') words += ' ';
    } else if (c != '"' && c != '\\') {
      words += c;
    }
  }
  const std::size_t label = words.find(" Version:");
  return label == std::string::npos ? words : words.erase(label, 9);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double rate = 0.0;
  CLI::App app(
      "What links hold of their shaped rate; prints one line of JSON. On 2 ranks or more.");
  app.add_option("RATE", rate, "bits per second of a link and direction")
      ->required()
      ->check(sibyl::command_line::from(1.0))
      ->option_text("");
  sibyl::command_line::Outcome outcome = sibyl::command_line::read(app, argc, argv);
  if (ranks < 2) outcome.problem = "wants 2 ranks or more";
  if (!outcome.help.empty() || !outcome.problem.empty()) {
    if (rank == 0) std::printf("%s", outcome.help.c_str());
    if (rank == 0 && outcome.help.empty()) {
      std::fprintf(stderr, "sibyl-cluster-check: %s\n", outcome.problem.c_str());
    }
    MPI_Finalize();
    return outcome.help.empty() ? 2 : 0;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double most = 1024.0 * 1024 * 1024;
  const double wire_bytes = std::min(rate / 8 * collective_seconds, most);
  const int block = std::max(1, static_cast<int>(wire_bytes / (ranks - 1)));
  const int bytes = std::max(1, static_cast<int>(wire_bytes));
  const Line line = measure_line(rate, bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  // Now with the others waiting in a collective, as they do where latency matters.
  std::vector<char> nothing(1);
  const double alpha_busy = half_round_trip(nothing, 0, busy_repetitions, Before::barrier);
  MPI_Barrier(MPI_COMM_WORLD);

  const double gathered = gather_time(block);
  const Shift shifted = shift(bytes);

  if (rank == 0) {
    const double gather_rate = 8.0 * block * (ranks - 1) / gathered;
    const double shift_rate = 8.0 * bytes / shifted.seconds;
    std::printf("{\"mpi\": \"%s\", \"alpha_s\": %.9f, \"alpha_busy_s\": %.9f, ",
                library_version().c_str(), line.alpha, alpha_busy);
    std::printf("\"beta_s_per_byte\": %.6e, ", line.beta);
    std::printf("\"gather_rate\": %.1f, \"gather_ratio\": %.6f, ", gather_rate, rate / gather_rate);
    std::printf("\"shift_rate\": %.1f, \"shift_ratio\": %.6f, ", shift_rate, rate / shift_rate);
    std::printf("\"few_ratio\": %.6f, ", line.few * rate / 8 / bytes);
    std::printf("\"total_rate\": %.1f, ", shift_rate * ranks);
    std::printf("\"idle_share\": %.4f, \"kernel_share\": %.4f}\n", shifted.idle_share,
                shifted.kernel_share);
  }
  sibyl::settle();
  MPI_Finalize();
  return 0;
}
