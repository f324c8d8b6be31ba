// sibyl-fft: the spectra of a recording, window by window, by a Fourier transform over all ranks
// (Proficz 2020, section 6). The gather of the transformed blocks is what is under test: several
// ways to do it take turns in every iteration, and the times are compared.

#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "fft/clock.hpp"
#include "fft/gathers.hpp"
#include "fft/options.hpp"
#include "fft/parallel_transform.hpp"
#include "fft/picture.hpp"
#include "fft/recording.hpp"
#include "fft/report.hpp"
#include "fft/times.hpp"
#include "settle.hpp"

namespace sibyl::fft {
namespace {

constexpr int bad_input = 2;
constexpr int wrong_result = 3;
constexpr int warm_up = 3;  // iterations that are not measured
constexpr int picture_rows = 256;

int rank = 0;
int ranks = 1;

std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string line(text);
  line.resize(std::min(line.find_first_of(",\n"), line.size()));
  std::replace(line.begin(), line.end(), '\t', ' ');
  return line;
}

// Rank 0's verdict holds on all ranks, and rank 0 says it.
bool agreed(const std::string& problem) {
  int wrong = problem.empty() ? 0 : 1;
  MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (wrong != 0 && rank == 0) fmt::print(stderr, "sibyl-fft: {}\n", problem);
  return wrong == 0;
}

// When this rank came to the gather and left it.
struct Stay {
  std::vector<double> arrival, exit;
};

// One way to gather, with all that was measured of it.
struct Contender {
  std::unique_ptr<Gather> gather;
  Stay stay;
  std::vector<double> whole;
};

class Run {
 public:
  // `common_clock`: whether all ranks read one.
  Run(const Options& options, Recording recording, bool common_clock)
      : options_(options),
        common_clock_(common_clock),
        recording_(std::move(recording)),
        transform_(MPI_COMM_WORLD, options.size, options.threads, options.compute),
        contenders_(options.gathers.size()),
        picture_(options.size, recording_.rate) {
    for (std::size_t i = 0; i < contenders_.size(); ++i) {
      contenders_[i].gather = make_gather(options.gathers[i], MPI_COMM_WORLD, transform_.share(),
                                          transform_.share_floats(), transform_.gathered());
    }
    turns_.resize(contenders_.size());
    std::iota(turns_.begin(), turns_.end(), std::size_t{0});
    for (const Contender& one : contenders_) compares_ = compares_ || one.gather->compares();
    if (rank == 0) {
      window_ = hann_window(options.size);
      samples_.resize(options.size);
    }
  }

  void iterate() {
    for (int i = -warm_up; i < options_.iterations; ++i) {
      // In any order, the same on all ranks, so that none has always the same neighbour's
      // aftermath.
      std::ranges::shuffle(turns_, generator_);
      for (const std::size_t which : turns_) one_window(i, contenders_[which]);
    }
  }

  const Check& check() const { return check_; }
  const Picture& picture() const { return picture_; }
  const Recording& recording() const { return recording_; }

  // On rank 0; a call for all ranks.
  std::vector<Times> times() {
    std::vector<Times> all;
    for (std::size_t i = 0; i < contenders_.size(); ++i) {
      const Contender& one = contenders_[i];
      const std::size_t n = one.stay.exit.size();
      const int count = static_cast<int>(n);
      std::vector<double> elapsed(n), first(n), last(n), sum(n);
      for (std::size_t j = 0; j < n; ++j) elapsed[j] = one.stay.exit[j] - one.stay.arrival[j];
      PMPI_Reduce(elapsed.data(), sum.data(), count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
      PMPI_Reduce(one.stay.arrival.data(), first.data(), count, MPI_DOUBLE, MPI_MIN, 0,
                  MPI_COMM_WORLD);
      PMPI_Reduce(one.stay.exit.data(), last.data(), count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
      Times times{options_.gathers[i], one.whole, {}, {}};
      for (std::size_t j = 0; j < n; ++j) {
        if (common_clock_) times.run.push_back(last[j] - first[j]);
        times.elapsed.push_back(sum[j] / ranks);
      }
      all.push_back(std::move(times));
    }
    return all;
  }

 private:
  // One window; those of the warm-up have negative numbers.
  void one_window(int number, Contender& one) {
    const std::size_t start = window_start(recording_.samples.size(), options_.size,
                                           std::max(number, 0), options_.iterations);
    const ParallelTransform::HalfDone half_done = [&] { one.gather->half_done(); };
    // Half of rank 0's work: half of the window sent off, or half of the time that is given.
    const bool sending_decides = options_.compute == 0;
    std::span<const Complex> spectrum;
    // What another contender has gathered of the same window would pass for this one's.
    if (rank == 0) transform_.forget_gathered();
    const double begin = now();
    if (rank == 0) {
      for (std::size_t i = 0; i < samples_.size(); ++i) {
        samples_[i] = window_[i] * recording_.samples[start + i];
      }
      one.gather->start();
      transform_.distribute(samples_, sending_decides ? half_done : nullptr);
      transform_.transform_share(sending_decides ? nullptr : half_done);
    } else {
      transform_.receive();
      one.gather->start();
      transform_.transform_share(half_done);
    }
    const double arrival = now();
    one.gather->run();
    const double exit = now();
    if (rank == 0) spectrum = transform_.finish();
    const double end = now();
    if (compares_) {  // after every window, so that none finds the ranks as another does not
      std::vector<double> arrivals(static_cast<std::size_t>(ranks));
      PMPI_Allgather(&arrival, 1, MPI_DOUBLE, arrivals.data(), 1, MPI_DOUBLE, MPI_COMM_WORLD);
      one.gather->compare(arrivals);
    }
    if (number < 0) return;

    one.stay.arrival.push_back(arrival);
    one.stay.exit.push_back(exit);
    if (rank != 0) return;
    one.whole.push_back(end - begin);
    const bool last = number == options_.iterations - 1;
    if (options_.check_every > 0 && (number % options_.check_every == 0 || last)) {
      check_.limit = error_limit(options_.size);
      const double error = error_against_direct(samples_, spectrum);
      if (!(error <= check_.largest)) check_.largest = error;  // also if it is no number
      ++check_.spectra;
    }
    const int step = std::max(1, options_.iterations / picture_rows);
    if (&one == contenders_.data() && number % step == 0) {
      picture_.add(spectrum, static_cast<double>(start) / recording_.rate);
    }
  }

  const Options& options_;
  bool common_clock_;
  Recording recording_;
  ParallelTransform transform_;
  std::vector<Contender> contenders_;
  std::vector<std::size_t> turns_;  // of contenders, in a window
  std::mt19937 generator_;          // the same on all ranks
  bool compares_ = false;           // one of them
  Picture picture_;
  Check check_;
  std::vector<float> window_, samples_;
};

// Reads the recording on rank 0; the others learn its length.
Recording read(const Options& options, std::string& problem) {
  Recording recording;
  if (rank != 0) return recording;
  problem = problem_with("--json", options.json);
  if (problem.empty()) problem = problem_with("--plot", options.plot);
  if (problem.empty() && !options.plot.empty() && sibyl_command().empty()) {
    problem =
        "--plot: the command sibyl, which draws, is not in PATH; use: sibyl run -- "
        "sibyl-fft ..., or --json FILE and later: sibyl fft-plot FILE " +
        options.plot;
  }
  if (!problem.empty()) return recording;
  recording = read_recording(options.recording);
  problem = recording.problem;
  if (problem.empty() && recording.samples.size() < options.size) {
    problem = fmt::format("{} has {} samples, a window {}; say a smaller --size", options.recording,
                          recording.samples.size(), options.size);
  }
  return recording;
}

// Writes the document and says where the picture's is; an exit code.
int write(const Options& options, Run& run, const std::vector<Times>& times,
          std::string& document) {
  if (options.json.empty() && options.plot.empty()) return 0;
  std::string problem;
  document = options.json.empty() ? place_for_a_while(problem) : options.json;
  const std::string text =
      to_json(options, ranks, mpi_version(), run.recording(), run.check(), times, run.picture());
  if (problem.empty()) problem = write_file(document, text);
  if (problem.empty()) return 0;
  fmt::print(stderr, "sibyl-fft: {}\n", problem);
  if (options.json.empty() && !document.empty()) remove_with_its_directory(document);
  document.clear();
  return 1;
}

// What all ranks do between MPI_Init and MPI_Finalize; an exit code, and rank 0's document.
int work(int argument_count, char** arguments, Options& options, std::string& document) {
  options = parse_options(argument_count, arguments);
  if (!options.help.empty()) {
    if (rank == 0) fmt::print("{}", options.help);
    return 0;
  }
  std::string problem = options.problem;
  const bool common = common_clock();
  if (problem.empty()) problem = problem_on(options, static_cast<std::size_t>(ranks), common);
  if (!agreed(problem)) return bad_input;
  Recording recording = read(options, problem);
  if (!agreed(problem)) return bad_input;

  Run run(options, std::move(recording), common);
  run.iterate();
  const std::vector<Times> times = run.times();
  int code = 0;
  if (rank == 0) {
    const Check& check = run.check();
    fmt::print("{}: {} samples at {} Hz; {} windows of {}; {} ranks, {} thread(s) each; {}\n",
               options.recording, run.recording().samples.size(), run.recording().rate,
               options.iterations, options.size, ranks, options.threads, mpi_version());
    fmt::print("{}", table(times));
    if (check.spectra > 0) {
      fmt::print(
          "{} spectra compared with a direct transform: largest error {:.2g}, limit {:.2g}\n",
          check.spectra, check.largest, check.limit);
    }
    code = write(options, run, times, document);
    if (!check.right()) {
      fmt::print(stderr, "sibyl-fft: the spectra are WRONG\n");
      code = wrong_result;
    }
  }
  MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return code;
}

}  // namespace
}  // namespace sibyl::fft

int main(int argument_count, char** arguments) {
  using namespace sibyl::fft;
  int level = MPI_THREAD_SINGLE;
  // Where Sibyl is a component of Open MPI it stands aside, or what is called native is Sibyl's.
  const std::vector<std::string> gathers = parse_options(argument_count, arguments).gathers;
  if (std::ranges::find(gathers, "native") != gathers.end()) {
    setenv("OMPI_MCA_coll_sibyl_priority", "0", 1);
  }
  MPI_Init_thread(&argument_count, &arguments, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Options options;
  std::string document;
  int code = work(argument_count, arguments, options, document);
  sibyl::settle();
  MPI_Finalize();
  if (!document.empty() && !options.plot.empty()) {
    std::fflush(stdout);
    if (draw(sibyl_command(), document, options.plot) != 0) {
      fmt::print(stderr, "sibyl-fft: no picture; draw it with: sibyl fft-plot {} {}\n", document,
                 options.plot);
      code = code == 0 ? 1 : code;
    } else if (options.json.empty()) {
      remove_with_its_directory(document);
    }
  }
  return code;
}
