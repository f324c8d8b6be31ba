// Written by hand and in one pass: every text in it is one of our own names (no escapes needed),
// and a plan of 2000 ranks must not be copied into a document tree first.
#include "schedule/export_json.hpp"

#include <algorithm>
#include <vector>

#include "schedule/dependencies.hpp"

namespace sibyl {
namespace {

class JsonWriter {
 public:
  explicit JsonWriter(const Plan& plan) : plan_(plan) {}

  std::string write() {
    const PlanHeader& header = plan_.header;
    out_ += "{\"collective\":";
    text(name_of(header.collective));
    out_ += ",\"algorithm\":";
    text(header.algorithm);
    number(",\"ranks\":", header.ranks);
    number(",\"root\":", header.root);
    number(",\"segments\":", header.segments);
    out_ += ",\n\"programs\":[";
    for (std::size_t r = 0; r < plan_.programs.size(); ++r) {
      out_ += r == 0 ? "\n[" : ",\n[";
      program(plan_.programs[r]);
      out_ += ']';
    }
    out_ += "],\n\"partition\":";
    text(name_of(header.partition));
    number(",\"rounds\":", header.rounds);
    number(",\"tag_span\":", header.tag_span);
    number(",\"window\":{\"sends\":", header.window.sends);
    number(",\"receives\":", header.window.receives);
    number("},\"staging\":", header.staging);
    flag(",\"one_ported\":", header.one_ported);
    flag(",\"keeps_order\":", header.keeps_order);
    out_ += ",\n\"scratch_units\":";
    list(plan_.programs, [&](const Program& p) { number("", p.scratch_units); });
    out_ += ",\n\"in_place\":";
    list(plan_.programs, [&](const Program& p) { flag("", p.in_place); });
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  void text(std::string_view value) {
    out_ += '"';
    out_ += value;
    out_ += '"';
  }
  template <class Number>
  void number(std::string_view key, Number value) {
    out_ += key;
    out_ += std::to_string(value);
  }
  void flag(std::string_view key, bool value) {
    out_ += key;
    out_ += value ? "true" : "false";
  }
  template <class Items, class Write>
  void list(const Items& items, Write write_item) {
    out_ += '[';
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_ += ',';
      first = false;
      write_item(item);
    }
    out_ += ']';
  }

  void ranges(const Program& program, const Slice& slice) {
    if (slice.list_size == 0) return;
    out_ += ",\"ranges\":";
    list(program.ranges_of(slice), [&](const Range& range) {
      number("[", range.first);
      number(",", range.count);
      out_ += ']';
    });
  }

  void program(const Program& program) {
    deriver_.derive(plan_.header, program, dependencies_);
    for (StepIndex i = 0; i < program.steps.size(); ++i) {
      out_ += i == 0 ? "\n" : ",\n";
      step(program, i);
    }
  }

  static Unit first_of(const Program& program, const Slice& slice) {
    const auto ranges = program.ranges_of(slice);
    return ranges.empty() ? 0 : ranges.front().first;
  }

  void step(const Program& program, StepIndex index) {
    const Step& step = program.steps[index];
    out_ += "{\"kind\":";
    text(name_of(step.kind));
    if (step.peer == no_rank) {
      out_ += ",\"peer\":null";
    } else {
      number(",\"peer\":", step.peer);
    }
    out_ += ",\"buffer\":";
    text(name_of(step.slice.buffer));
    number(",\"first\":", first_of(program, step.slice));
    number(",\"count\":", step.slice.range.count);
    ranges(program, step.slice);
    number(",\"round\":", step.round);
    out_ += ",\"gate\":";
    text(name_of(step.gate));
    if (step.kind == StepKind::copy || step.kind == StepKind::combine) {
      out_ += ",\"from\":{\"buffer\":";
      text(name_of(step.from.buffer));
      number(",\"first\":", first_of(program, step.from));
      ranges(program, step.from);
      out_ += '}';
    }
    out_ += ",\"after\":";
    const auto all = dependencies_.all_of(index);
    earlier_.assign(all.begin(), all.end());
    std::sort(earlier_.begin(), earlier_.end());
    list(earlier_, [&](StepIndex earlier) { number("", earlier); });
    out_ += '}';
  }

  const Plan& plan_;
  std::string out_;
  DependencyDeriver deriver_;
  Dependencies dependencies_;
  std::vector<StepIndex> earlier_;
};

}  // namespace

std::string export_json(const Plan& plan) { return JsonWriter(plan).write(); }

}  // namespace sibyl
