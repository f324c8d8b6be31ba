// Deferred release: what freed persistent requests leave open until the messages of other ranks
// that are still to come have come.
//
// A rank frees a request without asking the others. A root may have served all ranks and freed its
// request while a slow rank has still to send the estimate of its arrival. If tags and communicator
// were given back then, that message could be received by whoever uses them next: an MPI library
// may give a new communicator the context of one that was freed. So the exchange of arrivals, its
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
#include "communicator/tag_lease.hpp"

namespace sibyl {

class DeferredRelease {
 public:
  struct Entry {
    TagLease tags;
    std::unique_ptr<ArrivalExchange> exchange;  // null: there was none; ends before its tags
    bool has_left() const {
      return exchange == nullptr || guarded([&] { return exchange->left(); }, false);
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
