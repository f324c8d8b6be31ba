// A persistent collective: bound to its arguments once, then started, reported on, joined and
// waited for again and again (SIBYL_Gather_init, SIBYL_Start, SIBYL_Edge, SIBYL_Arrive,
// SIBYL_Wait).
//
// Each iteration has three stages: computing, from Start on; arrived, from Arrive on; inactive,
// when it is complete. When the transfer begins depends on what serves the call:
//   - A program that does not depend on arrivals is bound to the buffers at Start. Its steps that
//     are gated `on_start` begin there, the others at Arrive.
//   - A program that does is planned when the ranks have made their progress reports and the
//   arrival
//     pattern is known (arrival_service/arrival_exchange.hpp). Where the order matters to the root
//     alone, it plans at its own arrival at the latest, from the reports that have come by then.
//   - The root of a linear gather that may receive from several ranks at a time orders its receives
//     dynamically (arrival/receive_ordering.hpp): it begins at Start, and decides whom to serve
//     next each time that it can serve one more.
//   - The MPI library's nonblocking collective begins at Arrive. It has a communicator of its own,
//     since ranks may arrive at several requests in any order.
// Where the bytes of a buffer in device memory cannot be told from gaps between them, its copy is
// brought as a whole when the rank arrives; nothing is received before.
// An iteration is moved by the progress thread, by Test and Wait of this request, and by Wait of
// any other request. The progress thread leaves a request alone while its rank waits for it. At
// rank 0 it also moves what the governor of an inactive request has to tell the others, who wait
// for it in the next iteration, which this rank may start after they have ended it.
//
// Where all ranks need the arrival pattern and one makes no progress report, no transfer can begin
// before that rank arrives. All ranks see this in the same iteration, and leave the exchange out in
// the next one; if it happens again, in the next two, and so on, up to 1024.
//
// Thread safety: calls for one request one at a time; different requests from any threads.
#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "arrival/receive_ordering.hpp"
#include "collectives/call.hpp"
#include "collectives/persistent/kept_types.hpp"
#include "communicator/deferred_release.hpp"
#include "communicator/governing.hpp"
#include "communicator/tag_lease.hpp"
#include "executor/program/execution.hpp"
#include "executor/window/node_window.hpp"
#include "programs/program_store.hpp"

namespace sibyl {

// What a call of SIBYL_..._init binds, once all ranks have agreed on it.
struct PersistentCall {
  enum class ServedBy : std::uint8_t {
    library,  // its nonblocking collective
    program,  // of `algorithm`
    nobody,   // there is nothing to move
  };
  // Who moves an iteration while its rank computes. On all ranks alike.
  enum class Progress : std::uint8_t {
    calls,              // nobody but the calls for this request
    thread,             // the progress thread
    thread_from_start,  // and what can be gated `on_start` begins before the rank arrives
  };
  Collective collective = Collective::gather;
  ServedBy served_by = ServedBy::library;
  const Algorithm* algorithm = nullptr;
  Progress progress = Progress::calls;
  bool by_arrival = false;        // in the order of arrival, or planned for arrival times
  std::uint32_t outstanding = 1;  // transfers of a linear root under way, at least one
  // What takes turns with `algorithm`, where the governor is to find out which is faster, and the
  // transfers that its root has under way; nullptr: nothing.
  const Algorithm* challenger = nullptr;
  std::uint32_t outstanding_of_challenger = 1;
  int root = 0;
  bool in_place = false;
  SegmentPlan cut;
  std::uint64_t elements = 1;  // of a vector
  std::uint64_t bytes = 0;     // of a block or vector
  CollectiveCall call;
  // Copies of the root's arrays, which are read as long as the request lives.
  std::vector<MPI_Count> counts;
  std::vector<MPI_Aint> displacements;
  IrregularBlocks blocks;
  KeptTypes types;
  // Of buffers in device memory; null where there are none.
  std::unique_ptr<HostCopies> host_copies;
  std::function<int(MPI_Comm, MPI_Request*)> native;

  // This rank's node, where its messages are to go by a window of the request's own, and what that
  // may take; the same on all ranks of the node.
  std::vector<Rank> node;
  std::size_t window_bytes = 0;
  bool crowded = false;  // that node

  // Of these the last ones are the exchange's of arrivals and the governor's.
  static constexpr int tags_besides = ArrivalExchange::tags + Governing::tags;
  TagLease tags;  // of no communicator where the library serves all of the user's
  CommonClock clock;
};

class PersistentRequest final : public PersistentWork {
 public:
  PersistentRequest(CommunicatorState& state, PersistentCall call);
  ~PersistentRequest();
  PersistentRequest(const PersistentRequest&) = delete;
  PersistentRequest& operator=(const PersistentRequest&) = delete;

  // A communicator for the library's collectives of this request. Collective over `comm`, or the
  // private one.
  int open_native(CommunicatorState& state, MPI_Comm comm);
  // The window for messages within the node, once all ranks have this request. Requests do not
  // share one: each is moved by whatever thread waits for it, while others and calls that block are
  // under way. Collective over the node.
  void open_window();

  // What an iteration needs, but for a program by arrivals that needs more, and for lists of
  // messages by a window: a rank that lacked it at Start would leave the others waiting. May throw
  // std::bad_alloc.
  int reserve();
  // Before it is destroyed where another rank has no such request: nobody waits for its farewell.
  void refuse() {
    if (exchange_ != nullptr) exchange_->close();
  }

  // The bodies of the API: each returns an error code that has been raised.
  int start() {
    return held([this] { return begin_iteration(); });
  }
  int edge(double fraction) {
    return held([&] { return predict(fraction); });
  }
  int arrive() {
    return held([this] { return join(); });
  }
  int test(int* flag) {
    return held([&] { return look(flag); });
  }
  int wait();
  // MPI_SUCCESS when the request may be freed.
  int check_free() {
    return held([this] { return stage_ == Stage::inactive ? MPI_SUCCESS : MPI_ERR_REQUEST; });
  }

  Outcome progress() noexcept override;
  std::chrono::steady_clock::time_point expected() const noexcept override;
  void end() noexcept override;
  void revoke(MPI_Comm comm) noexcept override;

  // For tests and tools: what was predicted for the last iteration, against what came.
  double last_prediction_error() const { return prediction_error_; }
  // This rank's own prediction, in seconds of the monotonic clock, and what is known of all ranks'
  // (not exchanged: nullptr).
  double last_prediction() const { return predicted_; }
  const ArrivalExchange* exchange() const { return exchange_.get(); }
  bool last_in_order_of_arrival() const { return ordered_; }
  // The order of the ranks that the last iteration followed: that in which a root served the
  // others, or of all where each rank has its program by it; empty: none was known.
  std::vector<Rank> last_order() const;
  const Algorithm* algorithm() const { return bound_.algorithm; }
  std::uint32_t segments() const { return bound_.cut.segments; }
  // nullptr: its algorithm is not questioned.
  Governing* governing() { return governing_.get(); }
  const NodeWindow* window() const { return window_.get(); }

 private:
  enum class Stage : std::uint8_t { inactive, computing, arrived };
  using Clock = std::chrono::steady_clock;

  bool native() const { return bound_.served_by == PersistentCall::ServedBy::library; }
  bool runs_program() const { return bound_.served_by == PersistentCall::ServedBy::program; }
  bool in_background() const {
    return bound_.progress == PersistentCall::Progress::thread_from_start;
  }
  // Those of this iteration.
  const Algorithm& serving() const {
    return *(governed_.arm == Arm::challenger ? bound_.challenger : bound_.algorithm);
  }
  std::uint32_t outstanding() const {
    return governed_.arm == Arm::challenger ? bound_.outstanding_of_challenger : bound_.outstanding;
  }
  bool everyone() const;
  bool exchanges() const;
  bool takes_turns() const;
  bool ended() const;
  double seconds() const;
  // What `act` returns is raised when the request is held no more, and it is not touched after
  // that: the program's error handler may jump, call for the request, or free it.
  template <class Act>
  int held(Act act) {
    int error_class = MPI_SUCCESS;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      error_class = guarded(act, MPI_ERR_NO_MEM);
      if (error_class == MPI_SUCCESS || gone_) return error_class;
    }
    return link_->alive ? raise(link_->comm, error_class) : raise_nowhere(error_class);
  }
  // The calls above, with the request held; each returns an error class that is not raised yet.
  int begin_iteration();
  int predict(double fraction);
  int join();
  int look(int* flag);
  int finish();
  void note(int error) {
    if (error_ == MPI_SUCCESS) error_ = error;
  }
  ProgramSpec spec_for(const ArrivalView* view) const;
  const Prepared& find_program(const SharedView& view);
  bool begins_late() const;
  void begin_program(bool with_arrivals);
  void govern(std::uint64_t communicator);
  void report_governed();
  // The end of an iteration that is governed is waited or tested for.
  void ask() {
    if (governing_ != nullptr && stage_ == Stage::arrived && asked_ == 0) asked_ = seconds();
  }
  bool advance();
  void exchange_ended();
  void serve();
  bool owes_verdicts() const { return governing_ != nullptr && governing_->owes_verdicts(); }
  bool has_background() const;
  void to_thread();
  void foresee();
  int complete();
  void release();

  std::mutex mutex_;
  CommunicatorState* state_;  // to be used by link_->while_alive
  Process* process_;
  std::shared_ptr<CommunicatorLink> link_;
  ProgressThread* thread_ = nullptr;
  PersistentCall bound_;
  int rank_ = 0;
  int ranks_ = 1;

  Stage stage_ = Stage::inactive;
  bool gone_ = false;  // MPI has ended
  std::int64_t iteration_ = 0;
  double started_ = 0;
  double arrived_ = 0;
  double predicted_ = 0;
  double prediction_error_ = 0;
  int error_ = MPI_SUCCESS;
  int brought_ = MPI_SUCCESS;  // what became of the copies that the device's memory gave

  // What stays open after this request, so that its end needs no memory.
  DeferredRelease::Entries farewell_{1};
  std::unique_ptr<ArrivalExchange> exchange_;  // where arrivals are exchanged at all
  bool exchanging_ = false;                    // in this iteration
  bool depends_ = false;                       // its program does, on what is exchanged
  std::int64_t resume_ = 1;                    // the iteration in which to exchange again
  std::int64_t pause_ = 1;                     // how many to leave out next time

  std::optional<ReceiveOrdering> queue_;  // of a root that decides turn by turn

  // Which program is faster, where there are two. What an iteration costs is the time that this
  // rank spends in its calls, of tests the time from the first one on.
  std::unique_ptr<Governing> governing_;
  Governor::Key site_;
  Governor::Call governed_;  // this iteration
  double in_calls_ = 0;
  double asked_ = 0;  // since when this rank waits for the end, or tests for it; 0: not yet

  std::unique_ptr<NodeWindow> window_;
  Workspace workspace_;
  ProgramStore programs_;
  bool ordered_ = false;  // the program of this iteration follows what is known of arrivals
  SharedView followed_;   // what it was made for
  // Before this time of the monotonic clock, in seconds, nothing moves if the ranks arrive when
  // they are expected; 0: something may come at any time.
  std::atomic<double> expected_ = 0;
  Execution execution_;
  // On which the library serves this request; freed with it.
  std::atomic<MPI_Comm> native_comm_ = MPI_COMM_NULL;
  MPI_Request native_request_ = MPI_REQUEST_NULL;
};

}  // namespace sibyl
