// Gather of blocks of any sizes, at the root: it receives into place; see irregular.hpp.
#include <algorithm>
#include <utility>

#include "executor/messages.hpp"
#include "executor/program/engines.hpp"
#include "executor/tree/irregular_gather.hpp"
#include "executor/tree/tree_mail.hpp"

namespace sibyl {
namespace {

class Root {
 public:
  Root(const OrderedNode& node, const IrregularCall& call, IrregularRoom& room)
      : node_(node), call_(call), room_(room), mail_(call, room, error_) {}
  // Where memory has run out in the middle of a call, nothing is written to the user's any more.
  ~Root() {
    for (MPI_Request& request : room_.requests) take_back(request, call_.comm);
  }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;

  int run() {
    post_direct();
    copy_own();
    room_.sizes.assign(static_cast<std::size_t>(call_.ranks), 0);
    room_.missing.clear();
    for (const OrderedChild& child : node_.children) room_.missing.push_back(child.count);
    room_.announced.assign(node_.children.size(), {});
    std::size_t failures = 0;
    while (failures < node_.children.size() &&
           std::ranges::any_of(room_.missing, [](Rank missing) { return missing > 0; })) {
      if (!collect()) ++failures;
    }
    while (mail_.expects_blocks()) {
      if (!mail_.move(take_direct())) break;
    }
    while (!room_.expected.empty()) {
      if (!receive_direct()) room_.expected.pause();
    }
    for (MPI_Request& request : room_.requests) error_.add(wait_for(request, call_.comm));
    return error_.code();
  }

 private:
  const IrregularBlocks& all() const { return call_.all; }
  // The owner of block i in a cube's message.
  Rank rank_in(const JoinOrder::Cube& cube, Rank i) const {
    return call_.order.rank_at(cube.first + i);
  }
  bool expected_direct(Rank rank) const {
    return rank != call_.root && all().bytes(rank) >= call_.direct_from && all().counts.given();
  }

  void post_direct() {
    room_.requests.clear();
    room_.request_rank.clear();
    if constexpr (!posts_receives_at_once) room_.expected.begin(call_.ranks, 0);
    for (Rank rank = 0; rank < call_.ranks; ++rank) {
      if (!expected_direct(rank)) continue;
      if (mail_.goes_by_window(rank)) {
        const MPI_Count count = all().counts[rank];
        mail_.expect_block(rank, count == 0 ? nullptr : all().at(rank), count, all().type);
      } else {
        expect_by_mpi(rank);
      }
    }
  }

  void expect_by_mpi(Rank rank) {
    if constexpr (posts_receives_at_once) {
      post_direct(rank);
    } else {
      room_.expected.add({static_cast<std::uint32_t>(rank), rank, call_.tag_base + direct_tag});
    }
  }

  void post_direct(Rank rank) {
    const MPI_Count count = all().counts[rank];
    room_.request_rank.push_back(rank);
    MPI_Request& request = room_.requests.emplace_back(MPI_REQUEST_NULL);
    error_.add(post_receive(count == 0 ? nullptr : all().at(rank), count, all().type.handle, rank,
                            call_.tag_base + direct_tag, call_.comm, &request));
  }

  // Receives the direct blocks that are there but were not posted ahead; false if none was.
  bool receive_direct() {
    if (room_.expected.empty()) return false;
    room_.expected.begin_look();
    bool received = false;
    while (true) {
      bool found = false;
      ExpectedMessage message;
      MPI_Count bytes = 0;
      const int error = room_.expected.find(call_.comm, found, message, bytes);
      if (error != MPI_SUCCESS) {
        error_.add(error);
        room_.expected.forget();
        return true;
      }
      if (!found) return received;
      received = true;
      const Rank rank = message.peer;
      const MPI_Count count = all().counts[rank];
      if (fits(bytes, count, all().type.handle)) {
        post_direct(rank);
      } else {
        error_.add(receive(count == 0 ? nullptr : all().at(rank), count, all().type.handle, rank,
                           message.tag, call_.comm));
      }
    }
  }

  void copy_own() {
    if (!call_.has_own() || !all().counts.given()) return;
    error_.add(copy_block(call_.own.base, call_.own.count, call_.own.type,
                          all().counts[call_.root] == 0 ? nullptr : all().at(call_.root),
                          all().counts[call_.root], all().type, call_));
  }

  // The message of whichever child is there first. Meanwhile direct blocks are taken as they come,
  // lest all of them have to be taken when the tree's last message is there.
  bool collect() {
    Rank from = no_rank;
    std::size_t bytes = 0;
    bool there = false;
    int awaited = MPI_SUCCESS;
    while (!there && awaited == MPI_SUCCESS) {
      const bool direct_by_mpi = take_direct();
      if (!direct_by_mpi && !mail_.expects_blocks()) break;
      awaited = mail_.look(tree_tag, direct_by_mpi || mail_.may_come_by_mpi(), there, from, bytes);
    }
    if (!there && awaited == MPI_SUCCESS) {
      awaited = mail_.await(tree_tag, mail_.may_come_by_mpi(), from, bytes);
    }
    error_.add(awaited);
    if (awaited != MPI_SUCCESS) return false;
    const std::size_t child = child_of(node_, call_.order.place_of(from));
    if (child == node_.children.size()) {
      error_.add(MPI_ERR_INTERN);
      return false;
    }
    const OrderedChild& sender = node_.children[child];
    const JoinOrder::Cube whole{sender.first, sender.first + sender.count};
    const JoinOrder::Cube said = std::exchange(room_.announced[child], {});
    const JoinOrder::Cube expected = said.empty() ? whole : said;
    if (bytes > copied_up_to && receive_into_place(from, expected, bytes)) {
      settle_direct(expected);
      room_.missing[child] -= expected.size();
      return true;
    }
    char* message = reserved(room_.parts[0], bytes);
    const int taken = mail_.take(from, tree_tag, bytes, message);
    error_.add(taken);
    if (taken != MPI_SUCCESS) return false;
    room_.announced[child] = announced(message, bytes);
    if (!room_.announced[child].empty()) return true;
    IrregularRoom::Opened opened;
    if (!open_message(message, bytes, sender, sizes_of(whole), opened)) {
      error_.add(MPI_ERR_INTERN);
      return false;
    }
    place(opened.cube, message);
    settle_direct(opened.cube);
    room_.missing[child] -= opened.cube.size();
    return true;
  }

  std::span<std::uint32_t> sizes_of(const JoinOrder::Cube& cube) {
    return std::span(room_.sizes)
        .subspan(static_cast<std::size_t>(cube.first), static_cast<std::size_t>(cube.size()));
  }

  // Takes the direct blocks that are there; false when none is expected any more.
  bool take_direct() {
    for (Rank rank = mail_.next_block_by_mpi(); rank != no_rank; rank = mail_.next_block_by_mpi()) {
      expect_by_mpi(rank);
    }
    receive_direct();
    if (room_.requests.empty()) return !room_.expected.empty();
    room_.finished.resize(room_.requests.size());
    room_.statuses.resize(room_.requests.size());
    for (MPI_Status& status : room_.statuses) status.MPI_ERROR = MPI_SUCCESS;
    int count = 0;
    const int result = PMPI_Testsome(static_cast<int>(room_.requests.size()), room_.requests.data(),
                                     &count, room_.finished.data(), room_.statuses.data());
    if (result != MPI_SUCCESS && result != MPI_ERR_IN_STATUS) error_.add(result);
    for (int i = 0; i < count; ++i) {
      error_.add(room_.statuses[static_cast<std::size_t>(i)].MPI_ERROR);
    }
    // MPI_UNDEFINED is negative: no request is active.
    return count >= 0 || !room_.expected.empty();
  }

  // Without an intermediate copy, where the message is as long as the root's counts say. False:
  // nothing was received.
  bool receive_into_place(Rank from, const JoinOrder::Cube& cube, std::size_t bytes) {
    const bool by_window = mail_.goes_by_window(from);
    if (!all().counts.given() || (by_window && !all().type.dense)) return false;
    const std::span<std::uint32_t> sizes = sizes_of(cube);
    std::size_t expected = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const Rank rank = rank_in(cube, static_cast<Rank>(i));
      sizes[i] =
          expected_direct(rank) ? goes_direct : static_cast<std::uint32_t>(all().bytes(rank));
      expected += in_tree(sizes[i]);
    }
    const std::size_t end_bytes = trailer_bytes(WrittenSizes(sizes));
    if (expected + end_bytes != bytes) return false;
    Pieces pieces(room_);
    room_.spread.clear();
    for (Rank i = 0; i < cube.size();) {
      const Rank begin = rank_in(cube, i);
      MPI_Count count = 0;
      for (; i < cube.size(); ++i) {  // blocks side by side are one piece
        const Rank rank = rank_in(cube, i);
        const bool empty = expected_direct(rank) || all().counts[rank] == 0;
        if (!empty && count != 0 && all().at(rank) != all().at(begin) + count * all().type.extent) {
          break;
        }
        if (empty && count == 0) break;
        if (!empty) count += all().counts[rank];
      }
      if (count == 0) {
        ++i;
        continue;
      }
      if (by_window) {
        room_.spread.emplace_back(all().at(begin),
                                  static_cast<std::size_t>(count) * all().type.size);
      } else {
        pieces.add(all().at(begin), count, all().type.handle);
      }
    }
    char* trailer = reserved(room_.parts[0], end_bytes);
    int taken = MPI_SUCCESS;
    if (by_window) {
      room_.spread.emplace_back(trailer, end_bytes);
      taken = mail_.take_spread(from, bytes);
    } else {
      pieces.add(trailer, static_cast<MPI_Count>(end_bytes), MPI_BYTE);
      MPI_Datatype type = MPI_DATATYPE_NULL;
      if (pieces.make_type(type) != MPI_SUCCESS) return false;
      taken = receive(MPI_BOTTOM, 1, type, from, call_.tag_base + tree_tag, call_.comm);
      PMPI_Type_free(&type);
    }
    error_.add(taken);
    if (taken != MPI_SUCCESS) return true;  // there is nothing to compare
    // As many bytes in all, but of other blocks: they lie in wrong places.
    char* written = reserved(room_.packed, end_bytes);
    write_trailer(WrittenSizes(sizes), cube, written);
    if (std::memcmp(written, trailer, end_bytes) != 0) {
      error_.add(MPI_ERR_TRUNCATE);
      const std::size_t before_word = end_bytes - cube_bytes - sizeof(std::uint32_t);
      read_sizes(trailer + before_word, before_word, true, sizes);
    }
    return true;
  }

  void place(const JoinOrder::Cube& cube, const char* data) {
    const std::span<const std::uint32_t> sizes = sizes_of(cube);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::size_t bytes = in_tree(sizes[i]);
      if (bytes == 0) continue;
      const Rank rank = rank_in(cube, static_cast<Rank>(i));
      if (bytes > all().bytes(rank)) {
        error_.add(MPI_ERR_TRUNCATE);
      } else if (all().type.dense) {
        std::memcpy(all().at(rank), data, bytes);
      } else {
        error_.add(unpack(data, all().at(rank), static_cast<MPI_Count>(bytes / all().type.size),
                          all().type, call_.comm));
      }
      data += bytes;
    }
  }

  // What comes direct is what the ranks say, not what the root's counts do.
  void settle_direct(const JoinOrder::Cube& cube) {
    const std::span<const std::uint32_t> sizes = sizes_of(cube);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const Rank rank = rank_in(cube, static_cast<Rank>(i));
      const bool comes = sizes[i] == goes_direct;
      if (comes == expected_direct(rank)) continue;
      if (comes) {
        drop_direct(rank);
      } else {
        if (mail_.goes_by_window(rank)) {
          mail_.withdraw_block(rank);
          continue;
        }
        if (room_.expected.take_from(rank)) continue;
        const auto at = std::ranges::find(room_.request_rank, rank) - room_.request_rank.begin();
        // Nowhere after an error, which has had all that were expected forgotten.
        if (std::cmp_equal(at, room_.requests.size())) continue;
        take_back(room_.requests[static_cast<std::size_t>(at)], call_.comm);
      }
    }
  }

  void drop_direct(Rank rank) {
    error_.add(MPI_ERR_TRUNCATE);
    mail_.forget_block(rank);
  }

  const OrderedNode& node_;
  const IrregularCall& call_;
  IrregularRoom& room_;
  FirstError error_;
  TreeMail mail_;
};

}  // namespace

int gather_at_root(const OrderedNode& node, const IrregularCall& call, IrregularRoom& room) {
  return Root(node, call, room).run();
}

}  // namespace sibyl
