// What a run leaves behind; see report.hpp.
#include "fft/report.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

extern char** environ;

namespace sibyl::fft {
namespace {

using nlohmann::json;

// A tenth of a decibel is more than the eye sees.
json tenths(const std::vector<double>& levels) {
  json list = json::array();
  for (const double level : levels) list.push_back(std::round(level * 10.0) / 10.0);
  return list;
}

// A device or a pipe, or a link, which leads to where it is to be written: a file that is put in
// its place would take it away.
bool stays(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::symlink_status(path, error);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

std::error_code write_text(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return {};
  return {errno != 0 ? errno : EIO, std::generic_category()};
}

}  // namespace

std::string to_json(const Options& options, int ranks, const std::string& mpi,
                    const Recording& recording, const Check& check, const std::vector<Times>& times,
                    const Picture& picture) {
  json document{
      {"version", 1},
      {"program", "sibyl-fft"},
      {"mpi", mpi},
      {"ranks", ranks},
      {"threads", options.threads},
      {"size", options.size},
      {"iterations", options.iterations},
      {"compute_s", options.compute},
      {"recording",
       {{"file", options.recording},
        {"rate", recording.rate},
        {"channels", recording.channels},
        {"samples", recording.samples.size()}}},
      {"check", {{"spectra", check.spectra}, {"largest", check.largest}, {"limit", check.limit}}}};
  document["times"] = json::array();
  for (const Times& one : times) {
    document["times"].push_back(
        {{"gather", one.gather}, {"whole", one.whole}, {"run", one.run}, {"elapsed", one.elapsed}});
  }
  json rows = json::array();
  for (const std::vector<double>& row : picture.rows()) rows.push_back(tenths(row));
  document["picture"] = {{"frequencies", picture.frequencies()},
                         {"seconds", picture.seconds()},
                         {"mean", tenths(picture.mean())},
                         {"rows", std::move(rows)}};
  return document.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string write_file(const std::string& path, const std::string& text) {
  std::error_code error;
  if (stays(path)) {
    error = write_text(path, text);
  } else {
    const std::string part = path + ".part";
    error = write_text(part, text);
    if (!error) std::filesystem::rename(part, path, error);
    if (error) unlink(part.c_str());
  }
  return error ? "cannot write " + path + ": " + error.message() : std::string{};
}

std::string place_for_a_while(std::string& problem) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  std::string own = (folder / "sibyl-fft-XXXXXX").string();
  if (!error && mkdtemp(own.data()) != nullptr) return own + "/run.json";
  problem =
      "cannot make a directory in TMPDIR: " + (error ? error.message() : std::strerror(errno)) +
      "; use --json FILE";
  return {};
}

void remove_with_its_directory(const std::string& document) {
  std::error_code ignored;
  std::filesystem::remove(document, ignored);
  std::filesystem::remove(std::filesystem::path(document).parent_path(), ignored);
}

std::string problem_with(const std::string& option, const std::string& path) {
  if (path.empty()) return {};
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return option + " " + path + ": a directory";
  const std::filesystem::path folder = std::filesystem::absolute(path, error).parent_path();
  if (!std::filesystem::is_directory(folder, error)) {
    return option + " " + path + ": there is no directory " + folder.string();
  }
  const bool there = stays(path) && std::filesystem::exists(path, error);
  const std::string written = there ? path : folder.string();
  if (access(written.c_str(), W_OK) != 0) {
    return option + " " + path + ": " + written + " is not writable";
  }
  return {};
}

std::vector<std::string> sibyl_command() {
  const char* python = std::getenv("SIBYL_PYTHON");
  if (python != nullptr && *python != '\0') return {python, "-m", "sibyl"};
  const char* path = std::getenv("PATH");
  std::istringstream directories(path == nullptr ? "" : path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    const std::string command = (directory.empty() ? "." : directory) + "/sibyl";
    if (access(command.c_str(), X_OK) == 0) return {command};
  }
  return {};
}

int draw(const std::vector<std::string>& command, const std::string& document,
         const std::string& picture) {
  std::vector<std::string> words = command;
  words.insert(words.end(), {"fft-plot", document, picture});
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  // Nothing is to be intercepted in there.
  std::vector<char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::strncmp(*variable, "LD_PRELOAD=", 11) != 0) variables.push_back(*variable);
  }
  variables.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawnp(&child, words.front().c_str(), nullptr, nullptr, arguments.data(),
                   variables.data()) != 0) {
    return -1;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace sibyl::fft
