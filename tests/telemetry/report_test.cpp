// What SIBYL_REPORT writes.
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

TEST(Report, HasRoomForAllAlgorithmsOfACollective) {
  for (std::size_t c = 0; c < collective_count; ++c) {
    EXPECT_LT(algorithms(static_cast<Collective>(c)).size(), CommunicatorReport::rows);
  }
}

TEST(Report, HasAVerdictOnEachGovernedSite) {
  CommunicatorReport one;
  one.governed.push_back({.collective = Collective::reduce,
                          .root = 2,
                          .least_bytes = 4096,
                          .most_bytes = 8191,
                          .algorithm = "clairvoyant",
                          .challenger = "",
                          .decided = true,
                          .served_by = Arm::native,
                          .calls = 100,
                          .native_calls = 95,
                          .challenger_calls = 2,
                          .seconds = {3e-3, 1.25e-7, 0},
                          .lost_seconds = 9e-3});
  one.governing_seconds = 0.5;
  CommunicatorReport other;
  other.governing_seconds = 0.25;
  other.governed.push_back(one.governed[0]);
  other.governed[0].decided = false;
  other.governed[0].served_by = Arm::own;
  other.governed[0].calls = 5;
  other.governed[0].native_calls = 1;
  other.governed.push_back(
      {.collective = Collective::exscan, .algorithm = "123-doubling", .challenger = ""});
  other.governed.push_back(one.governed[0]);
  other.governed.back().line = 2;
  ProcessReport report;
  report.merge(one, 4);
  report.merge(other, 4);
  const auto json = nlohmann::json::parse(report.to_json("An MPI", 1, 4, "runs"));
  const auto& sites = json["governed"];
  ASSERT_EQ(sites.size(), 3U);
  EXPECT_EQ(sites[1]["line"], 0);
  EXPECT_EQ(sites[2]["line"], 2);
  EXPECT_EQ(sites[0]["collective"], "exscan");
  EXPECT_EQ(sites[0]["verdict"], "undecided");
  EXPECT_TRUE(sites[0]["root"].is_null());
  EXPECT_EQ(sites[1]["algorithm"], "clairvoyant");
  EXPECT_EQ(sites[1]["communicator_size"], 4);
  EXPECT_EQ(sites[1]["root"], 2);
  EXPECT_EQ(sites[1]["least_bytes"], 4096);
  EXPECT_EQ(sites[1]["most_bytes"], 8191);
  EXPECT_EQ(sites[1]["verdict"], "native");
  EXPECT_EQ(sites[1]["calls"], 105);
  EXPECT_EQ(sites[1]["native_calls"], 96);
  EXPECT_DOUBLE_EQ(sites[1]["own_seconds"], 3e-3);
  EXPECT_DOUBLE_EQ(sites[1]["native_seconds"], 1.25e-7);
  EXPECT_DOUBLE_EQ(sites[1]["lost_seconds"], 18e-3) << "of both";
  EXPECT_DOUBLE_EQ(json["governing_seconds"], 0.75);
  EXPECT_TRUE(sites[1]["challenger"].is_null());
}

// As of another operator, or on another communicator of so many ranks.
TEST(Report, HasTheVerdictOfMostCallsWhereSitesLookAlike) {
  const GovernedSite many{.collective = Collective::allreduce,
                          .algorithm = "ring",
                          .challenger = "",
                          .decided = true,
                          .served_by = Arm::native,
                          .calls = 1000,
                          .native_calls = 900,
                          .seconds = {2e-3, 1e-3, 0}};
  GovernedSite few = many;
  few.served_by = Arm::own;
  few.calls = 60;
  few.native_calls = 10;
  few.seconds = {1e-3, 2e-3, 0};
  GovernedSite undecided = few;
  undecided.decided = false;
  undecided.calls = 5000;
  for (const auto& order : {std::array{many, few, undecided}, std::array{undecided, few, many}}) {
    CommunicatorReport of_one;
    of_one.governed.assign(order.begin(), order.end());
    ProcessReport report;
    report.merge(of_one, 4);
    const auto json = nlohmann::json::parse(report.to_json("An MPI", 1, 4, "runs"));
    ASSERT_EQ(json["governed"].size(), 1U);
    const auto& site = json["governed"][0];
    EXPECT_EQ(site["verdict"], "native");
    EXPECT_EQ(site["calls"], 6060);
    EXPECT_EQ(site["native_calls"], 920);
    EXPECT_DOUBLE_EQ(site["native_seconds"], 1e-3);
  }
}

TEST(Report, NamesTheChallengerOfAGovernedSite) {
  CommunicatorReport one;
  one.governed.push_back({.collective = Collective::exscan,
                          .algorithm = "hybrid",
                          .challenger = "123-doubling",
                          .decided = true,
                          .served_by = Arm::challenger,
                          .calls = 100,
                          .challenger_calls = 70,
                          .seconds = {3e-3, 2e-3, 1e-3}});
  ProcessReport report;
  report.merge(one, 4);
  report.merge(one, 4);
  const auto site = nlohmann::json::parse(report.to_json("An MPI", 1, 4, "runs"))["governed"][0];
  EXPECT_EQ(site["challenger"], "123-doubling");
  EXPECT_EQ(site["verdict"], "challenger");
  EXPECT_EQ(site["challenger_calls"], 140);
  EXPECT_DOUBLE_EQ(site["challenger_seconds"], 1e-3);
}

TEST(Report, HasWhatMessagesWereFoundToCostOnEachKindOfCommunicator) {
  Costs costs{.alpha = 1.2345e-4, .overhead = 2e-5, .beta = 8e-8, .gamma = 3e-10};
  ProcessReport report;
  EXPECT_FALSE(nlohmann::json::parse(report.to_json("An MPI", 0, 1, "runs")).contains("costs"));
  report.note_costs(8, 4, costs);
  costs.fifo_links = true;
  report.note_costs(8, 8, costs);
  costs.alpha = 1e-4;
  report.note_costs(8, 8, costs);
  const auto found = nlohmann::json::parse(report.to_json("An MPI", 1, 8, "runs"))["costs"];
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0]["communicator_size"], 8);
  EXPECT_EQ(found[0]["nodes"], 4);
  EXPECT_DOUBLE_EQ(found[0]["latency_seconds"], 1.2345e-4);
  EXPECT_DOUBLE_EQ(found[0]["overhead_seconds"], 2e-5);
  EXPECT_DOUBLE_EQ(found[0]["byte_seconds"], 8e-8);
  EXPECT_DOUBLE_EQ(found[0]["combined_byte_seconds"], 3e-10);
  EXPECT_EQ(found[0]["in_turn"], false);
  EXPECT_EQ(found[1]["nodes"], 8);
  EXPECT_DOUBLE_EQ(found[1]["latency_seconds"], 1e-4);
  EXPECT_EQ(found[1]["in_turn"], true);
}

TEST(Report, SaysNothingOfAGovernorThatHadNothingToDo) {
  const ProcessReport report;
  EXPECT_FALSE(nlohmann::json::parse(report.to_json("An MPI", 0, 1, "runs")).contains("governed"));
}

}  // namespace
}  // namespace sibyl::test
