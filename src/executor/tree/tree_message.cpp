// Reads and writes what tree messages say about themselves, and builds the tree by messages.
#include "executor/tree/tree_message.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <new>

#include "executor/messages.hpp"
#include "executor/program/engines.hpp"
#include "executor/tree/tree_mail.hpp"

namespace sibyl {

WrittenSizes::WrittenSizes(std::span<const std::uint32_t> sizes)
    : sizes_(sizes),
      listed_(std::ranges::any_of(sizes, [&](std::uint32_t s) { return s != sizes.front(); })) {}

void WrittenSizes::write(char* to, bool word_last) const {
  const std::uint32_t word = listed_ ? sizes_follow : sizes_.front();
  if (!word_last) to = store_u32(to, word);
  if (listed_) {
    std::memcpy(to, sizes_.data(), sizes_.size_bytes());
    to += sizes_.size_bytes();
  }
  if (word_last) store_u32(to, word);
}

bool read_sizes(const char* word, std::size_t room, bool word_last,
                std::span<std::uint32_t> sizes) {
  const std::uint32_t first = load_u32(word);
  if (first != sizes_follow) {
    std::ranges::fill(sizes, first);
    return true;
  }
  if (room < sizes.size_bytes()) return false;
  std::memcpy(sizes.data(), word_last ? word - sizes.size_bytes() : word + sizeof first,
              sizes.size_bytes());
  return true;
}

namespace {

// Below this much memory sizes may change from call to call without giving any back.
constexpr std::size_t kept_anyway = 4096;

}  // namespace

std::size_t IrregularRoom::scratch_bytes() const {
  std::size_t bytes = packed.size();
  for (const Area& part : parts) bytes += part.size();
  return bytes;
}

void IrregularRoom::make_parts(std::size_t count) {
  while (parts.size() < count) parts.emplace_back();
  for (std::size_t k = count; k < parts.size(); ++k) parts[k].release();
}

Area& IrregularRoom::part(std::size_t index) {
  while (parts.size() <= index) parts.emplace_back();
  return parts[index];
}

char* reserved(Area& area, std::size_t bytes) {
  if (area.size() > std::max(2 * bytes, kept_anyway)) area.release();
  char* memory = area.reserve(std::max<std::size_t>(bytes, 1));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void Pieces::add(const void* data, MPI_Count count, MPI_Datatype type) {
  if (count == 0) return;
  MPI_Aint address = 0;
  PMPI_Get_address(data, &address);
  room_.lengths.push_back(static_cast<int>(count));
  room_.places.push_back(address);
  room_.types.push_back(type);
}

int Pieces::make_type(MPI_Datatype& type) {
  const int error =
      PMPI_Type_create_struct(static_cast<int>(room_.lengths.size()), room_.lengths.data(),
                              room_.places.data(), room_.types.data(), &type);
  return error == MPI_SUCCESS ? PMPI_Type_commit(&type) : error;
}

int copy_block(const char* from, MPI_Count from_count, const DatatypeInfo& from_type, char* to,
               MPI_Count to_count, const DatatypeInfo& to_type, const IrregularCall& call) {
  const std::size_t bytes = static_cast<std::size_t>(from_count) * from_type.size;
  if (bytes == 0) return MPI_SUCCESS;
  if (bytes > static_cast<std::size_t>(to_count) * to_type.size) return MPI_ERR_TRUNCATE;
  if (from_type.dense && to_type.dense) {
    std::memcpy(to, from, bytes);
    return MPI_SUCCESS;
  }
  FirstError error;
  const int tag = call.tag_base + direct_tag;
  std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  error.add(post_receive(to, to_count, to_type.handle, call.rank, tag, call.comm, &requests[0]));
  error.add(post_send(from, from_count, from_type.handle, call.rank, tag, call.comm, &requests[1]));
  for (MPI_Request& request : requests) error.add(PMPI_Wait(&request, MPI_STATUS_IGNORE));
  return error.code();
}

namespace {

void read_status(const MPI_Status& status, Rank& from, std::size_t& bytes) {
  int count = 0;
  PMPI_Get_count(&status, MPI_BYTE, &count);
  from = status.MPI_SOURCE;
  // Only a direct block that nobody expects can be larger than an int says; it is cut off.
  bytes = count < 0 ? std::numeric_limits<int>::max() : static_cast<std::size_t>(count);
}

}  // namespace

int await_message(const IrregularCall& call, int source, int tag, Rank& from, std::size_t& bytes) {
  MPI_Status status{};
  int there = survives_faults() ? 0 : 1;
  int error = MPI_SUCCESS;
  if (there != 0) error = PMPI_Probe(source, call.tag_base + tag, call.comm, &status);
  for (FaultWatch watch(call.comm); there == 0 && error == MPI_SUCCESS; watch.pause()) {
    error = PMPI_Iprobe(source, call.tag_base + tag, call.comm, &there, &status);
  }
  if (error == MPI_SUCCESS) read_status(status, from, bytes);
  return error;
}

int look_for_message(const IrregularCall& call, int tag, bool& there, Rank& from,
                     std::size_t& bytes) {
  MPI_Status status{};
  int found = 0;
  const int error = PMPI_Iprobe(MPI_ANY_SOURCE, call.tag_base + tag, call.comm, &found, &status);
  there = error == MPI_SUCCESS && found != 0;
  if (there) read_status(status, from, bytes);
  return error;
}

// Nobody else receives with this tag on the private communicator, so the message that was probed is
// the one that comes.
int receive_bytes(const IrregularCall& call, Rank from, int tag, std::size_t bytes, char* to) {
  return receive(to, static_cast<MPI_Count>(bytes), MPI_BYTE, from, call.tag_base + tag, call.comm);
}

void receive_and_forget(const IrregularCall& call, Rank from, IrregularRoom& room) {
  std::size_t bytes = 0;
  if (await_message(call, from, direct_tag, from, bytes) != MPI_SUCCESS) return;
  MPI_Request request = MPI_REQUEST_NULL;
  post_receive(reserved(room.packed, bytes), static_cast<MPI_Count>(bytes), MPI_BYTE, from,
               call.tag_base + direct_tag, call.comm, &request);
  wait_for(request, call.comm);
}

namespace {

int exchange(const OrderedCube& own, OrderedCube& others, Rank peer, TreeMail& mail,
             const IrregularCall& call) {
  constexpr int length = sizeof(OrderedCube);
  if (mail.goes_by_window(peer)) {
    const std::size_t sent =
        mail.post_bytes(reinterpret_cast<const char*>(&own), length, peer, construction_tag);
    const int error = mail.take(peer, construction_tag, length, reinterpret_cast<char*>(&others));
    mail.wait(sent);
    return error;
  }
  const MPI_Comm comm = call.comm;
  const int tag = call.tag_base + construction_tag;
  if (!survives_faults()) {
    return PMPI_Sendrecv(&own, length, MPI_BYTE, peer, tag, &others, length, MPI_BYTE, peer, tag,
                         comm, MPI_STATUS_IGNORE);
  }
  MPI_Request sent = MPI_REQUEST_NULL;
  FirstError error;
  error.add(post_send(&own, length, MPI_BYTE, peer, tag, comm, &sent));
  error.add(receive(&others, length, MPI_BYTE, peer, tag, comm));
  error.add(wait_for(sent, comm));
  return error.code();
}

}  // namespace

int construct_tree(const IrregularCall& call, IrregularRoom& room, OrderedNode& node) {
  using Kind = OrderedConstruction::Kind;
  // Ranks of one job may differ in byte order no more than in anything else: bytes will do.
  constexpr std::size_t length = sizeof(OrderedCube);
  const std::uint64_t own =
      !call.is_root() && call.own_bytes() >= call.direct_from ? 0 : call.own_bytes();
  OrderedConstruction machine(call.place(), own, call.root_place(), call.order);
  FirstError error;
  TreeMail mail(call, room, error);
  while (machine.next().kind != Kind::done) {
    const OrderedConstruction::Next now = machine.next();
    const Rank peer = call.order.rank_at(now.peer);
    OrderedCube received;
    switch (now.kind) {
      case Kind::exchange:
        error.add(exchange(now.cube, received, peer, mail, call));
        break;
      case Kind::tell:
        mail.send_bytes(reinterpret_cast<const char*>(&now.cube), length, peer, construction_tag);
        break;
      case Kind::hear:
        error.add(mail.take(peer, construction_tag, length, reinterpret_cast<char*>(&received)));
        break;
      case Kind::done:
        break;
    }
    machine.complete(received);
  }
  // After an error, which only a dead process can be, any tree will do: nothing moves any more.
  node = error.code() == MPI_SUCCESS
             ? machine.node()
             : ordered_node_of_equal_blocks(call.place(), call.root_place(), call.order);
  return error.code();
}

int hear_from_root(const IrregularCall& call, IrregularRoom& room, const OrderedNode& node,
                   bool& linear) {
  FirstError error;
  TreeMail mail(call, room, error);
  char said = linear ? 1 : 0;
  if (!call.is_root()) {
    error.add(mail.take(call.order.rank_at(node.parent), construction_tag, 1, &said));
  }
  // The widest subtrees first: children stand in the order in which they join.
  for (std::size_t k = node.children.size(); k-- > 0;) {
    mail.send_bytes(&said, 1, call.order.rank_at(node.children[k].rank), construction_tag);
  }
  linear = said != 0;
  return error.code();
}

}  // namespace sibyl
