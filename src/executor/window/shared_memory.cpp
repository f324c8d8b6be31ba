// Makes and maps the memory; see shared_memory.hpp.
#include "executor/window/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "base/directory_of.hpp"

namespace sibyl {
namespace {

// Where the others find the file. In another PID namespace the same number may be another process:
// the secret, which is the first thing in the file, tells.
struct Offer {
  std::int64_t process = 0;
  std::int64_t file = -1;  // none
  std::uint64_t secret = 0;
};

char* map(int file, std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
}

std::uint64_t& secret_in(char* memory) { return *reinterpret_cast<std::uint64_t*>(memory); }

// Beyond the limit the system does not refuse a file, but ends the process (SIGXFSZ).
bool may_have_file_of(std::size_t bytes) {
  rlimit most{};
  return ::getrlimit(RLIMIT_FSIZE, &most) == 0 && bytes <= most.rlim_cur;
}

// By the first of the ranks.
char* create(const Descriptor& file, std::size_t bytes, Offer& offer) {
  if (file.number() < 0 || !may_have_file_of(bytes) ||
      ::ftruncate(file.number(), static_cast<off_t>(bytes)) != 0 ||
      ::getrandom(&offer.secret, sizeof offer.secret, 0) !=
          static_cast<ssize_t>(sizeof offer.secret)) {
    return nullptr;
  }
  char* const memory = map(file.number(), bytes);
  if (memory == nullptr) return nullptr;
  secret_in(memory) = offer.secret;
  offer.process = ::getpid();
  offer.file = file.number();
  return memory;
}

// By the others.
char* open_offered(const Offer& offer, std::size_t bytes) {
  if (offer.file < 0) return nullptr;
  std::array<char, 64> path{};  // no memory, which this rank alone may lack
  std::snprintf(path.data(), path.size(), "/proc/%jd/fd/%jd", std::intmax_t{offer.process},
                std::intmax_t{offer.file});
  // In another PID namespace it may be anything, to be opened without waiting or taking a terminal.
  const Descriptor file(::open(path.data(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat found{};
  if (file.number() < 0 || ::fstat(file.number(), &found) != 0 || !S_ISREG(found.st_mode) ||
      found.st_size != static_cast<off_t>(bytes)) {
    return nullptr;
  }
  char* const memory = map(file.number(), bytes);
  if (memory == nullptr || secret_in(memory) == offer.secret) return memory;
  ::munmap(memory, bytes);
  return nullptr;
}

bool tell(const void* data, int bytes, Rank peer, int tag, MPI_Comm comm) {
  return PMPI_Send(data, bytes, MPI_BYTE, peer, tag, comm) == MPI_SUCCESS;
}

bool hear(void* data, int bytes, Rank peer, int tag, MPI_Comm comm) {
  return PMPI_Recv(data, bytes, MPI_BYTE, peer, tag, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

// The first rank asks all others, and tells them whether everybody has the memory.
bool lead(const Offer& offer, bool own, std::span<const Rank> others, int tag, MPI_Comm comm) {
  char all = own ? 1 : 0;
  bool well = true;
  for (const Rank other : others) {
    well = tell(&offer, static_cast<int>(sizeof offer), other, tag, comm) && well;
  }
  for (const Rank other : others) {
    char has = 0;
    well = hear(&has, 1, other, tag, comm) && well;
    if (has == 0) all = 0;
  }
  if (!well) all = 0;
  for (const Rank other : others) well = tell(&all, 1, other, tag, comm) && well;
  return well && all == 1;
}

bool follow(Rank leader, std::size_t bytes, bool able, char*& memory, int tag, MPI_Comm comm) {
  Offer offer;
  const bool offered = hear(&offer, static_cast<int>(sizeof offer), leader, tag, comm);
  if (offered && able) memory = open_offered(offer, bytes);
  const char has = memory != nullptr ? 1 : 0;
  char all = 0;
  return tell(&has, 1, leader, tag, comm) && hear(&all, 1, leader, tag, comm) && all == 1;
}

}  // namespace

SharedMemory::~SharedMemory() {
  if (memory_ != nullptr) ::munmap(memory_, bytes_);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SharedMemory SharedMemory::make(MPI_Comm comm, int tag, std::span<const Rank> ranks,
                                std::size_t bytes, bool able) {
  int rank = 0;
  if (PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS || ranks.size() < 2) return {};
  char* memory = nullptr;
  bool shared = false;
  if (rank == ranks.front()) {
    const Descriptor file(::memfd_create("sibyl", MFD_CLOEXEC));
    Offer offer;
    if (able) memory = create(file, bytes, offer);
    shared = lead(offer, memory != nullptr, ranks.subspan(1), tag, comm);
  } else {
    shared = follow(ranks.front(), bytes, able, memory, tag, comm);
  }
  SharedMemory made(memory, bytes);
  if (shared) return made;
  return {};
}

}  // namespace sibyl
