// What takes part in a comparison: the MPI library's own collective, the same once more on another
// communicator (native-again: what a comparison finds where nothing differs), its variants forced,
// Sibyl's choice, each of Sibyl's algorithms forced, the persistent form, hand-written loops,
// PREDICTION:NAME, an algorithm that is told this about the arrivals rather than what the others
// are told (flat:clairvoyant), history:NAME, a reduce that is told what its earlier turns suggest,
// piggyback:NAME, an allreduce that learns from its own messages as in a program, and governed,
// what a program under the preload gets: its call through the preload, Sibyl's choice, told
// nothing, with its governor, on a communicator of each cell's own. The two sides of a performance
// guideline are contenders for different operations on the same problem.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/data.hpp"
#include "bench/learning.hpp"
#include "bench/native_variants.hpp"
#include "bench/operation.hpp"
#include "bench/persistent.hpp"
#include "bench/prediction.hpp"
#include "selection/choose.hpp"

namespace sibyl::bench {

// What a program gets under the preload.
inline constexpr std::string_view governed = "governed";
inline constexpr bool is_simulated = std::string_view(SIBYL_FLAVOUR) == "smpi";

// What is asked to take part: NAME for the usual operation, or OPERATION/NAME.
struct Side {
  Operation operation = Operation::exscan;
  std::string algorithm;  // one of contender_names(operation), or one that predicts
  std::string text;       // as it was asked for, and as it is reported
};
// False when there is no such operation, or it has no such algorithm.
bool read_side(const std::string& text, Operation usual, Side& side);

// One participant.
class Contender {
 public:
  // Collective over MPI_COMM_WORLD.
  explicit Contender(const Side& side);
  ~Contender();
  Contender(const Contender&) = delete;
  Contender& operator=(const Contender&) = delete;

  const std::string& name() const { return text_; }
  Operation operation() const { return operation_; }
  // The call on the data of a cell, ready to be made again and again; refers to `data`. Collective
  // when it is the contender's first.
  std::function<int()> call(Data& data);
  // Says to a contender whose edges are to mislead how long this rank's computation seems.
  void pretend(double seconds);
  // Hears of the computation before each of these calls.
  ComputationObserver& observer() { return bound_ ? *bound_ : deaf_; }
  // Its receive buffers are known before it is called.
  bool receives_early() const { return kind_ == Kind::persistent; }
  // What it is told about the arrivals, where its name says so.
  std::optional<Prediction> prediction() const { return prediction_; }
  // Tells Sibyl when the ranks will arrive, the same on all of them; nothing for other contenders
  // and operations. What that takes is planning that a program would pay for.
  void expect(std::span<const double> arrivals);
  // The ranks' arrivals in its last turn, which rank 0 knows. Collective over MPI_COMM_WORLD.
  // Returns how far each was from a prediction from history, at rank 0; empty where there was none.
  std::vector<double> learn(std::span<const double> arrivals);
  // How far this rank's last arrival was from what its edge foretold; negative where none did.
  double edge_error() const { return bound_ ? bound_->prediction_error() : -1; }
  // What Sibyl has measured; nothing for other contenders.
  Costs costs() const;
  // Before and after its turn: some libraries read at every call which variant is wanted.
  void begin_turn();
  void end_turn();

 private:
  enum class Kind { native, native_variant, sibyl, persistent, loop };

  void force(Data& data);

  Operation operation_;
  std::string name_;  // of the algorithm
  std::string text_;
  Kind kind_ = Kind::sibyl;
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::unique_ptr<NativeChoice> choice_;
  NativeVariant variant_;
  std::optional<Prediction> prediction_;
  bool forced_ = false;
  std::unique_ptr<BoundCall> bound_;  // of a contender in the persistent form, once it was called
  bool piggybacks_ = false;
  bool governed_ = false;
  bool learns_ = false;
  std::unique_ptr<LearntArrivals> learnt_;  // of a contender that learns, once it was called
  ComputationObserver deaf_;
};

// All names that an operation knows: native, native-again, Sibyl's in the order of the table, those
// of the persistent form, loops, and the library's variants as native:NAME.
std::vector<std::string> contender_names(Operation operation);
// Whether a name means the MPI library's own once more.
bool is_control(const std::string& name);
// Whether a name means a forced variant of the MPI library's.
bool is_native_variant(const std::string& name);
// Whether a list NAME,OPERATION/NAME,... has one of the persistent form, which wants a thread.
bool names_persistent_form(const std::string& list);

}  // namespace sibyl::bench
