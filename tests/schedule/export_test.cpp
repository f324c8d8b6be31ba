// What the exporters write must be readable by the tools that it is meant for, and complete.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <tuple>

#include "schedule/export_goal.hpp"
#include "schedule/export_json.hpp"
#include "schedule/export_svg.hpp"
#include "schedule/hand_built.hpp"
#include "schedule/space_time.hpp"

namespace sibyl {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& item : object.items()) keys.push_back(item.key());
  return keys;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(ExportJson, HasTheKeysOfTheContractInTheirOrder) {
  const Json json = Json::parse(export_json(gather_plan()));
  const auto keys = keys_of(json);
  ASSERT_GE(keys.size(), 6U);
  EXPECT_EQ(std::vector<std::string>(keys.begin(), keys.begin() + 6),
            (std::vector<std::string>{"collective", "algorithm", "ranks", "root", "segments",
                                      "programs"}));
  const Json& receive = json["programs"][2][0];
  EXPECT_EQ(keys_of(receive), (std::vector<std::string>{"kind", "peer", "buffer", "first", "count",
                                                        "round", "gate", "after"}));
  const Json& copy = json["programs"][2][1];
  EXPECT_EQ(keys_of(copy), (std::vector<std::string>{"kind", "peer", "buffer", "first", "count",
                                                     "round", "gate", "from", "after"}));
}

TEST(ExportJson, SaysWhatThePlanSays) {
  const Json json = Json::parse(export_json(gather_plan()));
  EXPECT_EQ(json["collective"], "gather");
  EXPECT_EQ(json["root"], 1);
  EXPECT_EQ(json["rounds"], 2);
  EXPECT_EQ(json["scratch_units"], Json({0, 0, 2}));
  const Json& root = json["programs"][1];
  EXPECT_EQ(root[0]["ranges"], Json({{0, 1}, {2, 1}}));
  EXPECT_EQ(root[0]["count"], 2);
  EXPECT_EQ(root[0]["peer"], 2);
  EXPECT_EQ(root[1]["peer"], nullptr);
  EXPECT_EQ(root[1]["from"], (Json{{"buffer", "send"}, {"first", 1}}));
  EXPECT_EQ(json["programs"][2][0]["gate"], "on_start");
}

TEST(ExportJson, NamesDerivedPredecessorsBesideExplicitOnes) {
  Plan plan = gather_plan();
  plan.programs[1].after = {0};
  plan.programs[1].steps[1].after_size = 1;
  const Json json = Json::parse(export_json(plan));
  EXPECT_EQ(json["programs"][2][2]["after"], Json({0, 1}));
  EXPECT_EQ(json["programs"][1][1]["after"], Json({0}));
}

// Reads GOAL as txt2bin does: one statement a line, labels defined before they are required.
struct Goal {
  int ranks = 0;
  std::map<std::tuple<int, int, int>, long> sends;  // (from, to, tag) to bytes
  std::map<std::tuple<int, int, int>, long> receives;
  std::set<std::string> requires_;  // "rank: a requires b"
};

void read_goal(const std::string& text, Goal& goal) {
  std::istringstream lines(text);
  std::string line;
  int rank = -1;
  std::set<std::string> labels;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string first;
    if (!(words >> first)) continue;
    std::string second;
    if (first == "num_ranks") {
      ASSERT_TRUE(words >> goal.ranks);
    } else if (first == "rank") {
      ASSERT_TRUE(words >> rank >> second);
      ASSERT_EQ(second, "{");
      labels.clear();
    } else if (first == "}") {
      rank = -1;
    } else if (first.back() == ':') {
      ASSERT_TRUE(labels.insert(first.substr(0, first.size() - 1)).second) << line;
      long size = 0;
      ASSERT_TRUE(words >> second >> size) << line;
      if (second == "calc") continue;
      char b = 0;
      int peer = -1;
      int tag = -1;
      std::string direction;
      std::string tag_word;
      ASSERT_TRUE(words >> b >> direction >> peer >> tag_word >> tag) << line;
      ASSERT_EQ(b, 'b');
      ASSERT_EQ(tag_word, "tag");
      ASSERT_EQ(direction, second == "send" ? "to" : "from");
      if (second == "send") {
        ASSERT_TRUE(goal.sends.insert({{rank, peer, tag}, size}).second) << line;
      } else {
        ASSERT_EQ(second, "recv");
        ASSERT_TRUE(goal.receives.insert({{peer, rank, tag}, size}).second) << line;
      }
    } else {
      std::string earlier;
      ASSERT_TRUE(words >> second >> earlier) << line;
      ASSERT_EQ(second, "requires");
      ASSERT_TRUE(labels.count(first) == 1 && labels.count(earlier) == 1) << line;
      goal.requires_.insert(std::to_string(rank) + ": " + line);
    }
  }
}

TEST(ExportGoal, MatchesEverySendWithOneReceiveOfTheSameSizeAndTag) {
  for (const Plan& plan : {exscan_plan(), gather_plan()}) {
    Goal goal;
    GoalCosts costs;
    costs.bytes_per_unit = 16;
    read_goal(export_goal(plan, costs), goal);
    EXPECT_EQ(goal.ranks, plan.header.ranks);
    EXPECT_EQ(goal.sends, goal.receives);
    EXPECT_EQ((goal.sends.count({1, 2, 1})),
              plan.header.collective == Collective::exscan ? 1U : 0U);
  }
}

TEST(ExportGoal, CombinesAfterTheMessageAndItsData) {
  Goal goal;
  read_goal(export_goal(exscan_plan()), goal);
  EXPECT_EQ(goal.requires_.count("3: c1 requires m1"), 1U);
  EXPECT_EQ(goal.requires_.count("3: c1 requires m0"), 1U);
  EXPECT_EQ(goal.requires_.count("3: m1 requires m0"), 0U);
  EXPECT_EQ(goal.requires_.count("3: c2 requires c1"), 1U);
}

TEST(ExportGoal, WritesThePortWindowAsAChain) {
  Plan plan = exscan_plan();
  plan.header.window = {.sends = 1, .receives = 2};
  Goal goal;
  read_goal(export_goal(plan), goal);
  EXPECT_EQ(goal.requires_.count("1: m2 requires m0"), 1U);
  EXPECT_EQ(goal.requires_.count("3: m2 requires m0"), 1U);
  EXPECT_EQ(goal.requires_.count("3: m1 requires m0"), 0U);
}

TEST(SpaceTimePicture, PutsEachStepBehindWhatItWaitsFor) {
  for (const Plan& plan : {exscan_plan(), gather_plan()}) {
    const SpaceTime place = place_steps(plan);
    for (std::size_t r = 0; r < plan.programs.size(); ++r) {
      for (std::size_t i = 0; i < plan.programs[r].steps.size(); ++i) {
        const Step& step = plan.programs[r].steps[i];
        const std::uint32_t number = place.first_step[r] + static_cast<std::uint32_t>(i);
        EXPECT_EQ(place.rounds[place.column[number]], step.round);
        EXPECT_LT(place.level[number], place.levels[place.column[number]]);
        if (step.kind != StepKind::send) continue;
        EXPECT_LT(place.level[number], place.level[place.partner[number]]);
      }
    }
  }
}

TEST(SpaceTimePicture, HasNoColumnForRoundsWithoutAStep) {
  Plan plan = exscan_plan();
  const std::uint32_t idle = 1U << 30;  // while all wait for a late rank
  for (Program& program : plan.programs) {
    for (Step& step : program.steps) step.round += idle;
  }
  plan.header.rounds += idle;
  EXPECT_EQ(place_steps(plan).rounds, (std::vector<std::uint32_t>{idle, idle + 1, idle + 2}));
  EXPECT_NE(export_svg(plan).find(">round 1073741826<"), std::string::npos);
}

TEST(SpaceTimePicture, StillPlacesAPlanThatNoOnePortRankCouldRun) {
  // The second message from rank 0 to rank 1 must move before the first one can.
  Plan plan = exscan_plan();
  plan.header.ranks = 2;
  plan.header.rounds = 1;
  plan.programs.assign(2, Program{});
  const Slice go = ProgramBuilder::nothing();
  ProgramBuilder zero(plan.programs[0]);
  const StepIndex answer[] = {zero.receive(1, go, 0)};
  zero.send(1, go, 0, Gate::on_arrival, answer);
  zero.send(1, go, 0);
  ProgramBuilder one(plan.programs[1]);
  one.receive(0, go, 0);
  const StepIndex second[] = {one.receive(0, go, 0)};
  one.send(0, go, 0, Gate::on_arrival, second);
  const SpaceTime place = place_steps(plan);
  // Send, its receive, the answer, its receive, send, its receive.
  EXPECT_EQ(place.levels[0], 6U);
  EXPECT_EQ(place.level, (std::vector<std::uint32_t>{3, 4, 0, 5, 1, 2}));
}

TEST(ExportSvg, DrawsEveryMessageAndNamesWhatItShows) {
  const std::string svg = export_svg(exscan_plan());
  EXPECT_EQ(svg.rfind("<svg ", 0), 0U);
  EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
  EXPECT_NE(svg.find("exscan, by-hand: 4 ranks, 3 rounds"), std::string::npos);
  EXPECT_EQ(count(svg, "<path "), 6U + 1U);  // arrowheads of the messages and of the legend
  EXPECT_EQ(count(svg, ">round "), 3U);
  EXPECT_NE(svg.find(">receive and combine<"), std::string::npos);
  EXPECT_EQ(svg.find(">copy<"), std::string::npos);
}

TEST(ExportSvg, NamesARootWhereTheOperationHasOne) {
  Plan plan = exscan_plan();
  EXPECT_EQ(export_svg(plan).find("root "), std::string::npos);
  plan.header.collective = Collective::allgather;
  EXPECT_EQ(export_svg(plan).find("root "), std::string::npos);
  plan.header.collective = Collective::reduce;
  plan.header.root = 2;
  EXPECT_NE(export_svg(plan).find("4 ranks, root 2, "), std::string::npos);
  EXPECT_NE(export_svg(plan).find(">root 2<"), std::string::npos);
}

TEST(ExportSvg, MarksTheRootLocalStepsAndOpenGates) {
  const std::string svg = export_svg(gather_plan());
  EXPECT_NE(svg.find("root 1"), std::string::npos);
  EXPECT_NE(svg.find(">copy<"), std::string::npos);
  EXPECT_NE(svg.find(">ring: may run before this rank arrives<"), std::string::npos);
  EXPECT_EQ(svg.find("control message"), std::string::npos);
}

TEST(ExportSvg, DrawsAPlanWithoutSteps) {
  Plan plan;
  plan.header.ranks = 1;
  plan.programs.resize(1);
  EXPECT_NE(export_svg(plan).find("1 rank, 0 rounds"), std::string::npos);
}

}  // namespace
}  // namespace sibyl
