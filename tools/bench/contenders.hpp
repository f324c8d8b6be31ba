// What takes part in a comparison: the MPI library's own collective, Sibyl's choice, each of its
// algorithms forced, and hand-written loops.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/operators.hpp"
#include "bench/options.hpp"

namespace sibyl::bench {

// The buffers of one cell of the benchmark (a count and an operator), the same for all contenders.
class Data {
 public:
  Data(Collective collective, const Operator& op, int count, int rank, int ranks);

  Collective collective;
  const Operator& op;
  int count;
  int rank;
  int ranks;
  std::size_t bytes;  // of a vector or block
  std::vector<char> send;
  std::vector<char> receive;
  std::vector<char> scratch;  // two vectors, for the hand-written loops
  bool has_result() const;    // is the receive buffer significant here
  int result_count() const;   // elements of it
};

// One participant.
class Contender {
 public:
  enum class Kind { native, sibyl, hand };
  // Collective over MPI_COMM_WORLD. `name` must be one of contender_names().
  Contender(Collective collective, const std::string& name);
  ~Contender();
  Contender(const Contender&) = delete;
  Contender& operator=(const Contender&) = delete;

  const std::string& name() const { return name_; }
  // The call on the data of a cell, ready to be made again and again; refers to `data`.
  std::function<int()> call(Data& data);

 private:
  std::function<int()> call_function(Data& data, bool native) const;
  void force(Data& data);

  Collective collective_;
  std::string name_;
  Kind kind_;
  MPI_Comm comm_ = MPI_COMM_WORLD;
  bool forced_ = false;
};

// All names that a collective knows, in the order of the table.
std::vector<std::string> contender_names(Collective collective);

}  // namespace sibyl::bench
