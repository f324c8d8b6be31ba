// Merges and writes counters; see report.hpp.
#include "communicator/report.hpp"

namespace sibyl {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

}  // namespace

void ProcessReport::merge(const CommunicatorReport& report, int communicator_size) {
  report.for_each([&](Collective collective, std::string_view name, const CallCount& count) {
    CallCount& line = lines_[{collective, communicator_size, std::string(name)}];
    line.calls += count.calls;
    line.bytes += count.bytes;
    line.nanoseconds += count.nanoseconds;
  });
}

std::string ProcessReport::to_json(const std::string& mpi, int rank, int world_size,
                                   std::string_view thread) const {
  std::string json = "{\"version\":1,\"mpi\":" + quoted(mpi) + ",\"rank\":" + std::to_string(rank) +
                     ",\"world_size\":" + std::to_string(world_size) +
                     ",\"thread\":" + quoted(std::string(thread)) + ",\"entries\":[";
  const char* separator = "";
  for (const auto& [key, count] : lines_) {
    const auto& [collective, size, algorithm] = key;
    json += separator;
    json += "{\"collective\":" + quoted(std::string(name_of(collective))) +
            ",\"communicator_size\":" + std::to_string(size) +
            ",\"algorithm\":" + quoted(algorithm) + ",\"calls\":" + std::to_string(count.calls) +
            ",\"bytes\":" + std::to_string(count.bytes) +
            ",\"seconds\":" + std::to_string(static_cast<double>(count.nanoseconds) * 1e-9) + "}";
    separator = ",";
  }
  return json + "]}\n";
}

}  // namespace sibyl
