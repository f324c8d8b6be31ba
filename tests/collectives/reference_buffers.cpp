// Buffers between guards and their comparison; see reference_buffers.hpp.
#include "collectives/reference_buffers.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sibyl::reference {
namespace {

constexpr std::ptrdiff_t guard = 128;
constexpr std::ptrdiff_t alignment = 16;  // of the address that MPI is given

}  // namespace

Bytes noise(std::uint64_t seed, std::size_t bytes) {
  Bytes all((bytes + 7) / 8 * 8);
  for (std::size_t i = 0; i < all.size(); i += 8) {
    // splitmix64 of Steele, Lea and Flood: a word from a counter.
    std::uint64_t x = seed += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    x ^= x >> 31;
    std::memcpy(&all[i], &x, 8);
  }
  all.resize(bytes);
  return all;
}

Layout layout_of(const TypeMap& map) {
  Layout layout;
  layout.extent = map.extent();
  for (const Entry& entry : map.entries) {
    layout.pieces.push_back({entry.at, row_of(entry.basic).bytes});
    layout.packed += static_cast<std::size_t>(row_of(entry.basic).bytes);
  }
  return layout;
}

Buffer::Buffer(Layout layout, std::vector<Region> regions, std::uint64_t seed)
    : layout_(std::move(layout)), regions_(std::move(regions)) {
  std::ptrdiff_t low = 0;
  std::ptrdiff_t high = 0;
  for (const Region& region : regions_) {
    if (region.count == 0) continue;
    for (const std::ptrdiff_t element : {region.first, region.first + region.count - 1}) {
      for (const Layout::Piece& piece : layout_.pieces) {
        low = std::min(low, piece.at + element * layout_.extent);
        high = std::max(high, piece.at + piece.bytes + element * layout_.extent);
      }
    }
  }
  origin_ = (guard - low + alignment - 1) / alignment * alignment;
  bytes_ = noise(seed, static_cast<std::size_t>(origin_ + high + guard));
}

Device* (*device_for_next)() = nullptr;

void* Buffer::base() {
  if (device_ == nullptr && device_for_next != nullptr) device_ = device_for_next();
  if (device_ == nullptr) return host_base();
  if (on_device_ == nullptr) on_device_ = device_->allocate(bytes_.size());
  device_->write(on_device_.get(), bytes_.data(), bytes_.size());
  return static_cast<char*>(on_device_.get()) + origin_;
}

const Bytes& Buffer::current() const {
  if (on_device_ != nullptr) device_->read(bytes_.data(), on_device_.get(), bytes_.size());
  return bytes_;
}

void Buffer::put(std::ptrdiff_t first, std::ptrdiff_t count, const unsigned char* packed) {
  current();
  for (std::ptrdiff_t element = first; element < first + count; ++element) {
    for (const Layout::Piece& piece : layout_.pieces) {
      std::memcpy(bytes_.data() + origin_ + element * layout_.extent + piece.at, packed,
                  static_cast<std::size_t>(piece.bytes));
      packed += piece.bytes;
    }
  }
  if (on_device_ != nullptr) device_->write(on_device_.get(), bytes_.data(), bytes_.size());
}

Bytes Buffer::take(std::ptrdiff_t first, std::ptrdiff_t count) const {
  Bytes packed(static_cast<std::size_t>(count) * layout_.packed);
  unsigned char* to = packed.data();
  for (std::ptrdiff_t element = first; element < first + count; ++element) {
    for (const Layout::Piece& piece : layout_.pieces) {
      std::memcpy(to, current().data() + origin_ + element * layout_.extent + piece.at,
                  static_cast<std::size_t>(piece.bytes));
      to += piece.bytes;
    }
  }
  return packed;
}

std::string Buffer::place_of(std::ptrdiff_t at) const {
  for (const Region& region : regions_) {
    for (std::ptrdiff_t element = region.first; element < region.first + region.count; ++element) {
      for (std::size_t p = 0; p < layout_.pieces.size(); ++p) {
        const std::ptrdiff_t first = layout_.pieces[p].at + element * layout_.extent;
        if (at < first || at >= first + layout_.pieces[p].bytes) continue;
        return region.what + ", element " + std::to_string(element - region.first) + " of " +
               std::to_string(region.count) + ", entry " + std::to_string(p) + " of the type";
      }
    }
  }
  return "in a gap or outside, where nothing may be written";
}

std::string Buffer::difference(const Buffer& expected) const {
  if (current() == expected.bytes_) return {};
  if (bytes_.size() != expected.bytes_.size()) return "buffers of two sizes";
  std::size_t differing = 0;
  std::string text;
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    if (bytes_[i] == expected.bytes_[i]) continue;
    if (++differing > 3) continue;
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i) - origin_;
    text += "  byte " + std::to_string(at) + " is " + std::to_string(bytes_[i]) + " instead of " +
            std::to_string(expected.bytes_[i]) + ": " + place_of(at) + "\n";
  }
  return std::to_string(differing) + " bytes differ, first\n" + text;
}

}  // namespace sibyl::reference
