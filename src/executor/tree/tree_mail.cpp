// Sends and takes the messages of a tree; see tree_mail.hpp.
#include "executor/tree/tree_mail.hpp"

#include <algorithm>
#include <cstring>

#include "executor/messages.hpp"
#include "executor/program/window_messages.hpp"
#include "executor/tree/tree_message.hpp"

namespace sibyl {
namespace {

DatatypeInfo plain_bytes() {
  return {.handle = MPI_BYTE, .named = true, .size = 1, .extent = 1, .true_extent = 1};
}

}  // namespace

TreeMail::TreeMail(const IrregularCall& call, IrregularRoom& room, FirstError& error)
    : call_(call), room_(room), error_(error), window_(call.window) {
  room_.requests.clear();
  room_.in_window.clear();
  room_.incoming.clear();
  room_.expected_in_window = 0;
  if (window_ != nullptr) window_->begin(2 * static_cast<std::size_t>(call.ranks));
}

std::size_t TreeMail::post(const void* data, MPI_Count count, MPI_Datatype type, Rank to, int tag) {
  MPI_Request& request = room_.requests.emplace_back(MPI_REQUEST_NULL);
  error_.add(post_send(data, count, type, to, tag_of(tag), call_.comm, &request));
  posted_by_mpi_ = true;
  return room_.requests.size() - 1;
}

std::size_t TreeMail::post_in_window(WindowSend message) {
  const std::size_t number = room_.requests.size();
  room_.requests.push_back(MPI_REQUEST_NULL);
  room_.in_window.resize(number + 1);
  message.key = static_cast<std::uint32_t>(number);
  room_.in_window[number] = 1;
  if (window_->send(message)) room_.in_window[number] = 0;
  return number;
}

std::size_t TreeMail::post_bytes(const char* data, std::size_t bytes, Rank to, int tag) {
  if (!goes_by_window(to)) return post(data, static_cast<MPI_Count>(bytes), MPI_BYTE, to, tag);
  WindowSend message{.peer = to, .tag = tag_of(tag)};
  message.data = data;
  message.bytes = bytes;
  return post_in_window(message);
}

void TreeMail::post_block(const char* data, MPI_Count count, const DatatypeInfo& type, Rank to) {
  bool by_mpi = true;
  if (goes_by_window(to)) {
    WindowSend message{.peer = to, .tag = tag_of(direct_tag)};
    message.data = data;
    message.bytes = static_cast<std::size_t>(count) * type.size;
    by_mpi = !type.dense || message.bytes > most_in_window;
    message.by_mpi = by_mpi;
    post_in_window(message);
  }
  if (by_mpi) post(data, count, type.handle, to, direct_tag);
}

void TreeMail::send(const void* data, int count, MPI_Datatype type, Rank to, int tag) {
  if (window_ != nullptr) {  // whose messages have to move meanwhile
    wait(post(data, count, type, to, tag));
  } else {
    error_.add(sibyl::send(data, count, type, to, tag_of(tag), call_.comm));
  }
}

void TreeMail::send_bytes(const char* data, std::size_t bytes, Rank to, int tag) {
  if (goes_by_window(to)) {
    wait(post_bytes(data, bytes, to, tag));
  } else {
    send(data, static_cast<int>(bytes), MPI_BYTE, to, tag);
  }
}

void TreeMail::wait(std::size_t message) {
  while (message < room_.in_window.size() && room_.in_window[message] != 0) {
    if (!move(false)) return;
  }
  if (room_.requests[message] != MPI_REQUEST_NULL) wait_for_mpi(room_.requests[message]);
}

// Who waits for what is held up may be there, and who is waited for by MPI late. `ask` says whether
// MPI need not be waited for any more, and returns its error code.
template <class Ask>
void TreeMail::move_held_up_until(Ask ask) {
  int there = 0;
  while (there == 0 && window_ != nullptr && window_->held_up() != 0) {
    const int error = ask(there);
    error_.add(error);
    if (error != MPI_SUCCESS || (there == 0 && !move(true))) return;
  }
}

void TreeMail::wait_for_mpi(MPI_Request& request) {
  move_held_up_until([&](int& done) { return PMPI_Test(&request, &done, MPI_STATUS_IGNORE); });
  error_.add(wait_for(request, call_.comm));
}

void TreeMail::finish() {
  for (std::size_t i = 0; i < room_.requests.size(); ++i) wait(i);
}

int TreeMail::await(int tag, bool by_mpi, Rank& from, std::size_t& bytes) {
  if (window_ == nullptr) return await_message(call_, MPI_ANY_SOURCE, tag, from, bytes);
  bool there = false;
  int error = MPI_SUCCESS;
  while (!there && error == MPI_SUCCESS) error = look(tag, by_mpi, there, from, bytes);
  return error;
}

int TreeMail::look(int tag, bool by_mpi, bool& there, Rank& from, std::size_t& bytes) {
  if (window_ == nullptr) return look_for_message(call_, tag, there, from, bytes);
  there = window_->find(tag_of(tag), from, bytes);
  if (there) return MPI_SUCCESS;
  if (window_->is_broken()) return give_up();
  if (window_->progress(*this)) return MPI_SUCCESS;
  const bool asks_mpi = by_mpi || posted_by_mpi_;
  if (asks_mpi) {
    const int error = look_for_message(call_, tag, there, from, bytes);
    if (there || error != MPI_SUCCESS) return error;
  }
  return window_->pause(asks_mpi);
}

int TreeMail::take(Rank from, int tag, std::size_t bytes, char* to) {
  if (!goes_by_window(from)) return receive_bytes(call_, from, tag, bytes, to);
  add_incoming({from, to, static_cast<MPI_Count>(bytes), plain_bytes()}, tag);
  return await_last_incoming();
}

int TreeMail::take_spread(Rank from, std::size_t bytes) {
  add_incoming({.from = from,
                .count = static_cast<MPI_Count>(bytes),
                .type = plain_bytes(),
                .is_spread = true},
               tree_tag);
  return await_last_incoming();
}

// Elements with gaps are wanted in one piece, to be taken apart.
std::uint32_t TreeMail::add_incoming(const Incoming& message, int tag) {
  const auto key = static_cast<std::uint32_t>(room_.incoming.size());
  room_.incoming.push_back(message);
  window_->receive({message.from, tag_of(tag), key, !message.type.dense});
  return key;
}

// It is taken out again; MPI_ERR_PENDING where the window says that it comes by MPI.
int TreeMail::await_last_incoming() {
  const std::size_t key = room_.incoming.size() - 1;
  bool moves = true;
  while (moves && room_.incoming[key].state == Incoming::awaited) moves = move(false);
  const bool by_mpi = room_.incoming[key].state == Incoming::by_mpi;
  room_.incoming.pop_back();
  if (!moves) return MPI_ERR_OTHER;
  return by_mpi ? MPI_ERR_PENDING : MPI_SUCCESS;
}

// Not posted: it may be too long, and what a request says of that MPICH raises elsewhere.
void TreeMail::receive_block(Rank from, char* to, MPI_Count count, const DatatypeInfo& type) {
  const int tag = tag_of(direct_tag);
  move_held_up_until(
      [&](int& there) { return PMPI_Iprobe(from, tag, call_.comm, &there, MPI_STATUS_IGNORE); });
  error_.add(receive(to, count, type.handle, from, tag, call_.comm));
}

void TreeMail::finish_blocks() {
  while (expects_blocks()) {
    if (const Incoming* const named = next_named_block(); named != nullptr) {
      receive_block(named->from, named->to, named->count, named->type);
    } else if (!move(false)) {
      return;
    }
  }
}

void TreeMail::forget_block(Rank from) {
  if (goes_by_window(from)) {
    add_incoming({.from = from, .type = plain_bytes(), .is_forgotten = true}, direct_tag);
    if (await_last_incoming() != MPI_ERR_PENDING) return;
  }
  receive_and_forget(call_, from, room_);
}

void TreeMail::expect_block(Rank from, char* to, MPI_Count count, const DatatypeInfo& type) {
  add_incoming({.from = from, .to = to, .count = count, .type = type, .is_expected = true},
               direct_tag);
  ++room_.expected_in_window;
}

void TreeMail::withdraw_block(Rank from) {
  if (window_->withdraw(from, tag_of(direct_tag))) --room_.expected_in_window;
}

Rank TreeMail::next_block_by_mpi() {
  const Incoming* const named = next_named_block();
  return named == nullptr ? no_rank : named->from;
}

const TreeMail::Incoming* TreeMail::next_named_block() {
  if (room_.expected_in_window == 0) return nullptr;
  for (Incoming& message : room_.incoming) {
    if (!message.is_expected || message.state != Incoming::by_mpi) continue;
    message.state = Incoming::here;
    --room_.expected_in_window;
    return &message;
  }
  return nullptr;
}

void TreeMail::window_brings(const WindowPiece& piece) {
  Incoming& message = room_.incoming[piece.key];
  const std::size_t room = static_cast<std::size_t>(message.count) * message.type.size;
  if (piece.total > room) {
    if (piece.is_last() && !message.is_forgotten) error_.add(MPI_ERR_TRUNCATE);
  } else if (message.is_spread) {
    spread(piece);
  } else if (piece.bytes != 0 && message.type.dense) {
    std::memcpy(message.to + piece.begin, piece.data, piece.bytes);
  } else if (piece.bytes != 0) {
    error_.add(unpack(piece.data, message.to,
                      static_cast<MPI_Count>(piece.bytes / message.type.size), message.type,
                      call_.comm));
  }
  if (!piece.is_last()) return;
  message.state = Incoming::here;
  if (message.is_expected) --room_.expected_in_window;
}

void TreeMail::spread(const WindowPiece& piece) {
  const char* from = piece.data;
  const char* const end = from + piece.bytes;
  std::size_t skipped = piece.begin;
  for (const std::span<char> place : room_.spread) {
    if (from == end) return;
    if (skipped >= place.size()) {
      skipped -= place.size();
      continue;
    }
    const std::size_t now = std::min(place.size() - skipped, static_cast<std::size_t>(end - from));
    std::memcpy(place.data() + skipped, from, now);
    from += now;
    skipped = 0;
  }
}

bool TreeMail::move(bool tests_mpi) {
  int error = MPI_SUCCESS;
  if (window_->is_broken()) {
    error = give_up();
  } else if (!window_->progress(*this)) {
    if (posted_by_mpi_) {
      int there = 0;
      error = PMPI_Iprobe(MPI_ANY_SOURCE, tag_of(tree_tag), call_.comm, &there, MPI_STATUS_IGNORE);
    }
    if (error == MPI_SUCCESS) error = window_->pause(tests_mpi || posted_by_mpi_);
  }
  error_.add(error);
  if (error == MPI_SUCCESS) return true;
  give_up();
  return false;
}

// Nothing that goes by the window comes to its end any more.
int TreeMail::give_up() {
  window_->abandon();
  room_.in_window.assign(room_.in_window.size(), 0);
  room_.expected_in_window = 0;
  return MPI_ERR_OTHER;
}

}  // namespace sibyl
