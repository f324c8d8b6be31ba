// Reads and documents the environment variables; see environment.hpp.
#include "base/environment.hpp"

#include <stdlib.h>  // secure_getenv, which <cstdlib> need not have

#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <system_error>

namespace sibyl {
namespace {

constexpr std::string_view algorithm_values = "auto, native or a name from `sibyl algorithms`";

constexpr std::array<EnvironmentVariable, 45> variables{{
    {"SIBYL_EXSCAN", algorithm_values, "auto", "",
     "Algorithm that serves MPI_Exscan. `auto` chooses by ranks, bytes and operator; `native` "
     "leaves the calls to the MPI library."},
    {"SIBYL_SCAN", algorithm_values, "auto", "", "The same for MPI_Scan."},
    {"SIBYL_REDUCE", algorithm_values, "auto", "",
     "The same for MPI_Reduce. An algorithm that needs a commutative operator leaves others to the "
     "MPI library."},
    {"SIBYL_GATHER", algorithm_values, "auto", "", "The same for MPI_Gather."},
    {"SIBYL_SCATTER", algorithm_values, "auto", "", "The same for MPI_Scatter."},
    {"SIBYL_GATHERV", algorithm_values, "auto", "", "The same for MPI_Gatherv."},
    {"SIBYL_SCATTERV", algorithm_values, "auto", "", "The same for MPI_Scatterv."},
    {"SIBYL_ALLREDUCE", algorithm_values, "auto", "", "The same for MPI_Allreduce."},
    {"SIBYL_BCAST", algorithm_values, "auto", "", "The same for MPI_Bcast."},
    {"SIBYL_REDUCE_SCATTER", algorithm_values, "auto", "", "The same for MPI_Reduce_scatter."},
    {"SIBYL_REDUCE_SCATTER_BLOCK", algorithm_values, "auto", "",
     "The same for MPI_Reduce_scatter_block."},
    {"SIBYL_ALLGATHER", algorithm_values, "auto", "", "The same for MPI_Allgather."},
    {"SIBYL_ALLGATHERV", algorithm_values, "auto", "", "The same for MPI_Allgatherv."},
    {"SIBYL_ALLTOALL", algorithm_values, "auto", "", "The same for MPI_Alltoall."},
    {"SIBYL_ALLTOALLV", algorithm_values, "auto", "", "The same for MPI_Alltoallv."},
    {"SIBYL_BARRIER", algorithm_values, "auto", "", "The same for MPI_Barrier."},
    {"SIBYL_TABLE", "a file", "", "",
     "A selection table, as `sibyl guidelines --tables` writes it: decides where the variables "
     "above "
     "say auto. Where no rule of it fits a call, Sibyl chooses. All ranks must be able to read "
     "it: a regular file of at most 1 MiB."},
    {"SIBYL_FIRST_SEGMENT", "0 to 1073741824", "1024", "bytes",
     "Size of the first of the two segments that linear-synchronised gather cuts a block into."},
    {"SIBYL_OUTSTANDING", "0 to 1000000", "", "transfers",
     "How many transfers the root of linear gather and scatter has under way at a time; 0 is no "
     "limit, 1 is what the papers call linear; likewise how many sends every rank of a shifted "
     "all-to-all has. Not set: no limit for scatter, 4 where it is "
     "persistent and leaves receive in the background, 24 for others."},
    {"SIBYL_DIRECT_FROM", "0 to 1073741824", "", "bytes",
     "Blocks of gatherv and scatterv of at least this size travel direct between their rank and "
     "the root, beside the ordered tree. Not set: 4096, or what a link carries in 30 us, where the "
     "network has been measured and that is less."},
    {"SIBYL_CONSTRUCT_EVERY", "0 to 1000000", "64", "calls",
     "How often gatherv builds its tree anew from the sizes of the blocks: at every so many calls "
     "with one root, and before that at calls 2, 4, 8 and so on. 0 is never, 1 is every call. In "
     "the call after, the root of a gatherv or scatterv says whether blocks had better go "
     "direct."},
    {"SIBYL_SEGMENTS", "0 to 1024", "0", "segments",
     "Into how many segments vectors or blocks are cut by algorithms that do so; 0 chooses by "
     "bytes "
     "and ranks, between nodes with the costs below."},
    {"SIBYL_LANES", "0 to 128", "0", "ranks",
     "How many ranks of every node send and receive between nodes in algorithms `two-level`, at "
     "most "
     "as many as share a node; 0 chooses by costs that are measured."},
    {"SIBYL_ARRIVALS", "an arrival pattern", "", "",
     "When ranks arrive at a reduce, allreduce or bcast: uniform:0.02:7 or another pattern of "
     "`sibyl plan --arrivals`, "
     "or a file with one time a line, in seconds, which holds for communicators of as many ranks; "
     "the last at most 1000000 after the first. "
     "Not set: nothing is known. All ranks must be able to read it: a regular file of at most "
     "16 MiB."},
    {"SIBYL_ALPHA", "0 to 4294967295", "0", "nanoseconds",
     "Latency of a message, for the choice of segments and algorithm of a reduce, of scans and of "
     "what goes to all ranks; 0: measured."},
    {"SIBYL_OVERHEAD", "0 to 4294967295", "0", "nanoseconds",
     "Time that a message adds to a stream of several under way, to many ranks as well; 0: "
     "measured."},
    {"SIBYL_BETA", "0 to 4294967295", "0", "picoseconds per byte",
     "Time per byte in such a stream; 0: measured."},
    {"SIBYL_COMMUNICATORS", "0 to 1000000", "256", "communicators",
     "How many private communicators a process may hold. One that finds none left on any of its "
     "ranks takes the place of the one that was used least recently among those whose ranks it "
     "has, which the MPI library serves from then on; else it is served by the MPI library "
     "itself."},
    {"SIBYL_SERVE_FROM", "0 to 1000000", "", "calls",
     "From which call of a communicator on the preload serves it: 1 is the first, 0 never. Not "
     "set: from the third, since one that is used once or twice cannot repay its set-up, on one "
     "node in part from the hundredth (docs/how-to/preload.md); MPI_COMM_WORLD, which is set up in "
     "MPI_Init, from the first. Must be the same on all ranks."},
    {"SIBYL_REPRODUCIBLE", "0 or 1", "0", "",
     "1: MPI_Reduce, MPI_Allreduce, MPI_Reduce_scatter(_block), MPI_Scan and MPI_Exscan combine in "
     "an "
     "order that follows from ranks, bytes, operator and root alone, and give the same bits in "
     "every "
     "call and run "
     "(docs/how-to/reproducible.md). Under the preload Sibyl then serves from the first call of a "
     "communicator on. No costs are measured. Set it on all ranks or on none."},
    {"SIBYL_NODE_WINDOW", "auto, or 0 to 1073741824", "auto", "bytes",
     "Memory that the ranks of a node may share on a communicator, through which messages between "
     "them then go instead of through MPI; its persistent requests have as much again together "
     "(docs/explanation/nodes.md). 0, or too few bytes for so many ranks: none. Where all ranks "
     "share one node and have a core each, reduce, allreduce and, of more than two ranks, bcast "
     "from 4 KiB on are then served (docs/results/one-node.md); 262144 times the square of the "
     "number of ranks is enough for any message. `auto`: so many on communicators of at most 16 "
     "such "
     "ranks, for calls of these three alone that gain most by it, under Open MPI and MPICH; "
     "elsewhere none."},
    {"SIBYL_DEVICE", "auto, native or off", "auto", "",
     "What becomes of buffers in the memory of a GPU (docs/how-to/devices.md). `auto`: where Sibyl "
     "serves a call, they go by way of host memory, and the governor finds out whether the MPI "
     "library's own collective is faster. `native`: where a rank has loaded CUDA, HIP or Level "
     "Zero when a "
     "communicator is set up, all of its calls go to the MPI library. `off`: nobody asks whose "
     "memory a buffer is; the host must be able to touch it."},
    {"SIBYL_THREAD", "0 or 1", "1", "",
     "Whether persistent requests, and predictions in the background, may have one thread per "
     "process. It needs MPI_THREAD_MULTIPLE; without it they work in the foreground."},
    {"SIBYL_PREDICT", "off, piggyback, root-led, periodic or background", "piggyback", "",
     "Whether gather(v), scatter(v), reduce and allreduce follow predicted arrivals. `piggyback`: "
     "allreduce alone, which learns who is late from bytes that go with its own messages; "
     "`root-led`: the roots "
     "of linear algorithms alone; `periodic`: all ranks, reductions among them; `background`: "
     "the same, exchanged by the thread where there is one, for which the preload has MPI_Init "
     "give MPI_THREAD_MULTIPLE (docs/explanation/prediction.md)."},
    {"SIBYL_GOVERN", "0 or 1", "1", "",
     "1: where Sibyl chooses an algorithm by itself, some calls go to the MPI library instead, and "
     "call sites that it serves faster are left to it (docs/explanation/governor.md). 0: calls are "
     "served as "
     "chosen. Algorithms that are asked for by name, or by SIBYL_TABLE, are not questioned."},
    {"SIBYL_REPORT", "a directory", "", "",
     "Where each process writes `rank-RANK-PID.json` at MPI_Finalize: calls, bytes, algorithm and "
     "time per collective and communicator size. `sibyl run` sets it. Not set: no report, and no "
     "call is timed for it."},
    {"SIBYL_RECORD", "a directory", "", "",
     "Where each process writes `arrivals-RANK-PID.json` at MPI_Finalize: when it joined each call "
     "of the collectives above. `sibyl run --record` sets it and puts the files together. The "
     "first "
     "million calls of a process are kept; `left_out` counts the others. Not set: nothing is "
     "recorded."},
    {"SIBYL_PROFILE", "a directory", "", "",
     "Where libsibyl-profile.so keeps a trace of each process (HOST-PID.trace) from MPI_Init on. "
     "`sibyl profile` sets it and preloads the library. Not set: the library hands all calls on."},
    {"SIBYL_PROFILE_MEMORY", "0 to 1099511627776", "67108864", "bytes",
     "How much of such a trace may be records of single calls, 48 bytes each, in each process. "
     "Where they do not fit, half of the calls are left out, the same ones on all ranks; the "
     "totals of "
     "a call site stay exact. Another 30 MiB at most are totals and names."},
    {"SIBYL_LIBRARY_DIR", "a directory", "the directory of the preload library", "",
     "Where the preload library, the component of Open MPI and the command look for "
     "libsibyl-openmpi.so.1, libsibyl-mpich.so.1 and libsibyl-abi.so.1."},
    {"SIBYL_INTERCEPT", "mpi or pmpi", "mpi", "",
     "By which names the preload library takes a program's calls: MPI_X, or PMPI_X below profiling "
     "tools, which then see all calls (docs/how-to/preload.md). All ranks must have the same."},
    {"SIBYL_TEST_PLACEMENT", "numbers of nodes", "", "",
     "For tests, on one machine: 0,0,1 has ranks 0 and 1 of MPI_COMM_WORLD share a node and rank 2 "
     "be on another, and so on from the first number again. Not set: ranks on one host share a "
     "node. The same on all ranks."},
    {"SIBYL_TEST_SERVE", "0 or 1", "0", "",
     "For tests: 1 has Sibyl choose among its own algorithms where all ranks share a node and none "
     "shortens a scan, gather or scatter, which are the MPI library's otherwise "
     "(docs/explanation/nodes.md)."},
    {"SIBYL_TEST_CLOCKS", "numbers", "", "nanoseconds",
     "For tests of the profile, on one machine: 0,5000 has the clock of rank 1 of MPI_COMM_WORLD "
     "be "
     "ahead of rank 0's by 5 us, and so on from the first number again; ranks with the same number "
     "share a host. The same on all ranks."},
    {"SIBYL_PYTHON", "a Python interpreter", "the command sibyl in PATH", "",
     "By which sibyl-fft starts `sibyl fft-plot` to draw its picture. `sibyl run` sets it. Read by "
     "sibyl-fft only."},
}};

void read_text(EnvironmentLookup lookup, const char* name, std::string& value) {
  const char* text = lookup(name);
  if (text != nullptr && *text != '\0') value = text;
}

void read_whole_number(EnvironmentLookup lookup, const char* name, std::uint32_t limit,
                       std::uint32_t& value, std::string& problem,
                       std::string_view otherwise = {}) {
  const char* text = lookup(name);
  if (text == nullptr || *text == '\0') return;
  std::uint32_t number = 0;
  const char* end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, number);
  if (error != std::errc{} || rest != end || number > limit) {
    problem = std::string(name) + "=" + text + ": not " + std::string(otherwise) +
              "a whole number from 0 to " + std::to_string(limit) + "; correct or unset it";
    return;
  }
  value = number;
}

}  // namespace

const char* process_variable(const char* name) { return ::secure_getenv(name); }

std::span<const EnvironmentVariable> environment_variables() { return variables; }

Environment read_environment(EnvironmentLookup lookup) {
  Environment environment;
  for (std::size_t i = 0; i < algorithm_variables.size(); ++i) {
    read_text(lookup, algorithm_variables[i], environment.algorithm[i]);
  }
  read_text(lookup, "SIBYL_TABLE", environment.table);
  read_text(lookup, "SIBYL_ARRIVALS", environment.arrivals);
  read_text(lookup, "SIBYL_PREDICT", environment.predict);
  read_text(lookup, "SIBYL_DEVICE", environment.device);
  read_text(lookup, "SIBYL_REPORT", environment.report);
  read_text(lookup, "SIBYL_RECORD", environment.record);
  read_text(lookup, "SIBYL_TEST_PLACEMENT", environment.test_placement);
  read_whole_number(lookup, "SIBYL_FIRST_SEGMENT", 1U << 30, environment.first_segment,
                    environment.problem);
  constexpr std::uint32_t unset = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t outstanding = unset;
  read_whole_number(lookup, "SIBYL_OUTSTANDING", 1000000, outstanding, environment.problem);
  if (outstanding != unset) environment.outstanding = outstanding;
  std::uint32_t direct_from = unset;
  read_whole_number(lookup, "SIBYL_DIRECT_FROM", 1U << 30, direct_from, environment.problem);
  if (direct_from != unset) environment.direct_from = direct_from;
  read_whole_number(lookup, "SIBYL_CONSTRUCT_EVERY", 1000000, environment.construct_every,
                    environment.problem);
  read_whole_number(lookup, "SIBYL_SEGMENTS", 1024, environment.segments, environment.problem);
  read_whole_number(lookup, "SIBYL_LANES", 128, environment.lanes, environment.problem);
  constexpr std::uint32_t any = std::numeric_limits<std::uint32_t>::max();
  read_whole_number(lookup, "SIBYL_ALPHA", any, environment.alpha, environment.problem);
  read_whole_number(lookup, "SIBYL_OVERHEAD", any, environment.overhead, environment.problem);
  read_whole_number(lookup, "SIBYL_BETA", any, environment.beta, environment.problem);
  std::uint32_t serve_from = unset;
  read_whole_number(lookup, "SIBYL_SERVE_FROM", 1000000, serve_from, environment.problem);
  if (serve_from != unset) environment.serve_from = serve_from;
  std::string window;
  read_text(lookup, "SIBYL_NODE_WINDOW", window);
  if (!window.empty() && window != "auto") {
    read_whole_number(lookup, "SIBYL_NODE_WINDOW", 1U << 30, environment.node_window,
                      environment.problem, "auto, nor ");
  }
  read_whole_number(lookup, "SIBYL_GOVERN", 1, environment.govern, environment.problem);
  read_whole_number(lookup, "SIBYL_THREAD", 1, environment.thread, environment.problem);
  read_whole_number(lookup, "SIBYL_REPRODUCIBLE", 1, environment.reproducible, environment.problem);
  read_whole_number(lookup, "SIBYL_TEST_SERVE", 1, environment.test_serve, environment.problem);
  read_whole_number(lookup, "SIBYL_COMMUNICATORS", 1000000, environment.communicators,
                    environment.problem);
  return environment;
}

std::string environment_markdown() {
  std::string page =
      "# Environment variables\n\n"
      "Generated from `src/base/environment.cpp`; a test holds this page against the code.\n"
      "Set the same values on all ranks. Settings that choose algorithms hold as rank 0 of the\n"
      "communicator has them. `SIBYL_SERVE_FROM`, `SIBYL_REPRODUCIBLE` and `SIBYL_INTERCEPT` must "
      "be\n"
      "equal: ranks that differ in them may wait for each other. Directories,\n"
      "`SIBYL_COMMUNICATORS` and `SIBYL_PROFILE_MEMORY` are each process's own. Programs that\n"
      "run with more rights than whoever started them (set-user-ID, set-group-ID) read none of\n"
      "them. Files are read and written through no link that lies in a directory to which all may\n"
      "write.\n\n"
      "| variable | values | default | unit | meaning |\n"
      "|---|---|---|---|---|\n";
  for (const EnvironmentVariable& variable : variables) {
    page += "| `" + std::string(variable.name) + "` | " + std::string(variable.values) + " | " +
            (variable.standard.empty() ? "not set" : std::string(variable.standard)) + " | " +
            std::string(variable.unit) + " | " + std::string(variable.meaning) + " |\n";
  }
  return page;
}

}  // namespace sibyl
