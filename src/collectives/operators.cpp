// The standard's table of predefined operators and types (MPI 4.1, section 6.9.2 and 6.9.4).
#include "collectives/operators.hpp"

#include <cstdint>
#include <vector>

namespace sibyl {
namespace {

// Groups of types, and groups that an operator takes, as bits.
enum Group : std::uint8_t {
  no_group = 0,
  c_integer = 1,
  other_integer = 2,  // Fortran integers, MPI_AINT, MPI_OFFSET, MPI_COUNT: nothing logical
  integer = c_integer | other_integer,
  floating = 4,
  logical = 8,
  complex_number = 16,
  byte = 32,
  pair = 64,  // of value and index, for MPI_MINLOC and MPI_MAXLOC
};

struct TypeGroup {
  MPI_Datatype type;
  Group group;
};

// Not a static table: handles are link-time addresses in one MPI, and null where a library was
// built without Fortran.
std::vector<TypeGroup> make_type_groups() {
  std::vector<TypeGroup> table{
      {MPI_INT, c_integer},
      {MPI_LONG, c_integer},
      {MPI_SHORT, c_integer},
      {MPI_UNSIGNED_SHORT, c_integer},
      {MPI_UNSIGNED, c_integer},
      {MPI_UNSIGNED_LONG, c_integer},
      {MPI_LONG_LONG_INT, c_integer},
      {MPI_UNSIGNED_LONG_LONG, c_integer},
      {MPI_SIGNED_CHAR, c_integer},
      {MPI_UNSIGNED_CHAR, c_integer},
      {MPI_INT8_T, c_integer},
      {MPI_INT16_T, c_integer},
      {MPI_INT32_T, c_integer},
      {MPI_INT64_T, c_integer},
      {MPI_UINT8_T, c_integer},
      {MPI_UINT16_T, c_integer},
      {MPI_UINT32_T, c_integer},
      {MPI_UINT64_T, c_integer},
      {MPI_AINT, other_integer},
      {MPI_OFFSET, other_integer},
      {MPI_COUNT, other_integer},
      {MPI_INTEGER, other_integer},
      {MPI_INTEGER1, other_integer},
      {MPI_INTEGER2, other_integer},
      {MPI_INTEGER4, other_integer},
      {MPI_INTEGER8, other_integer},
      {MPI_FLOAT, floating},
      {MPI_DOUBLE, floating},
      {MPI_LONG_DOUBLE, floating},
      {MPI_REAL, floating},
      {MPI_DOUBLE_PRECISION, floating},
      {MPI_REAL4, floating},
      {MPI_REAL8, floating},
      {MPI_LOGICAL, logical},
      {MPI_C_BOOL, logical},
      {MPI_CXX_BOOL, logical},
      {MPI_COMPLEX, complex_number},
      {MPI_DOUBLE_COMPLEX, complex_number},
      {MPI_C_FLOAT_COMPLEX, complex_number},
      {MPI_C_DOUBLE_COMPLEX, complex_number},
      {MPI_C_LONG_DOUBLE_COMPLEX, complex_number},
#ifndef SMPI_H  // SimGrid 3.32 names these three but does not declare them
      {MPI_CXX_FLOAT_COMPLEX, complex_number},
      {MPI_CXX_DOUBLE_COMPLEX, complex_number},
      {MPI_CXX_LONG_DOUBLE_COMPLEX, complex_number},
#endif
      {MPI_BYTE, byte},
      {MPI_FLOAT_INT, pair},
      {MPI_DOUBLE_INT, pair},
      {MPI_LONG_INT, pair},
      {MPI_2INT, pair},
      {MPI_SHORT_INT, pair},
      {MPI_LONG_DOUBLE_INT, pair},
      {MPI_2REAL, pair},
      {MPI_2DOUBLE_PRECISION, pair},
      {MPI_2INTEGER, pair},
  };
  return table;
}

Group group_of(MPI_Datatype datatype) {
  static const auto& table = *new const std::vector<TypeGroup>(make_type_groups());
  if (datatype == MPI_DATATYPE_NULL) return no_group;
  for (const TypeGroup& entry : table) {
    if (entry.type == datatype) return entry.group;
  }
  return no_group;
}

struct OperatorGroups {
  MPI_Op op;
  unsigned groups;
};

// Empty for operators that are not predefined.
std::optional<unsigned> groups_of(MPI_Op op) {
  static const auto& table = *new const std::vector<OperatorGroups>{
      {MPI_MAX, integer | floating},
      {MPI_MIN, integer | floating},
      {MPI_SUM, integer | floating | complex_number},
      {MPI_PROD, integer | floating | complex_number},
      {MPI_LAND, c_integer | logical},
      {MPI_LOR, c_integer | logical},
      {MPI_LXOR, c_integer | logical},
      {MPI_BAND, integer | byte},
      {MPI_BOR, integer | byte},
      {MPI_BXOR, integer | byte},
      {MPI_MAXLOC, pair},
      {MPI_MINLOC, pair},
      {MPI_REPLACE, no_group},
      {MPI_NO_OP, no_group},
  };
  for (const OperatorGroups& entry : table) {
    if (entry.op == op) return entry.groups;
  }
  return std::nullopt;
}

}  // namespace

std::optional<OperatorUse> operator_use(MPI_Op op, MPI_Datatype datatype) {
  const std::optional<unsigned> groups = groups_of(op);
  if (!groups.has_value()) return OperatorUse::user;
  if ((*groups & group_of(datatype)) == 0) return std::nullopt;
  return OperatorUse::predefined;
}

std::optional<OperatorUse> operator_use(CommunicatorState& state, MPI_Op op, MPI_Datatype datatype,
                                        bool named) {
  CommunicatorState::CachedOperator& known = state.cached_operator;
  if (known.op == op && known.type == datatype) return known.use;
  const std::optional<OperatorUse> use = operator_use(op, datatype);
  if (use == OperatorUse::predefined && named) known = {op, datatype, *use};
  return use;
}

}  // namespace sibyl
