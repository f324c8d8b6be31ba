// The derived lists must order every two steps that conflict, order nothing else, and agree with
// the tags that the executor gives to messages.
#include "schedule/dependencies.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace sibyl {
namespace {

using Builder = ProgramBuilder;
using List = std::vector<StepIndex>;

PlanHeader vector_header(std::uint32_t segments = 1) {
  PlanHeader header;
  header.ranks = 4;
  header.segments = segments;
  return header;
}

List list(std::span<const StepIndex> steps) { return {steps.begin(), steps.end()}; }

TEST(Dependencies, ReadersWaitForTheLastWriterAndWritersForTheReadersSince) {
  Program program;
  Builder build(program);
  const Slice w = Builder::slice(Buffer::receive, 0);
  build.receive(1, w, 0);          // 0 writes
  build.send(2, w, 1);             // 1 reads
  build.send(3, w, 1);             // 2 reads
  build.receive_combine(1, w, 2);  // 3 writes
  build.send(2, w, 3);             // 4 reads
  Dependencies dependencies;
  derive_dependencies(vector_header(), program, dependencies);
  EXPECT_EQ(list(dependencies.all_of(0)), List{});
  EXPECT_EQ(list(dependencies.all_of(1)), List{0});
  EXPECT_EQ(list(dependencies.all_of(2)), List{0});
  EXPECT_EQ(list(dependencies.data_of(3)), (List{1, 2}));
  EXPECT_EQ(list(dependencies.all_of(4)), List{3});
}

TEST(Dependencies, StepsOnDifferentUnitsOrOnlyReadingAreFree) {
  Program program;
  Builder build(program);
  program.scratch_units = 2;
  build.send(1, Builder::slice(Buffer::send, 0), 0);
  build.send(2, Builder::slice(Buffer::send, 0), 0);
  build.receive(1, Builder::slice(Buffer::scratch, 0), 0);
  build.receive(2, Builder::slice(Buffer::scratch, 1), 0);
  build.receive(3, Builder::slice(Buffer::receive, 0), 0);
  Dependencies dependencies;
  derive_dependencies(vector_header(), program, dependencies);
  EXPECT_TRUE(dependencies.predecessor.empty());
}

TEST(Dependencies, SendAndReceiveAreOneBufferInPlace) {
  Program program;
  Builder build(program);
  build.send(1, Builder::slice(Buffer::send, 0), 0);
  build.receive(1, Builder::slice(Buffer::receive, 0), 0);
  Dependencies dependencies;
  derive_dependencies(vector_header(), program, dependencies);
  EXPECT_EQ(list(dependencies.all_of(1)), List{});
  program.in_place = true;
  derive_dependencies(vector_header(), program, dependencies);
  EXPECT_EQ(list(dependencies.all_of(1)), List{0});
}

TEST(Dependencies, AfterAndDataAreToldApartAndNamedOnce) {
  Program program;
  Builder build(program);
  program.scratch_units = 1;
  const Slice w = Builder::slice(Buffer::receive, 0);
  build.receive(1, w, 0);                                   // 0
  build.receive(2, Builder::slice(Buffer::scratch, 0), 0);  // 1
  const StepIndex first[] = {1, 1};
  build.receive_combine(1, w, 1, Gate::on_arrival, first);  // 2
  const StepIndex both[] = {2, 1};
  build.send(1, w, 2, Gate::on_arrival, both);  // 3
  Dependencies dependencies;
  derive_dependencies(vector_header(), program, dependencies);
  EXPECT_EQ(list(dependencies.after_of(2)), List{1});
  EXPECT_EQ(list(dependencies.data_of(2)), List{0});
  EXPECT_EQ(list(dependencies.after_of(3)), (List{1, 2}));
  EXPECT_EQ(list(dependencies.data_of(3)), List{});
}

TEST(Dependencies, DropsWhatAnotherPredecessorWaitsForAnyway) {
  Program program;
  Builder build(program);
  program.scratch_units = 2;
  build.receive(1, Builder::slice(Buffer::scratch, 0), 0);                                // 0
  build.copy(Builder::slice(Buffer::scratch, 1), Builder::slice(Buffer::scratch, 0), 0);  // 1
  build.send(1, Builder::slice(Buffer::scratch, 0, 2), 1);  // reads what 0 and 1 wrote
  Dependencies dependencies;
  derive_dependencies(vector_header(), program, dependencies);
  EXPECT_EQ(list(dependencies.all_of(2)), List{1});
}

// Random programs, against the definition: conflicting steps must be connected, and only steps
// that are connected by conflicts or `after` may be.
class RandomPrograms : public ::testing::TestWithParam<int> {};

using Unit3 = std::pair<int, Unit>;

void add_units(const Program& program, const Slice& slice, std::set<Unit3>& out) {
  int buffer = static_cast<int>(slice.buffer);
  if (program.in_place && slice.buffer == Buffer::receive) buffer = 0;
  for (const Range& range : program.ranges_of(slice)) {
    for (Unit u = 0; u < range.count; ++u) out.insert({buffer, range.first + u});
  }
}

bool meet(const std::set<Unit3>& a, const std::set<Unit3>& b) {
  for (const auto& unit : a) {
    if (b.count(unit) != 0) return true;
  }
  return false;
}

using Relation = std::vector<std::vector<bool>>;

Relation closed(Relation r) {
  for (std::size_t b = 0; b < r.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      if (!r[b][a]) continue;
      for (std::size_t c = 0; c < a; ++c) {
        if (r[a][c]) r[b][c] = true;
      }
    }
  }
  return r;
}

TEST_P(RandomPrograms, OrderExactlyTheStepsThatConflict) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  const auto below = [&](unsigned n) { return static_cast<Unit>(random() % n); };
  const PlanHeader header = vector_header(3);
  DependencyDeriver deriver;
  Dependencies dependencies;
  for (int repetition = 0; repetition < 40; ++repetition) {
    Program program;
    Builder build(program);
    program.scratch_units = 5;
    program.in_place = below(2) == 0;
    const auto slice = [&]() {
      const auto buffer = static_cast<Buffer>(below(3));
      const Unit size = buffer == Buffer::scratch ? 5 : 3;
      if (below(3) == 0) {
        const Range ranges[] = {{0, 1}, {2, 1 + below(size - 2)}};
        return build.slice(buffer, ranges);
      }
      const Unit first = below(size);
      return Builder::slice(buffer, first, below(size - first + 1));
    };
    for (StepIndex i = 0; i < 30; ++i) {
      std::vector<StepIndex> after;
      if (i > 0 && below(4) == 0) after = {below(i), below(i)};
      switch (below(5)) {
        case 0:
          build.send(1, slice(), i, Gate::on_arrival, after);
          break;
        case 1:
          build.receive(1, slice(), i, Gate::on_arrival, after);
          break;
        case 2:
          build.receive_combine(1, slice(), i, Gate::on_arrival, after);
          break;
        case 3:
          build.copy(slice(), slice(), i, Gate::on_arrival, after);
          break;
        default:
          build.combine(slice(), slice(), i, Gate::on_arrival, after);
          break;
      }
    }
    const std::size_t n = program.steps.size();
    std::vector<std::set<Unit3>> reads(n);
    std::vector<std::set<Unit3>> writes(n);
    Relation want(n, std::vector<bool>(n));
    for (std::size_t i = 0; i < n; ++i) {
      const Step& step = program.steps[i];
      const bool local = step.kind == StepKind::copy || step.kind == StepKind::combine;
      if (local) add_units(program, step.from, reads[i]);
      add_units(program, step.slice, step.kind == StepKind::send ? reads[i] : writes[i]);
      for (std::size_t j = 0; j < i; ++j) {
        want[i][j] =
            meet(reads[i], writes[j]) || meet(writes[i], reads[j]) || meet(writes[i], writes[j]);
      }
      for (const StepIndex j : program.after_of(step)) want[i][j] = true;
    }
    deriver.derive(header, program, dependencies);
    Relation got(n, std::vector<bool>(n));
    for (std::size_t i = 0; i < n; ++i) {
      for (const StepIndex j : dependencies.all_of(static_cast<StepIndex>(i))) {
        ASSERT_LT(j, i);
        got[i][j] = true;
      }
    }
    ASSERT_EQ(closed(got), closed(want)) << "seed " << GetParam() << " repetition " << repetition;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms, ::testing::Range(0, 20));

TEST(MessageOrdinals, CountPerPeerAndDirectionInProgramOrder) {
  Program program;
  Builder build(program);
  const Slice w = Builder::slice(Buffer::receive, 0);
  build.send(1, Builder::nothing(), 0);
  build.receive(1, w, 0);
  build.copy(Builder::slice(Buffer::scratch, 0), w, 0);
  build.send(1, w, 1);
  build.send(2, w, 1);
  build.receive_combine(1, w, 2);
  build.send(1, w, 2);
  std::vector<std::uint32_t> ordinal;
  message_ordinals(program, ordinal);
  EXPECT_EQ(ordinal, (std::vector<std::uint32_t>{0, 0, 0, 1, 0, 1, 2}));
}

}  // namespace
}  // namespace sibyl
