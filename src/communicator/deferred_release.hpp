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

#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "arrival_service/arrival_exchange.hpp"
#include "communicator/private_communicator.hpp"

namespace sibyl {

class DeferredRelease {
 public:
  struct Entry {
    std::unique_ptr<ArrivalExchange> exchange;  // null: there was none
    std::shared_ptr<PrivateCommunicator> home;
    int first_block = 0;
    int blocks = 0;
    void end() {
      if (exchange != nullptr) exchange->close();
      home->tags.give_back(first_block, blocks);
      home.reset();
    }
  };

  void add(Entry entry) {
    if (entry.exchange != nullptr) entry.exchange->leave();
    const std::lock_guard<std::mutex> lock(mutex_);
    entries_.push_back(std::move(entry));
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
    std::vector<Entry> taken;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      taken.swap(entries_);
    }
    std::vector<Entry> kept;
    for (Entry& entry : taken) {
      if (end || entry.exchange == nullptr || entry.exchange->left()) {
        entry.end();
      } else {
        kept.push_back(std::move(entry));
      }
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    for (Entry& entry : kept) entries_.push_back(std::move(entry));
  }

  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace sibyl
