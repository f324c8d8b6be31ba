// Merges and writes counters; see report.hpp.
#include "telemetry/report.hpp"

#include "base/json_text.hpp"

namespace sibyl {
namespace {

// Of calls that the MPI library has served: ,"reasons":{"choice":3}
std::string reasons(const CallCount& count) {
  std::string json;
  for (std::size_t i = 0; i < count.left_native.size(); ++i) {
    if (count.left_native[i] == 0) continue;
    json += (json.empty() ? ",\"reasons\":{" : ",") + json_quoted(left_native_names[i]) + ":" +
            std::to_string(count.left_native[i]);
  }
  return json.empty() ? json : json + "}";
}

}  // namespace

void ProcessReport::merge(const CommunicatorReport& report, int communicator_size) {
  report.for_each([&](Collective collective, std::string_view name, const CallCount& count) {
    CallCount& line = lines_[{collective, communicator_size, std::string(name)}];
    line.calls += count.calls;
    for (std::size_t i = 0; i < count.left_native.size(); ++i) {
      line.left_native[i] += count.left_native[i];
    }
    line.bytes += count.bytes;
    line.nanoseconds += count.nanoseconds;
  });
  for (const GovernedSite& site : report.governed) merge(site, communicator_size);
  governing_seconds_ += report.governing_seconds;
}

void ProcessReport::merge(const GovernedSite& site, int communicator_size) {
  Governed& known = governed_[{site.collective, communicator_size, site.persistent, site.root,
                               site.least_bytes, site.algorithm, site.challenger, site.line}];
  GovernedSite all = known.site;
  const bool speaks = site.decided != all.decided ? site.decided : site.calls >= known.most_calls;
  if (speaks) {
    all = site;
    known.most_calls = site.calls;
  }
  all.calls = known.site.calls + site.calls;
  all.native_calls = known.site.native_calls + site.native_calls;
  all.challenger_calls = known.site.challenger_calls + site.challenger_calls;
  all.lost_seconds = known.site.lost_seconds + site.lost_seconds;
  known.site = std::move(all);
}

void ProcessReport::count_native(std::string_view collective, int communicator_size,
                                 std::chrono::nanoseconds took) {
  CallCount& line = lines_of_others_[{std::string(collective), communicator_size}];
  ++line.calls;
  line.nanoseconds += static_cast<std::uint64_t>(took.count());
}

std::string ProcessReport::governed_to_json() const {
  std::string json;
  for (const auto& [key, known] : governed_) {
    const GovernedSite& site = known.site;
    const auto arm = static_cast<std::size_t>(site.served_by);
    const std::string_view verdict = site.decided ? arm_names[arm] : "undecided";
    json += (json.empty() ? ",\"governed\":[" : ",");
    json += "{\"collective\":" + json_quoted(name_of(site.collective)) +
            ",\"communicator_size\":" + std::to_string(std::get<1>(key)) +
            ",\"persistent\":" + (site.persistent ? "true" : "false") +
            ",\"root\":" + (site.root < 0 ? "null" : std::to_string(site.root)) +
            ",\"least_bytes\":" + std::to_string(site.least_bytes) +
            ",\"most_bytes\":" + std::to_string(site.most_bytes) +
            ",\"algorithm\":" + json_quoted(site.algorithm) +
            ",\"challenger\":" + (site.challenger.empty() ? "null" : json_quoted(site.challenger)) +
            ",\"line\":" + std::to_string(site.line) + ",\"verdict\":" + json_quoted(verdict) +
            ",\"calls\":" + std::to_string(site.calls) +
            ",\"native_calls\":" + std::to_string(site.native_calls) +
            ",\"challenger_calls\":" + std::to_string(site.challenger_calls);
    for (std::size_t i = 0; i < arm_count; ++i) {
      json += ",\"" + std::string(arm_names[i]) + "_seconds\":" + json_number(site.seconds[i]);
    }
    json += ",\"lost_seconds\":" + json_number(site.lost_seconds) + "}";
  }
  if (json.empty()) return json;
  return json + "],\"governing_seconds\":" + json_number(governing_seconds_);
}

std::string ProcessReport::costs_to_json() const {
  std::string json;
  for (const auto& [kind, costs] : costs_) {
    json += (json.empty() ? ",\"costs\":[" : ",");
    json += "{\"communicator_size\":" + std::to_string(kind.first) +
            ",\"nodes\":" + std::to_string(kind.second) +
            ",\"latency_seconds\":" + json_number(costs.alpha) +
            ",\"overhead_seconds\":" + json_number(costs.overhead) +
            ",\"byte_seconds\":" + json_number(costs.beta) +
            ",\"combined_byte_seconds\":" + json_number(costs.gamma) +
            ",\"in_turn\":" + (costs.fifo_links ? "true" : "false") + "}";
  }
  return json.empty() ? json : json + "]";
}

std::string ProcessReport::to_json(const std::string& mpi, int rank, int world_size,
                                   std::string_view thread) const {
  std::string json = "{\"version\":1,\"mpi\":" + json_quoted(mpi) +
                     ",\"rank\":" + std::to_string(rank) +
                     ",\"world_size\":" + std::to_string(world_size) +
                     ",\"thread\":" + json_quoted(thread) + ",\"entries\":[";
  const char* separator = "";
  const auto add = [&](std::string_view collective, int size, std::string_view algorithm,
                       const CallCount& count) {
    json += separator;
    json += "{\"collective\":" + json_quoted(collective) +
            ",\"communicator_size\":" + std::to_string(size) +
            ",\"algorithm\":" + json_quoted(algorithm) +
            ",\"calls\":" + std::to_string(count.calls) +
            ",\"bytes\":" + std::to_string(count.bytes) +
            ",\"seconds\":" + json_number(static_cast<double>(count.nanoseconds) * 1e-9) +
            reasons(count) + "}";
    separator = ",";
  };
  for (const auto& [key, count] : lines_) {
    const auto& [collective, size, algorithm] = key;
    add(name_of(collective), size, algorithm, count);
  }
  for (const auto& [key, count] : lines_of_others_) add(key.first, key.second, "native", count);
  return json + "]" + governed_to_json() + costs_to_json() + "}\n";
}

}  // namespace sibyl
