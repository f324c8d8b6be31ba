// The verdicts of a run; see report.hpp.
//
// "Never slower" is a claim about every cell at once, so the p-values of all comparisons of the run
// are corrected together. Simulated times have no noise: there the medians decide.
#include <algorithm>

#include "bench/calls.hpp"
#include "bench/report.hpp"

namespace sibyl::bench {
namespace {

int ceil_log2(int value) {
  int bits = 0;
  while ((1LL << bits) < value) ++bits;
  return bits;
}

void set_bounds(const Options& options, const Provenance& from, const Cell& cell, Line& line) {
  const double alpha = from.alpha_near;
  const double beta_m = std::max(cell.message_seconds - alpha, 0.0);
  if (traits(options.operation).combines) {
    // A reduction can be cut into segments that follow each other up a tree; one message is the
    // least that the root must take in.
    const bool whole = scans(options.operation);
    const int rounds = whole || from.ranks == 1 ? ceil_log2(from.ranks) : 1;
    line.bound = rounds == 0 ? 0 : rounds * alpha + beta_m;
    line.whole_vector_bound = rounds * cell.message_seconds;
  } else {
    // The root's link carries every other rank's block.
    line.bound = from.ranks == 1 ? 0 : alpha + (from.ranks - 1) * beta_m;
    line.whole_vector_bound = line.bound;
  }
}

Line compare(const Options& options, const std::vector<double>& own,
             const std::vector<double>& reference, std::vector<double>& excess,
             std::vector<double>& gain) {
  Line line;
  line.least = *std::min_element(own.begin(), own.end());
  line.median = median(own);
  line.quarter = quantile(own, 0.25);
  line.three_quarters = quantile(own, 0.75);
  const double margin = std::max(options.margin * median(reference), options.margin_seconds);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < own.size(); ++i) {
    ratios.push_back(own[i] / reference[i]);
    excess.push_back(own[i] - reference[i] - margin);
    gain.push_back(reference[i] - own[i]);
  }
  line.ratio = median(ratios);
  line.ratio_interval = median_interval(ratios);
  return line;
}

}  // namespace

Findings judge(const Options& options, const Provenance& provenance,
               const std::vector<Cell>& cells) {
  Findings findings;
  std::vector<double> p_slower;
  std::vector<double> p_faster;
  for (const Cell& cell : cells) {
    for (const std::string& name : cell.wrong) {
      findings.wrong.push_back(name + ", operator " + cell.operator_name + ", count " +
                               std::to_string(cell.count));
    }
    for (const bool batch : {false, true}) {
      const auto samples = [&](const Series& series) -> const std::vector<double>& {
        return batch ? series.batch : series.single;
      };
      for (const Series& series : cell.series) {
        if (samples(series).empty()) continue;
        std::vector<double> excess;
        std::vector<double> gain;
        Line line = compare(options, samples(series), samples(cell.series.front()), excess, gain);
        line.operator_name = cell.operator_name;
        line.count = cell.count;
        line.bytes = cell.bytes;
        line.batch_size = batch ? cell.batch_size : 1;
        line.contender = series.contender;
        line.is_reference = &series == &cell.series.front();
        line.held = std::find(options.held.begin(), options.held.end(), series.contender) !=
                    options.held.end();
        set_bounds(options, provenance, cell, line);
        line.violates = provenance.simulated && line.held && median(excess) > 0;
        line.faster = provenance.simulated && median(gain) > 0;
        p_slower.push_back(line.is_reference ? 1 : sign_test(excess));
        p_faster.push_back(line.is_reference ? 1 : sign_test(gain));
        findings.lines.push_back(std::move(line));
      }
    }
  }
  const std::vector<double> slower = holm(p_slower);
  const std::vector<double> faster = holm(p_faster);
  for (std::size_t i = 0; i < findings.lines.size(); ++i) {
    Line& line = findings.lines[i];
    line.p_slower = slower[i];
    line.p_faster = faster[i];
    if (!provenance.simulated) {
      line.violates = line.held && slower[i] < options.significance;
      line.faster = faster[i] < options.significance;
    }
    findings.violated = findings.violated || line.violates;
  }
  return findings;
}

}  // namespace sibyl::bench
