// main() of the tests that run under mpiexec: GoogleTest on every rank, one verdict for all.
//
// Rank 0 reports as usual; the other ranks print only what failed. A failure on any rank is a
// failure of the whole run on every rank, and so is a run that executed no test. Threads may all
// call MPI, but with SIBYL_TEST_ONE_THREAD, for what Sibyl does only in programs without.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
// Open MPI closes plug-ins at its end, and a leak in a plug-in that is gone has no name by which
// lsan.supp could know it: so they stay.
extern "C" __attribute__((visibility("default"))) int dlclose(void*) { return 0; }
#endif

namespace {

int world_rank = 0;
// The harness talks on a communicator of its own, so that it cannot meet a test's messages.
MPI_Comm harness_comm = MPI_COMM_NULL;

// Prints the failed checks of a rank whose usual output is off.
class FailurePrinter : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& test) override {
    test_ = std::string(test.test_suite_name()) + "." + test.name();
  }
  // GoogleTest holds its lock here: asking it which test runs would never return.
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::printf("[rank %d] %s:%d: %s\n%s\n", world_rank,
                result.file_name() == nullptr ? "?" : result.file_name(), result.line_number(),
                test_.c_str(), result.message());
    std::fflush(stdout);
  }
  std::string test_ = "outside a test";
};

// Keeps the ranks in step and says after each test on how many of them it failed.
class Agreement : public testing::EmptyTestEventListener {
 public:
  bool failed() const { return failed_; }

 private:
  void OnTestStart(const testing::TestInfo&) override { MPI_Barrier(harness_comm); }
  void OnTestEnd(const testing::TestInfo& test) override {
    int failures = test.result()->Failed() ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, harness_comm);
    if (failures == 0) return;
    failed_ = true;
    if (world_rank == 0) {
      std::printf("[  RANKS   ] %s.%s failed on %d rank(s)\n", test.test_suite_name(), test.name(),
                  failures);
      std::fflush(stdout);
    }
  }
  bool failed_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  const bool one_thread = std::getenv("SIBYL_TEST_ONE_THREAD") != nullptr;
  MPI_Init_thread(&argc, &argv, one_thread ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &harness_comm);

  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  testing::TestEventListeners& listeners = tests.listeners();
  if (world_rank != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter);
  }
  auto agreement = std::make_unique<Agreement>();
  listeners.Append(agreement.get());

  int failed = RUN_ALL_TESTS() != 0 || agreement->failed() ? 1 : 0;
  if (tests.test_to_run_count() == 0) {
    failed = 1;
    if (world_rank == 0) std::printf("No test was executed.\n");
  }
#if defined(__SANITIZE_ADDRESS__)
  // Now and not at the end of the process: MPI_Finalize unloads the MPI's own components, and what
  // they keep could no longer be told from what Sibyl lost.
  if (__lsan_do_recoverable_leak_check() != 0) failed = 1;
#endif
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, harness_comm);
  listeners.Release(agreement.get());
  MPI_Comm_free(&harness_comm);
  MPI_Finalize();
  return failed;
}
