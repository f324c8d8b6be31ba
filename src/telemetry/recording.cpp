// Writes recorded arrivals; see recording.hpp.
#include "telemetry/recording.hpp"

#include <cmath>

#include "base/input_file.hpp"
#include "base/json_text.hpp"
#include "sibyl/planners.hpp"

namespace sibyl {
namespace {

template <class Clock>
long long nanoseconds(std::chrono::time_point<Clock> time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

// The library is loaded when a process comes to MPI_Init, or before: which of a rank's processes
// came first, also where one recorded nothing.
const std::chrono::steady_clock::time_point loaded = std::chrono::steady_clock::now();

// Ranks on one machine read one clock; which machine that is, the kernel knows.
std::string clock_name() {
  const InputFile file = read_input_file("/proc/sys/kernel/random/boot_id", 256, FileKind::regular);
  return file.read ? file.text.substr(0, file.text.find('\n')) : "unknown";
}

std::string_view text_of(Service service) {
  switch (service) {
    case Service::native:
      return "native";
    case Service::fixed_order:
      return "fixed";
    case Service::predicted_order:
      return "predicted";
  }
  return "";
}

// Nothing where nothing was predicted.
std::string patterns_json(const std::vector<RecordedPattern>& patterns) {
  if (patterns.empty()) return {};
  std::string json = ",\"patterns\":[";
  const char* separator = "";
  for (const RecordedPattern& known : patterns) {
    json += separator;
    json += "[\"" + std::string(name_of(known.collective)) + "\"," + std::to_string(known.root) +
            "," + std::to_string(known.bytes) + "," + std::to_string(known.pattern.version) + ",[";
    separator = "";
    for (const double time : known.pattern.times) {
      json += separator + std::to_string(std::llround(time * 1e9));
      separator = ",";
    }
    json += "]]";
    separator = ",";
  }
  return json + "]";
}

}  // namespace

std::string ProcessRecording::to_json(std::string_view mpi, int rank, int world_size) const {
  const long long difference =
      nanoseconds(std::chrono::system_clock::now()) - nanoseconds(std::chrono::steady_clock::now());
  std::string json =
      "{\"version\":1,\"mpi\":" + json_quoted(mpi) + ",\"rank\":" + std::to_string(rank) +
      ",\"world_size\":" + std::to_string(world_size) + ",\"clock\":" + json_quoted(clock_name()) +
      ",\"wall_minus_clock\":" + std::to_string(difference) +
      ",\"began\":" + std::to_string(nanoseconds(loaded)) +
      ",\"left_out\":" + std::to_string(room_.left_out()) + ",\"communicators\":[";
  const char* separator = "";
  for (const CommunicatorRecording& communicator : ended_) {
    json += separator;
    json += "{\"group\":[";
    separator = "";
    for (const int member : communicator.group) {
      json += separator + std::to_string(member);
      separator = ",";
    }
    json += "],\"ordinal\":" + std::to_string(communicator.ordinal) + ",\"calls\":[";
    separator = "";
    for (const RecordedCall& call : communicator.calls) {
      json += separator;
      json += "[" + std::to_string(call.number) + ",\"" + std::string(name_of(call.collective)) +
              "\"," + std::to_string(call.root) + "," + std::to_string(call.bytes) + "," +
              std::to_string(nanoseconds(call.arrival));
      if (call.service.has_value()) {
        json += "," + std::to_string(nanoseconds(call.departure)) + ",\"" +
                std::string(text_of(*call.service)) + "\"," + std::to_string(call.version);
      }
      json += ']';
      separator = ",";
    }
    json += "]" + patterns_json(communicator.patterns);
    if (communicator.message_seconds > 0) {
      json += ",\"message\":[" + json_number(communicator.message_seconds) + "," +
              json_number(communicator.byte_seconds) + "]";
    }
    json += '}';
    separator = ",";
  }
  return json + "]}\n";
}

}  // namespace sibyl
