// Gather of blocks of any sizes, at inner ranks: they put their cube together and send it on; see
// irregular.hpp.
#include "executor/tree/irregular_gather.hpp"

#include <algorithm>

#include "executor/messages.hpp"
#include "executor/program/engines.hpp"
#include "executor/tree/tree_message.hpp"

namespace sibyl {

const OrderedChild* child_of(const OrderedNode& node, Rank place) {
  const auto found =
      std::ranges::find_if(node.children, [&](const OrderedChild& c) { return c.rank == place; });
  return found == node.children.end() ? nullptr : &*found;
}

bool open_message(const char* message, std::size_t bytes, std::span<std::uint32_t> sizes,
                  std::size_t& data_bytes) {
  constexpr std::size_t word = sizeof(std::uint32_t);
  if (bytes < word || !read_sizes(message + bytes - word, bytes - word, true, sizes)) return false;
  data_bytes = 0;
  for (const std::uint32_t size : sizes) data_bytes += in_tree(size);
  return data_bytes + WrittenSizes(sizes).bytes() == bytes;
}

namespace {

class Inner {
  using Opened = IrregularRoom::Opened;

 public:
  Inner(const OrderedNode& node, const IrregularCall& call, IrregularRoom& room)
      : node_(node), call_(call), room_(room), parts_(room.opened) {
    parts_.assign(node.children.size(), {});
  }

  int run() {
    const bool direct = call_.own_bytes() >= call_.direct_from && call_.has_own();
    MPI_Request request = MPI_REQUEST_NULL;
    if (direct) {
      error_.add(post_send(call_.own.base, call_.own.count, call_.own.type.handle, call_.root,
                           call_.tag_base + direct_tag, call_.comm, &request));
    }
    room_.sizes.assign(static_cast<std::size_t>(node_.count), 0);
    room_.sizes[static_cast<std::size_t>(call_.place() - node_.first)] =
        direct ? goes_direct : static_cast<std::uint32_t>(call_.own_bytes());
    for (std::size_t k = 0; k < node_.children.size(); ++k) collect(k);
    std::ranges::sort(parts_, {}, [](const Opened& part) {
      return part.child == nullptr ? no_rank : part.child->first;
    });
    send_on(direct ? 0 : call_.own_bytes());
    if (request != MPI_REQUEST_NULL) {
      error_.add(wait_for(request, call_.comm));
    }
    return error_.code();
  }

 private:
  // The message of whichever child is there first.
  void collect(std::size_t k) {
    Rank from = no_rank;
    std::size_t bytes = 0;
    const int awaited = await_message(call_, MPI_ANY_SOURCE, tree_tag, from, bytes);
    error_.add(awaited);
    if (awaited != MPI_SUCCESS) return;
    const OrderedChild* child = child_of(node_, call_.order.place_of(from));
    // A child's messages have a place of their own, which then needs no more than they do.
    Area& place = child == nullptr
                      ? room_.packed
                      : room_.parts[static_cast<std::size_t>(child - node_.children.data())];
    char* memory = reserved(place, bytes);
    error_.add(receive_bytes(call_, from, tree_tag, bytes, memory));
    Opened part{child, memory, 0};
    if (child == nullptr || !open_message(memory, bytes, sizes_of(*child), part.data_bytes)) {
      error_.add(MPI_ERR_INTERN);
      return;
    }
    parts_[k] = part;
  }

  std::span<std::uint32_t> sizes_of(const OrderedChild& child) {
    return std::span(room_.sizes)
        .subspan(static_cast<std::size_t>(child.first - node_.first),
                 static_cast<std::size_t>(child.count));
  }

  // Calls `take(data, bytes)` for all pieces in the order of places; own data is packed if it has
  // gaps.
  template <class Take>
  void for_each_piece(std::size_t own_bytes, Take take) {
    bool own_taken = own_bytes == 0;
    for (const Opened& part : parts_) {
      if (part.child == nullptr) continue;
      if (!own_taken && part.child->first > call_.place()) {
        take(own_data(own_bytes), own_bytes);
        own_taken = true;
      }
      take(part.data, part.data_bytes);
    }
    if (!own_taken) take(own_data(own_bytes), own_bytes);
  }

  const char* own_data(std::size_t bytes) {
    if (call_.own.type.dense) return call_.own.base;
    char* packed = reserved(room_.packed, bytes);
    error_.add(pack(call_.own.base, call_.own.count, call_.own.type, packed, call_.comm));
    return packed;
  }

  void send_on(std::size_t own_bytes) {
    const WrittenSizes sizes(room_.sizes);
    std::size_t total = own_bytes + sizes.bytes();
    for (const Opened& part : parts_) total += part.data_bytes;
    Area& last = room_.parts[node_.children.size()];
    const Rank parent = call_.order.rank_at(node_.parent);
    if (total <= copied_up_to) {
      char* message = reserved(last, total);
      char* to = message;
      for_each_piece(own_bytes, [&](const char* data, std::size_t bytes) {
        if (bytes != 0) std::memcpy(to, data, bytes);
        to += bytes;
      });
      sizes.write(to, true);
      error_.add(send(message, static_cast<int>(total), MPI_BYTE, parent, call_.tag_base + tree_tag,
                      call_.comm));
      return;
    }
    char* trailer = reserved(last, sizes.bytes());
    sizes.write(trailer, true);
    Pieces pieces(room_);
    for_each_piece(own_bytes, [&](const char* data, std::size_t bytes) {
      pieces.add(data, static_cast<MPI_Count>(bytes), MPI_BYTE);
    });
    pieces.add(trailer, static_cast<MPI_Count>(sizes.bytes()), MPI_BYTE);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const int made = pieces.make_type(type);
    error_.add(made);
    if (made != MPI_SUCCESS) return;
    error_.add(send(MPI_BOTTOM, 1, type, parent, call_.tag_base + tree_tag, call_.comm));
    PMPI_Type_free(&type);
  }

  const OrderedNode& node_;
  const IrregularCall& call_;
  IrregularRoom& room_;
  std::vector<Opened>& parts_;
  FirstError error_;
};

}  // namespace

int gather_irregular(const OrderedNode& node, const IrregularCall& call, IrregularRoom& room) {
  room.make_parts(call.is_root() ? 1 : node.children.size() + 1);
  if (call.is_root()) return gather_at_root(node, call, room);
  return Inner(node, call, room).run();
}

}  // namespace sibyl
