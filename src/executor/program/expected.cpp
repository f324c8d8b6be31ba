// Finds expected messages that are there; see expected.hpp.
#include "executor/program/expected.hpp"

#include <sched.h>

#include <algorithm>

namespace sibyl {
namespace {

// One look finds whatever there is, unless it is somebody else's - of another request, of a rank
// that is calls ahead - and hides what is expected. Then up to so many are looked for one by one,
// more of several ranks by one look for all that have the same tag.
constexpr std::size_t few = 4;

// Of one rank's messages only the first is looked for then, since they usually come in that order,
// but now and then all are: a program may need a later one first.
constexpr std::uint32_t looks_for_first = 32;

// Some tenth of a millisecond: who yields sooner loses its turn while the message is on its way.
constexpr std::uint32_t looks_before_yield = 1000;

}  // namespace

void ExpectedMessages::begin(Rank ranks, std::size_t most) {
  messages_.clear();
  messages_.reserve(most);
  silent_tags_.reserve(most);
  silent_in_.assign(static_cast<std::size_t>(ranks), 0);
  look_ = 0;
  fruitless_ = 0;
}

void ExpectedMessages::add(const ExpectedMessage& message) {
  const auto place = std::ranges::upper_bound(messages_, message.key, {}, &ExpectedMessage::key);
  messages_.insert(place, message);
}

ExpectedMessage ExpectedMessages::take_only() {
  const ExpectedMessage only = messages_.front();
  messages_.clear();
  return only;
}

bool ExpectedMessages::take_from(Rank peer) {
  const auto place = std::ranges::find(messages_, peer, &ExpectedMessage::peer);
  if (place == messages_.end()) return false;
  messages_.erase(place);
  return true;
}

void ExpectedMessages::begin_look() {
  ++look_;
  ++fruitless_;
  silent_tags_.clear();
}

int ExpectedMessages::look(MPI_Comm comm, int source, int tag, bool& there, MPI_Status& status) {
  int flag = 0;
  const int error = PMPI_Iprobe(source, tag, comm, &flag, &status);
  there = error == MPI_SUCCESS && flag != 0;
  return error;
}

ExpectedMessages::Place ExpectedMessages::place_of(const MPI_Status& status) {
  return std::ranges::find_if(messages_, [&](const ExpectedMessage& other) {
    return other.peer == status.MPI_SOURCE && other.tag == status.MPI_TAG;
  });
}

bool ExpectedMessages::known_silent(int tag) const {
  return std::ranges::find(silent_tags_, tag) != silent_tags_.end();
}

// Takes it out.
void ExpectedMessages::found(Place place, MPI_Status& status, ExpectedMessage& message,
                             MPI_Count& bytes) {
  PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  message = *place;
  messages_.erase(place);
  fruitless_ = 0;
}

int ExpectedMessages::find(MPI_Comm comm, bool& is_found, ExpectedMessage& message,
                           MPI_Count& bytes) {
  is_found = false;
  if (messages_.size() > 1) {
    MPI_Status status{};
    bool there = false;
    const int error = look(comm, MPI_ANY_SOURCE, MPI_ANY_TAG, there, status);
    if (error != MPI_SUCCESS || !there) return error;
    const Place place = place_of(status);
    if (place != messages_.end()) {
      found(place, status, message, bytes);
      is_found = true;
      return MPI_SUCCESS;
    }
  }
  return find_hidden(comm, is_found, message, bytes);
}

int ExpectedMessages::find_hidden(MPI_Comm comm, bool& is_found, ExpectedMessage& message,
                                  MPI_Count& bytes) {
  const bool look_for_all = fruitless_ % looks_for_first == looks_for_first - 1;
  const bool many = messages_.size() > few && messages_.front().peer != messages_.back().peer;
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    const ExpectedMessage& wanted = messages_[i];
    std::uint32_t& silent = silent_in_[static_cast<std::size_t>(wanted.peer)];
    if (silent == look_ && !look_for_all) continue;
    auto place = messages_.begin() + static_cast<std::ptrdiff_t>(i);
    MPI_Status status{};
    bool there = false;
    int error = MPI_SUCCESS;
    if (many) {
      if (known_silent(wanted.tag)) {
        silent = look_;
        continue;
      }
      error = look(comm, MPI_ANY_SOURCE, wanted.tag, there, status);
      if (error != MPI_SUCCESS) return error;
      if (!there) {
        silent_tags_.push_back(wanted.tag);
        silent = look_;
        continue;
      }
      if (status.MPI_SOURCE != wanted.peer) {
        place = place_of(status);
        // Not expected yet: it hides those that are.
        there = place != messages_.end();
        if (!there) place = messages_.begin() + static_cast<std::ptrdiff_t>(i);
      }
    }
    if (!there) {
      error = look(comm, wanted.peer, wanted.tag, there, status);
      if (error != MPI_SUCCESS) return error;
    }
    if (!there) {
      silent = look_;
      continue;
    }
    found(place, status, message, bytes);
    is_found = true;
    return MPI_SUCCESS;
  }
  return MPI_SUCCESS;
}

bool fits(MPI_Count bytes, MPI_Count count, MPI_Datatype type) {
  MPI_Count size = 1;
  return PMPI_Type_size_x(type, &size) == MPI_SUCCESS && bytes <= count * size;
}

void ExpectedMessages::pause() const {
  if (fruitless_ >= looks_before_yield) sched_yield();
}

}  // namespace sibyl
