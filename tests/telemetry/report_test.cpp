// What SIBYL_REPORT writes of collectives that Sibyl has no algorithms for.
#include "telemetry/report.hpp"

#include <chrono>
#include <nlohmann/json.hpp>

#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

TEST(Report, HasALineForEachCollectiveAndSizeThatTheLibraryPerforms) {
  using std::chrono::milliseconds;
  ProcessReport report;
  report.count_native("neighbor_alltoall", 3, milliseconds(1));
  report.count_native("alltoallw", 4, milliseconds(20));
  report.count_native("alltoallw", 3, milliseconds(300));
  report.count_native("alltoallw", 4, milliseconds(20));
  const auto json = nlohmann::json::parse(report.to_json("An MPI", 1, 4, "runs"));
  const auto& entries = json["entries"];
  ASSERT_EQ(entries.size(), 3U);
  const auto& twice = entries[1];
  EXPECT_EQ(twice["collective"], "alltoallw");
  EXPECT_EQ(twice["communicator_size"], 4);
  EXPECT_EQ(twice["algorithm"], "native");
  EXPECT_EQ(twice["calls"], 2);
  EXPECT_EQ(twice["bytes"], 0);
  EXPECT_DOUBLE_EQ(twice["seconds"], 0.04);
  EXPECT_EQ(entries[0]["communicator_size"], 3);
  EXPECT_EQ(entries[2]["collective"], "neighbor_alltoall");
}

}  // namespace
}  // namespace sibyl::test
