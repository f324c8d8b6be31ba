// Scatter of blocks of any sizes: the root works the tree out, whoever receives a cube's message
// finds the tree of that cube in it; see irregular.hpp. So the root is free to cut the ranks into
// cubes as it likes: those of the ordered tree, one for each node, or one for each rank.
#include <algorithm>

#include "executor/messages.hpp"
#include "executor/tree/tree_mail.hpp"
#include "executor/tree/tree_message.hpp"

namespace sibyl {
namespace {

// The head of a message: first place, marked if later calls are linear, and number of ranks of its
// cube, then the sizes.
constexpr std::size_t place_bytes = 2 * sizeof(std::uint32_t);
constexpr std::uint32_t linear_mark = 1U << 31;

// From this many bytes a rank on the root sends to each rank itself (simulated:
// docs/results/irregular.md).
constexpr std::size_t flat_from = 256;

// How many messages it then has in memory at a time.
constexpr std::size_t flat_messages = 8;

class Scatter {
 public:
  Scatter(const IrregularCall& call, IrregularRoom& room, bool& linear)
      : call_(call), room_(room), linear_(linear), mail_(call, room, error_) {}
  // Where memory has run out in the middle of a call, nothing is written to the user's any more.
  ~Scatter() { take_back(direct_, call_.comm); }
  Scatter(const Scatter&) = delete;
  Scatter& operator=(const Scatter&) = delete;

  int run_root() {
    read_root_sizes();
    if (goes_flat()) {
      send_flat();
    } else {
      const OrderedNode& node = tree_of({0, call_.ranks}, call_.root_place());
      room_.make_parts(node.children.size() + 1);
      for (std::size_t k = node.children.size(); k-- > 0;) send_blocks(node.children[k], k);
    }
    for (Rank rank = 0; rank < call_.ranks; ++rank) {
      if (size_of(rank) == goes_direct) {
        mail_.post_block(all().counts[rank] == 0 ? nullptr : all().at(rank), all().counts[rank],
                         all().type, rank);
      }
    }
    copy_own();
    return finish();
  }

  int run_other() {
    if (expects_direct() && mail_.goes_by_window(call_.root)) {
      mail_.expect_block(call_.root, call_.own.base, call_.own.count, call_.own.type);
    } else if (expects_direct() && posts_receives_at_once) {
      error_.add(post_receive(call_.own.base, call_.own.count, call_.own.type.handle, call_.root,
                              call_.tag_base + direct_tag, call_.comm, &direct_));
    }
    if (room_.parts.empty()) room_.make_parts(1);
    Rank from = no_rank;
    std::size_t bytes = 0;
    const int error = mail_.await(tree_tag, mail_.may_come_by_mpi(), from, bytes);
    error_.add(error);
    if (error != MPI_SUCCESS) return settle(false);
    char* message = reserved(room_.parts[0], bytes);
    const int taken = mail_.take(from, tree_tag, bytes, message);
    error_.add(taken);
    if (taken != MPI_SUCCESS) return settle(false);
    if (!open(message, bytes)) {
      error_.add(MPI_ERR_INTERN);
      return settle(false);
    }
    serve_cube(message + bytes);
    return settle(size_of(call_.rank) == goes_direct);
  }

 private:
  const IrregularBlocks& all() const { return call_.all; }
  bool expects_direct() const { return call_.has_own() && call_.own_bytes() >= call_.direct_from; }
  std::span<std::uint32_t> sizes_of(Rank first, Rank count) {
    return std::span(room_.sizes)
        .subspan(static_cast<std::size_t>(first - first_), static_cast<std::size_t>(count));
  }

  std::uint32_t size_of(Rank rank) { return sizes_of(call_.order.place_of(rank), 1).front(); }

  void read_root_sizes() {
    first_ = 0;
    room_.sizes.assign(static_cast<std::size_t>(call_.ranks), 0);
    if (!all().counts.given()) return;  // wrong arguments: nobody gets anything
    for (Rank rank = 0; rank < call_.ranks; ++rank) {
      if (rank == call_.root) continue;
      const std::size_t bytes = all().bytes(rank);
      room_.sizes[static_cast<std::size_t>(call_.order.place_of(rank))] =
          bytes >= call_.direct_from ? goes_direct : static_cast<std::uint32_t>(bytes);
    }
  }

  // A root that sends each rank its own hides start-ups behind data from some size on; it may,
  // since whoever receives learns from the message whom it has to serve.
  bool goes_flat() const {
    std::size_t data = 0;
    for (const std::uint32_t size : room_.sizes) data += in_tree(size);
    return data >= flat_from * room_.sizes.size();
  }

  // This rank's node in the tree of the cube that `room_.sizes` is about; worked out again only if
  // something has changed since the last call.
  const OrderedNode& tree_of(const JoinOrder::Cube& cube, Rank given_root) {
    const std::size_t ranks = room_.sizes.size();
    auto& wanted = room_.wanted_sizes;
    wanted.assign(ranks + 3, 0);
    std::ranges::transform(room_.sizes, wanted.begin(), in_tree);
    wanted[ranks] = static_cast<std::uint64_t>(cube.first);
    wanted[ranks + 1] = static_cast<std::uint64_t>(given_root);
    wanted[ranks + 2] = call_.star ? 1 : 0;
    if (wanted != room_.tree_sizes) {
      const std::span<const std::uint64_t> sizes = std::span(wanted).first(ranks);
      const Rank place = call_.place();
      room_.tree_sizes.clear();  // should there be no memory
      room_.tree = call_.star ? ordered_star(place, sizes, call_.order)
                              : ordered_node_in_cube(place, cube, sizes, given_root, call_.order);
      room_.tree_sizes = wanted;
    }
    return room_.tree;
  }

  // A message waits for the one whose memory it takes. Such blocks are small enough to leave
  // whether or not their rank is there.
  void send_flat() {
    room_.make_parts(std::min(flat_messages, static_cast<std::size_t>(call_.ranks)) + 1);
    for (Rank rank = 0; rank < call_.ranks; ++rank) {
      if (rank == call_.root) continue;
      const std::size_t sent = room_.requests.size();
      if (sent >= flat_messages) mail_.wait(sent - flat_messages);
      const Rank place = call_.order.place_of(rank);
      send_blocks({place, 0, place, 1, 0}, sent % flat_messages);
    }
  }

  // The root's message to a cube.
  void send_blocks(const OrderedChild& child, std::size_t k) {
    send_cube(child, k, [&](auto take) { take_blocks(child, take); });
  }

  // Sends a cube's message. `pieces` calls what it is given with (data, count, type, bytes) for all
  // data in the order of places.
  template <class PiecesOf>
  void send_cube(const OrderedChild& child, std::size_t k, PiecesOf pieces) {
    const auto sizes = sizes_of(child.first, child.count);
    const WrittenSizes written(sizes);
    std::size_t data = 0;
    for (const std::uint32_t size : sizes) data += in_tree(size);
    const std::size_t head_bytes = place_bytes + written.bytes();
    const Rank to_rank = call_.order.rank_at(child.rank);
    const bool whole = head_bytes + data <= copied_up_to || mail_.goes_by_window(to_rank);
    const std::size_t message_bytes = whole ? head_bytes + data : head_bytes;
    char* message = reserved(room_.parts[k + 1], message_bytes);
    const auto first = static_cast<std::uint32_t>(child.first);
    char* head = store_u32(message, linear_ ? first | linear_mark : first);
    head = store_u32(head, static_cast<std::uint32_t>(child.count));
    written.write(head, false);
    if (whole) {
      char* to = message + head_bytes;
      pieces([&](const char* from, MPI_Count count, const DatatypeInfo& type, std::size_t bytes) {
        error_.add(pack(from, count, type, to, call_.comm));
        to += bytes;
      });
      mail_.post_bytes(message, message_bytes, to_rank, tree_tag);
      return;
    }
    Pieces put(room_);
    put.add(message, static_cast<MPI_Count>(head_bytes), MPI_BYTE);
    pieces([&](const char* from, MPI_Count count, const DatatypeInfo& type, std::size_t) {
      put.add(from, count, type.handle);
    });
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const int made = put.make_type(type);
    error_.add(made);
    if (made != MPI_SUCCESS) return;
    mail_.post(MPI_BOTTOM, 1, type, to_rank, tree_tag);
    PMPI_Type_free(&type);  // it lives until the message is gone
  }

  // The root's blocks of a cube; those that lie side by side are one piece.
  template <class Take>
  void take_blocks(const OrderedChild& child, Take take) {
    const DatatypeInfo& type = all().type;
    const char* begin = nullptr;
    MPI_Count count = 0;
    const auto flush = [&] {
      if (count != 0) take(begin, count, type, static_cast<std::size_t>(count) * type.size);
      count = 0;
    };
    for (Rank place = child.first; place < child.first + child.count; ++place) {
      if (in_tree(sizes_of(place, 1).front()) == 0) continue;
      const Rank rank = call_.order.rank_at(place);
      const char* at = all().at(rank);
      if (count != 0 && at != begin + static_cast<MPI_Aint>(count) * type.extent) flush();
      if (count == 0) begin = at;
      count += all().counts[rank];
    }
    flush();
  }

  bool open(const char* message, std::size_t bytes) {
    constexpr std::size_t least = place_bytes + sizeof(std::uint32_t);
    if (bytes < least) return false;
    const std::uint32_t first = load_u32(message);
    linear_ = (first & linear_mark) != 0;
    first_ = static_cast<Rank>(first & ~linear_mark);
    const auto count = static_cast<Rank>(load_u32(message + sizeof(std::uint32_t)));
    const Rank place = call_.place();
    if (count < 1 || place < first_ || place - first_ >= count || count > call_.ranks) {
      return false;
    }
    room_.sizes.assign(static_cast<std::size_t>(count), 0);
    if (!read_sizes(message + place_bytes, bytes - least, false, room_.sizes)) return false;
    std::size_t data = 0;
    for (const std::uint32_t size : room_.sizes) data += in_tree(size);
    return place_bytes + WrittenSizes(room_.sizes).bytes() + data == bytes;
  }

  // Serves the ranks of this rank's cube, and takes its own block. The data ends at `end`.
  void serve_cube(const char* end) {
    std::size_t data_bytes = 0;
    for (const std::uint32_t size : room_.sizes) data_bytes += in_tree(size);
    const char* data = end - data_bytes;
    const auto offset_of = [&](Rank place) {
      std::size_t offset = 0;
      for (const std::uint32_t size : sizes_of(first_, place - first_)) offset += in_tree(size);
      return offset;
    };
    const JoinOrder::Cube cube{first_, first_ + static_cast<Rank>(room_.sizes.size())};
    if (cube.size() > 1) {
      const OrderedNode& node = tree_of(cube, no_rank);
      room_.make_parts(node.children.size() + 1);
      const DatatypeInfo bytes_type{
          .handle = MPI_BYTE, .named = true, .size = 1, .extent = 1, .true_extent = 1};
      for (std::size_t k = node.children.size(); k-- > 0;) {
        const OrderedChild& child = node.children[k];
        const char* from = data + offset_of(child.first);
        send_cube(child, k, [&](auto take) {
          take(from, static_cast<MPI_Count>(child.total), bytes_type, child.total);
        });
      }
    } else {
      room_.make_parts(1);
    }
    const std::size_t own = in_tree(size_of(call_.rank));
    if (own == 0 || !call_.has_own()) return;
    if (own > call_.own_bytes()) {
      error_.add(MPI_ERR_TRUNCATE);
      return;
    }
    error_.add(unpack(data + offset_of(call_.place()), call_.own.base,
                      static_cast<MPI_Count>(own / call_.own.type.size), call_.own.type,
                      call_.comm));
  }

  // What comes direct is what the root says, not what this rank's arguments do.
  int settle(bool comes) {
    if (direct_ != MPI_REQUEST_NULL) {
      if (!comes) PMPI_Cancel(&direct_);
      mail_.wait_for_mpi(direct_);
    } else if (expects_direct() && mail_.goes_by_window(call_.root)) {
      if (!comes) mail_.withdraw_block(call_.root);
      mail_.finish_blocks();
    } else if (comes && expects_direct()) {
      mail_.receive_block(call_.root, call_.own.base, call_.own.count, call_.own.type);
    } else if (comes) {
      if (call_.has_own()) error_.add(MPI_ERR_TRUNCATE);
      mail_.forget_block(call_.root);
    }
    return finish();
  }

  void copy_own() {
    if (!call_.has_own() || !all().counts.given()) return;
    error_.add(copy_block(all().bytes(call_.root) == 0 ? nullptr : all().at(call_.root),
                          all().counts[call_.root], all().type, call_.own.base, call_.own.count,
                          call_.own.type, call_));
  }

  int finish() {
    mail_.finish();
    return error_.code();
  }

  const IrregularCall& call_;
  IrregularRoom& room_;
  bool& linear_;
  // First place of the cube that room_.sizes is about.
  Rank first_ = 0;
  MPI_Request direct_ = MPI_REQUEST_NULL;  // the receive of this rank's block
  FirstError error_;
  TreeMail mail_;
};

}  // namespace

int scatter_irregular(const IrregularCall& call, IrregularRoom& room, bool& linear) {
  Scatter scatter(call, room, linear);
  return call.is_root() ? scatter.run_root() : scatter.run_other();
}

}  // namespace sibyl
