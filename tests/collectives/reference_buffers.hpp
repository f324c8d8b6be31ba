// Buffers of which every byte is known: what a collective may write, and what it must leave alone.
//
// The whole memory of a buffer, with guards before and behind it, is filled with noise; data is put
// where the type map says. What a call must leave behind is written into a copy, and then all bytes
// of both are compared: data, gaps and guards alike.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collectives/reference_types.hpp"

namespace sibyl::reference {

using Bytes = std::vector<unsigned char>;

// Random bytes that follow from a seed alone.
Bytes noise(std::uint64_t seed, std::size_t bytes);

// Where the bytes of one element lie, in the order of the type.
struct Layout {
  struct Piece {
    std::ptrdiff_t at;
    std::ptrdiff_t bytes;
  };
  std::vector<Piece> pieces;
  std::ptrdiff_t extent = 0;
  std::size_t packed = 0;  // bytes of an element without gaps
};
Layout layout_of(const TypeMap& map);

// Elements [first, first + count) of a buffer; `what` names them in a report.
struct Region {
  std::string what;
  std::ptrdiff_t first = 0;
  std::ptrdiff_t count = 0;
};

// Memory that the host does not reach.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::shared_ptr<void> allocate(std::size_t bytes) = 0;
  virtual void write(void* to, const void* from, std::size_t bytes) = 0;
  virtual void read(void* to, const void* from, std::size_t bytes) = 0;
};
// Where the next buffer that is handed to MPI lies; nullptr: in the host's memory. Null by default.
extern Device* (*device_for_next)();

class Buffer {
 public:
  // Room for these elements, filled with noise.
  Buffer(Layout layout, std::vector<Region> regions, std::uint64_t seed);

  // The address to hand to MPI: in the memory of a device where device_for_next gives one.
  void* base();
  // In the host's memory.
  void* host_base() { return bytes_.data() + origin_; }
  void put(std::ptrdiff_t first, std::ptrdiff_t count, const unsigned char* packed);
  void put(const Region& region, const Bytes& packed) {
    put(region.first, region.count, packed.data());
  }
  Bytes take(std::ptrdiff_t first, std::ptrdiff_t count) const;
  const std::vector<Region>& regions() const { return regions_; }
  const Layout& layout() const { return layout_; }
  // For tests of the comparison.
  Bytes& bytes() { return bytes_; }
  // Empty when every byte is as in `expected`, else the first ones that are not, and what they are.
  std::string difference(const Buffer& expected) const;

 private:
  std::string place_of(std::ptrdiff_t at) const;
  // From the device, where they lie there.
  const Bytes& current() const;
  Layout layout_;
  std::vector<Region> regions_;
  std::ptrdiff_t origin_ = 0;
  mutable Bytes bytes_;
  Device* device_ = nullptr;
  std::shared_ptr<void> on_device_;
};

}  // namespace sibyl::reference
