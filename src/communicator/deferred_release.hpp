// Deferred release: what freed persistent requests leave open until the messages of other ranks
// that are still to come have come.
//
// A rank frees a request without asking the others. A root may have served all ranks and freed its
// request while a slow rank has still to send the estimate of its arrival. If tags and communicator
// were given back then, that message could be received by whoever uses them next: an MPI library
// may give a new communicator the context of one that was freed. So may a report or a verdict of a
// request's governor be under way. So the exchange of arrivals, the governor, their
// tags and the private communicator are kept until every rank has sent its last message. Whether
// they have is looked at whenever a request is made or freed, and at MPI_Finalize, which waits a
// little and then cancels.
//
// Thread safety: any thread.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "arrival_service/arrival_exchange.hpp"
#include "base/own_failure.hpp"
#include "communicator/governing.hpp"
#include "communicator/tag_lease.hpp"

namespace sibyl {

class DeferredRelease {
 public:
  struct Entry {
    TagLease tags;
    // Null: there was none. Both end before their tags.
    std::unique_ptr<ArrivalExchange> exchange;
    std::unique_ptr<Governing> governing;
    bool has_left() const {
      const bool all_arrivals =
          exchange == nullptr || guarded([&] { return exchange->left(); }, false);
      return all_arrivals && (governing == nullptr || governing->left());
    }
  };
  // Made with the request, so that nothing is allocated at its end.
  using Entries = std::list<Entry>;

  // Takes over a request's own. A rank that finds no memory for its farewell sends none,
  // and its root keeps its own open until MPI ends.
  void add(Entries& ended) noexcept {
    for (Entry& entry : ended) {
      if (entry.exchange == nullptr) continue;
      guarded([&] { return entry.exchange->leave(), true; }, false);
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    entries_.splice(entries_.end(), ended);
  }
  void sweep() { look(false); }
  // MPI ends: messages that were sent are received, but a rank that has not freed its request is
  // not waited for.
  void end() {
    for (int i = 0; i < 100 && !empty(); ++i) {
      look(false);
      std::this_thread::yield();
    }
    look(true);
  }

 private:
  bool empty() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return entries_.empty();
  }

  // No lock is held over calls into MPI.
  void look(bool end) {
    Entries taken;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      taken.swap(entries_);
    }
    taken.remove_if([&](const Entry& entry) { return end || entry.has_left(); });
    const std::lock_guard<std::mutex> lock(mutex_);
    entries_.splice(entries_.begin(), taken);
  }

  std::mutex mutex_;
  Entries entries_;
};

}  // namespace sibyl
