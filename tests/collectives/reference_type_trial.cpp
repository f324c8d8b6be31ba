// Whether the MPI library moves a type as its map says; see reference_types.hpp.
//
// Open MPI's datatype engine mixes up the bytes of some types, mostly of several levels with
// members of no bytes. A type that its own MPI_Pack or MPI_Unpack gets wrong, with no collective in
// sight, is not used; what a collective makes of types that pass is compared in full.
#include "collectives/reference_buffers.hpp"

namespace sibyl::reference {

bool library_moves(const Type& type) {
  constexpr int count = 40;
  const Layout layout = layout_of(type.map());
  if (layout.packed == 0) return true;
  const Region region{"trial", 0, count};
  Buffer buffer(layout, {region}, 1);
  const Bytes expected = buffer.take(0, count);
  Bytes packed(expected.size());
  const auto bytes = static_cast<int>(packed.size());
  int position = 0;
  if (MPI_Pack(buffer.host_base(), count, type.handle(), packed.data(), bytes, &position,
               MPI_COMM_SELF) != MPI_SUCCESS ||
      position != bytes || packed != expected) {
    return false;
  }
  if (!steps_are_disjoint(type.map(), type.map().extent())) return true;
  Buffer unpacked(layout, {region}, 2);
  Buffer wanted = unpacked;
  wanted.put(region, expected);
  position = 0;
  return MPI_Unpack(packed.data(), bytes, &position, unpacked.host_base(), count, type.handle(),
                    MPI_COMM_SELF) == MPI_SUCCESS &&
         unpacked.difference(wanted).empty();
}

}  // namespace sibyl::reference
