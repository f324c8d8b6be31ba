// Contenders in the persistent form: bound once per cell, started when the computation starts, told
// at its edge how far it is, arrived at and waited for as the operation. What Proficz 2020 calls
// LIN, SLS, BSBN and so on; `persistent`, Sibyl's own choice of algorithm in this form;
// `persistent-governed`, the same with its governor, as a program has it; and edges:NAME, an
// algorithm of the table that must foresee the arrivals from the edges.
//
// Their controls do all else alike: shuffled:BSLS is told other ranks' times, and none:BSLS, at one
// time for all ranks, that all come at once, which is to be told nothing.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "bench/data.hpp"
#include "bench/emulation.hpp"
#include "bench/operation.hpp"
#include "bench/prediction.hpp"
#include "sibyl/sibyl.h"

namespace sibyl::bench {

struct PersistentForm {
  std::string_view name;
  std::string_view algorithm;  // of the info key
  bool by_arrival = true;      // in the order that the edges foretell
  bool background = true;
  // Transfers of the root under way, 0: all, whatever SIBYL_OUTSTANDING says. Published is one.
  std::optional<std::uint32_t> outstanding = std::nullopt;
  // By its edge; `shuffled`: as if it came when another does; `flat`: as if nobody were late.
  Prediction told = Prediction::right;
  bool governed = false;
};

// Those of an operation; none where it has no persistent form.
std::span<const PersistentForm> persistent_forms(Operation operation);
// One of those, NAME@K, which has K transfers under way (0: all), one's control, or edges:NAME;
// refers to `name`. Nothing when there is none of that name.
std::optional<PersistentForm> find_persistent_form(Operation operation, std::string_view name);

// A request on the data of a cell. It hears of the computation; without one it is started as it is
// called.
class BoundCall final : public ComputationObserver {
 public:
  // Collective over `comm`, which no other contender uses; refers to `data`.
  BoundCall(const PersistentForm& form, Data& data, MPI_Comm comm);
  ~BoundCall() override;
  BoundCall(const BoundCall&) = delete;
  BoundCall& operator=(const BoundCall&) = delete;

  // How long the computation is to seem at its edge, where the edge does not tell the truth.
  void pretend(double seconds) { pretended_ = seconds; }
  // Half of a computation that seems shorter than it is, or as long as all others', is over
  // earlier: when a rank speaks tells when it comes, too.
  double edge_of(double seconds) const override {
    return (told_ == Prediction::right ? seconds : std::min(seconds, pretended_)) / 2;
  }
  void started() override;
  void reached(double fraction) override;
  // Arrives and waits; the first error of the iteration.
  int call();
  // How far this rank's last arrival was from what its edge foretold, in seconds; negative in a
  // form that does not look at it.
  double prediction_error() const;

 private:
  void note(int error) {
    if (error_ == MPI_SUCCESS) error_ = error;
  }

  SIBYL_Request request_ = SIBYL_REQUEST_NULL;
  bool predicts_ = false;
  Prediction told_ = Prediction::right;
  double pretended_ = 0;
  double began_ = 0;
  bool started_ = false;
  int error_ = MPI_SUCCESS;
};

}  // namespace sibyl::bench
