// Gather of blocks of any sizes, at inner ranks: they put their cube together and send it on; see
// irregular.hpp.
#include "executor/tree/irregular_gather.hpp"

#include <algorithm>
#include <array>

#include "executor/tree/tree_mail.hpp"
#include "planners/gather_parts.hpp"

namespace sibyl {

std::size_t child_of(const OrderedNode& node, Rank place) {
  const auto found =
      std::ranges::find_if(node.children, [&](const OrderedChild& c) { return c.rank == place; });
  return static_cast<std::size_t>(found - node.children.begin());
}

std::size_t trailer_bytes(const WrittenSizes& sizes) { return sizes.bytes() + cube_bytes; }

void write_trailer(const WrittenSizes& sizes, const JoinOrder::Cube& cube, char* to) {
  sizes.write(to, true);
  to = store_u32(to + sizes.bytes(), static_cast<std::uint32_t>(cube.first));
  store_u32(to, static_cast<std::uint32_t>(cube.size()));
}

void write_announcement(const JoinOrder::Cube& cube, char* to) {
  to = store_u32(to, static_cast<std::uint32_t>(cube.size()));
  to = store_u32(to, static_cast<std::uint32_t>(cube.first));
  store_u32(to, 0);
}

JoinOrder::Cube announced(const char* message, std::size_t bytes) {
  constexpr std::size_t word = sizeof(std::uint32_t);
  if (bytes != announcement_bytes || load_u32(message + 2 * word) != 0) return {};
  const auto first = static_cast<Rank>(load_u32(message + word));
  return {first, first + static_cast<Rank>(load_u32(message))};
}

bool open_message(const char* message, std::size_t bytes, const OrderedChild& child,
                  std::span<std::uint32_t> sizes, IrregularRoom::Opened& opened) {
  constexpr std::size_t word = sizeof(std::uint32_t);
  if (bytes < word + cube_bytes) return false;
  const char* at = message + bytes - cube_bytes;
  const auto first = static_cast<Rank>(load_u32(at));
  const auto count = static_cast<Rank>(load_u32(at + word));
  if (first < child.first || count < 1 || first - child.first > child.count - count) return false;
  sizes =
      sizes.subspan(static_cast<std::size_t>(first - child.first), static_cast<std::size_t>(count));
  const std::size_t before_word = bytes - cube_bytes - word;
  if (!read_sizes(message + before_word, before_word, true, sizes)) return false;
  opened.cube = {first, first + count};
  opened.data = message;
  opened.bytes = bytes;
  opened.data_bytes = 0;
  for (const std::uint32_t size : sizes) opened.data_bytes += in_tree(size);
  return opened.data_bytes + trailer_bytes(WrittenSizes(sizes)) == bytes;
}

namespace {

class Inner {
  using Opened = IrregularRoom::Opened;
  using Cube = JoinOrder::Cube;

 public:
  Inner(const OrderedNode& node, const IrregularCall& call, IrregularRoom& room)
      : node_(node), call_(call), room_(room), mail_(call, room, error_), opened_(room.opened) {
    opened_.clear();
    room_.missing.clear();
    for (const OrderedChild& child : node_.children) room_.missing.push_back(child.count);
  }

  int run() {
    const bool direct = call_.own_bytes() >= call_.direct_from && call_.has_own();
    own_bytes_ = direct ? 0 : call_.own_bytes();
    if (direct) mail_.post_block(call_.own.base, call_.own.count, call_.own.type, call_.root);
    room_.sizes.assign(static_cast<std::size_t>(node_.count), 0);
    size_at(call_.place()) = direct ? goes_direct : static_cast<std::uint32_t>(own_bytes_);
    const std::size_t all = node_.children.size();
    const std::size_t first =
        children_before_parts(node_, {call_.direct_from, JoinOrder(call_.order).within()});
    await_children(0, first);
    if (first < all) begin_passing(first);
    await_children(first, all);
    if (!passing_) send_held(opened_, {node_.first, node_.first + node_.count});
    mail_.finish();
    room_.make_parts(parts_used_);
    return error_.code();
  }

 private:
  std::uint32_t& size_at(Rank place) {
    return room_.sizes[static_cast<std::size_t>(place - node_.first)];
  }
  std::span<std::uint32_t> sizes_of(const Cube& cube) {
    return std::span(room_.sizes)
        .subspan(static_cast<std::size_t>(cube.first - node_.first),
                 static_cast<std::size_t>(cube.size()));
  }

  void await_children(std::size_t from, std::size_t end) {
    const auto awaited = std::span(room_.missing).subspan(from, end - from);
    while (failures_ < node_.children.size() &&
           std::ranges::any_of(awaited, [](Rank missing) { return missing > 0; })) {
      if (!collect()) ++failures_;
    }
  }

  bool may_come_by_mpi() const {
    return std::ranges::any_of(node_.children, [&](const OrderedChild& child) {
      return !mail_.goes_by_window(call_.order.rank_at(child.rank));
    });
  }

  // The message of whichever child is there first.
  bool collect() {
    Rank from = no_rank;
    std::size_t bytes = 0;
    const int awaited = mail_.await(tree_tag, may_come_by_mpi(), from, bytes);
    error_.add(awaited);
    if (awaited != MPI_SUCCESS) return false;
    const std::size_t child = child_of(node_, call_.order.place_of(from));
    char* memory = reserved(place_for(child), bytes);
    const int taken = mail_.take(from, tree_tag, bytes, memory);
    error_.add(taken);
    if (taken != MPI_SUCCESS) return false;
    if (child == node_.children.size()) {
      error_.add(MPI_ERR_INTERN);
      return false;
    }
    if (!announced(memory, bytes).empty()) return true;  // so is what this rank sends
    Opened opened;
    opened.child = child;
    const OrderedChild& sender = node_.children[child];
    if (!open_message(memory, bytes, sender, sizes_of({sender.first, sender.first + sender.count}),
                      opened)) {
      error_.add(MPI_ERR_INTERN);
      return false;
    }
    room_.missing[child] -= opened.cube.size();
    if (passing_) {
      pass_on(opened);
    } else {
      opened_.push_back(opened);
    }
    return true;
  }

  // A child's first message has a place of its own, which then needs no more from call to call;
  // behind those is that of the message which this rank puts together.
  Area& place_for(std::size_t child) {
    if (child == node_.children.size()) return room_.packed;
    if (room_.missing[child] == node_.children[child].count) return room_.part(child);
    return room_.part(parts_used_++);
  }

  // Sends what the first children and this rank have, and then what has come of the others.
  void begin_passing(std::size_t first) {
    passing_ = true;
    const auto later =
        std::ranges::partition(opened_, [&](const Opened& part) { return part.child < first; });
    send_held({opened_.begin(), later.begin()}, cube_of_first(node_, call_.place(), first));
    for (const Opened& part : later) pass_on(part);
  }

  void pass_on(const Opened& part) {
    announce(part.cube, part.bytes);
    mail_.post_bytes(part.data, part.bytes, parent(), tree_tag);
  }

  // A long one of several, so that the root can take it straight into its buffer.
  void announce(const Cube& cube, std::size_t bytes) {
    if (bytes <= copied_up_to) return;
    std::array<char, announcement_bytes> message{};
    write_announcement(cube, message.data());
    mail_.send_bytes(message.data(), announcement_bytes, parent(), tree_tag);
  }

  // The node's window has them copied anyway.
  bool is_copied(std::size_t bytes) const {
    return bytes <= copied_up_to || mail_.goes_by_window(parent());
  }

  std::size_t bytes_of(std::span<const Opened> held, const WrittenSizes& sizes) const {
    std::size_t total = own_bytes_ + trailer_bytes(sizes);
    for (const Opened& part : held) total += part.data_bytes;
    return total;
  }

  // Calls `take(data, bytes)` for all pieces in the order of places; own data is packed if it has
  // gaps.
  template <class Take>
  void for_each_piece(std::span<Opened> held, Take take) {
    std::ranges::sort(held, {}, [](const Opened& part) { return part.cube.first; });
    bool own_taken = own_bytes_ == 0;
    for (const Opened& part : held) {
      if (!own_taken && part.cube.first > call_.place()) {
        take(own_data(), own_bytes_);
        own_taken = true;
      }
      take(part.data, part.data_bytes);
    }
    if (!own_taken) take(own_data(), own_bytes_);
  }

  const char* own_data() {
    if (call_.own.type.dense) return call_.own.base;
    char* packed = reserved(room_.packed, own_bytes_);
    error_.add(pack(call_.own.base, call_.own.count, call_.own.type, packed, call_.comm));
    return packed;
  }

  // Sends the blocks of a cube as one message.
  void send_held(std::span<Opened> held, const Cube& cube) {
    const WrittenSizes sizes(sizes_of(cube));
    const std::size_t end_bytes = trailer_bytes(sizes);
    const std::size_t total = bytes_of(held, sizes);
    Area& place = room_.part(node_.children.size());
    if (passing_) announce(cube, total);
    if (is_copied(total)) {
      char* const message = reserved(place, total);
      char* to = message;
      for_each_piece(held, [&](const char* data, std::size_t bytes) {
        if (bytes != 0) std::memcpy(to, data, bytes);
        to += bytes;
      });
      write_trailer(sizes, cube, to);
      if (passing_) {
        mail_.post_bytes(message, total, parent(), tree_tag);
      } else {
        mail_.send_bytes(message, total, parent(), tree_tag);
      }
      return;
    }
    char* trailer = reserved(place, end_bytes);
    write_trailer(sizes, cube, trailer);
    Pieces pieces(room_);
    for_each_piece(held, [&](const char* data, std::size_t bytes) {
      pieces.add(data, static_cast<MPI_Count>(bytes), MPI_BYTE);
    });
    pieces.add(trailer, static_cast<MPI_Count>(end_bytes), MPI_BYTE);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const int made = pieces.make_type(type);
    error_.add(made);
    if (made != MPI_SUCCESS) return;
    if (passing_) {
      mail_.post(MPI_BOTTOM, 1, type, parent(), tree_tag);
    } else {
      mail_.send(MPI_BOTTOM, 1, type, parent(), tree_tag);
    }
    PMPI_Type_free(&type);  // it lives until the message is gone
  }

  Rank parent() const { return call_.order.rank_at(node_.parent); }

  const OrderedNode& node_;
  const IrregularCall& call_;
  IrregularRoom& room_;
  FirstError error_;
  TreeMail mail_;
  std::vector<Opened>& opened_;  // held until they are sent
  std::size_t own_bytes_ = 0;    // along the tree
  std::size_t parts_used_ = node_.children.size() + 1;
  std::size_t failures_ = 0;
  bool passing_ = false;  // messages go on as they come
};

}  // namespace

int gather_irregular(const OrderedNode& node, const IrregularCall& call, IrregularRoom& room) {
  if (call.is_root()) {
    room.make_parts(1);
    return gather_at_root(node, call, room);
  }
  return Inner(node, call, room).run();
}

}  // namespace sibyl
