// Contenders in the persistent form: bound once per cell, started when the computation starts, told
// at its edge how far it is, arrived at and waited for as the operation. What Proficz 2020 calls
// LIN, SLS, BSBN and so on, and their controls, as none:BSLS, the same algorithm with the same
// transfers under way told nothing, and shuffled:BSLS, told other ranks' times; `persistent`,
// Sibyl's own choice of algorithm in this form; and edges:NAME, an algorithm of the table that must
// foresee the arrivals from the edges.
#pragma once

#include <mpi.h>

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
  Prediction told = Prediction::right;  // by its edge; `shuffled`: as if it came when another does
};

// Those of an operation; none where it has no persistent form.
std::span<const PersistentForm> persistent_forms(Operation operation);
// One of those, or edges:NAME; refers to `name`. Nothing when there is none of that name.
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
  double pretended_ = 0;
  double began_ = 0;
  bool started_ = false;
  int error_ = MPI_SUCCESS;
};

}  // namespace sibyl::bench
