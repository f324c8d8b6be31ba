// Table, CSV and JSON of a run; see report.hpp.
#include "bench/report.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "bench/verdict.hpp"

namespace sibyl::bench {
namespace {

std::string_view verdict(const Line& line, const Options& options) {
  return verdict({.is_reference = line.is_reference,
                  .held = line.held,
                  .slower = line.violates,
                  .faster = line.faster,
                  .ratio = line.ratio_interval},
                 options.margin);
}

std::string microseconds(double seconds) { return fmt::format("{:.3f}", seconds * 1e6); }

}  // namespace

std::string to_table(const Options& options, const Provenance& from, const Findings& findings) {
  std::string text = fmt::format(
      "{} on {} ranks, {}, Sibyl {}; {} cores, {}\n"
      "half a round trip of one byte: {} us (ranks 0 and 1), {} us (ranks 0 and {})\n",
      name_of(options.operation), from.ranks, from.mpi, from.sibyl, from.cores, from.cpu,
      microseconds(from.alpha_near), microseconds(from.alpha_far), from.ranks - 1);
  const Line* last = nullptr;
  for (const Line& line : findings.lines) {
    const bool new_cell = last == nullptr || last->operator_name != line.operator_name ||
                          last->count != line.count || last->batch_size != line.batch_size;
    if (new_cell) {
      text +=
          fmt::format("\noperator {}, count {} ({} bytes), {}; limit {} us, whole vectors {} us\n",
                      line.operator_name, line.count, line.bytes,
                      line.batch_size == 1 ? std::string("single calls")
                                           : fmt::format("batches of {} calls", line.batch_size),
                      microseconds(line.bound), microseconds(line.whole_vector_bound));
      text += fmt::format("  {:<20}{:>12}{:>12}{:>9}{:>18}{:>9}  {}\n", "", "least us", "median us",
                          "ratio", "95 % of ratio", "x limit", "verdict");
    }
    text += fmt::format(
        "  {:<20}{:>12}{:>12}{:>9.3f}{:>18}{:>9}  {}\n", line.contender, microseconds(line.least),
        microseconds(line.median), line.ratio,
        fmt::format("{:.3f}-{:.3f}", line.ratio_interval.low, line.ratio_interval.high),
        line.bound > 0 && line.batch_size == 1 ? fmt::format("{:.2f}", line.median / line.bound)
                                               : "-",
        verdict(line, options));
    last = &line;
  }
  text += "\n";
  for (const std::string& wrong : findings.wrong) text += "WRONG RESULT: " + wrong + "\n";
  for (const Line& line : findings.lines) {
    if (!line.violates) continue;
    text +=
        fmt::format("slower than allowed: {}, operator {}, count {}, {}: ratio {:.3f}, p {:.2g}\n",
                    line.contender, line.operator_name, line.count,
                    line.batch_size == 1 ? "single calls" : "batches", line.ratio, line.p_slower);
  }
  if (!findings.violated && findings.wrong.empty()) {
    text += fmt::format("never slower than {} by more than {:.0f} % or {:.0f} ns: holds\n",
                        options.reference, options.margin * 100, options.margin_seconds * 1e9);
  }
  return text;
}

std::string to_csv(const Options& options, const Provenance& from, const Findings& findings) {
  std::string text =
      "collective,ranks,mpi,operator,count,bytes,batch,algorithm,least_us,quartile_1_us,median_us,"
      "quartile_3_us,ratio,ratio_low,ratio_high,limit_us,whole_vector_limit_us,p_slower,p_faster,"
      "verdict\n";
  for (const Line& line : findings.lines) {
    text += fmt::format(
        "{},{},\"{}\",{},{},{},{},{},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},"
        "{:.4f},{:.4f},{:.4f},{:.3g},{:.3g},{}\n",
        name_of(options.operation), from.ranks, from.mpi, line.operator_name, line.count,
        line.bytes, line.batch_size, line.contender, line.least * 1e6, line.quarter * 1e6,
        line.median * 1e6, line.three_quarters * 1e6, line.ratio, line.ratio_interval.low,
        line.ratio_interval.high, line.bound * 1e6, line.whole_vector_bound * 1e6, line.p_slower,
        line.p_faster, verdict(line, options));
  }
  return text;
}

std::string to_json(const Options& options, const Provenance& from, const Findings& findings) {
  using Json = nlohmann::ordered_json;
  Json lines = Json::array();
  for (const Line& line : findings.lines) {
    lines.push_back({{"operator", line.operator_name},
                     {"count", line.count},
                     {"bytes", line.bytes},
                     {"batch", line.batch_size},
                     {"algorithm", line.contender},
                     {"least_s", line.least},
                     {"quartile_1_s", line.quarter},
                     {"median_s", line.median},
                     {"quartile_3_s", line.three_quarters},
                     {"ratio", line.ratio},
                     {"ratio_95_percent", {line.ratio_interval.low, line.ratio_interval.high}},
                     {"limit_s", line.bound},
                     {"whole_vector_limit_s", line.whole_vector_bound},
                     {"p_slower", line.p_slower},
                     {"p_faster", line.p_faster},
                     {"verdict", verdict(line, options)}});
  }
  const Json document = {
      {"format", "sibyl-bench"},
      {"version", 1},
      {"provenance",
       {{"date", from.date},
        {"mpi", from.mpi},
        {"flavour", from.flavour},
        {"sibyl", from.sibyl},
        {"cpu", from.cpu},
        {"cores", from.cores},
        {"ranks", from.ranks},
        {"simulated", from.simulated},
        {"alpha_near_s", from.alpha_near},
        {"alpha_far_s", from.alpha_far},
        {"command", from.command}}},
      {"collective", name_of(options.operation)},
      {"reference", options.reference},
      {"held", options.held},
      {"repetitions", options.repetitions},
      {"warm_up", options.warm_up},
      {"margin", {{"relative", options.margin}, {"seconds", options.margin_seconds}}},
      {"significance", options.significance},
      {"never_slower", !findings.violated},
      {"wrong_results", findings.wrong},
      {"lines", lines}};
  return document.dump(1) + "\n";
}

}  // namespace sibyl::bench
