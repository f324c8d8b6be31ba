// Tables of types and operators, and exact values for them; see predefined.hpp.
#include "collectives/predefined.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace sibyl::test {
namespace {

using Scalars = std::vector<PredefinedType::Scalar>;

// The bytes of a value in a long double: ten in 16 bytes on x86, all of them elsewhere.
constexpr std::size_t long_double_value_bytes =
    std::numeric_limits<long double>::digits == 64 ? 10 : sizeof(long double);

template <class T>
void write(T value, unsigned char*& to) {
  std::memcpy(to, &value, sizeof value);
  to += sizeof value;
}

void write_scalar(const PredefinedType::Scalar& scalar, long value, unsigned char*& to) {
  if (scalar.floating) {
    if (scalar.bytes == sizeof(float)) return write(static_cast<float>(value), to);
    if (scalar.bytes == sizeof(double)) return write(static_cast<double>(value), to);
    std::memset(to, 0, sizeof(long double));
    return write(static_cast<long double>(value), to);
  }
  std::memcpy(to, &value, scalar.bytes);  // the low bytes: two's complement, little end first
  to += scalar.bytes;
}

template <class T>
void clear_zero(unsigned char* at) {
  T value{};
  std::memcpy(&value, at, sizeof value);
  if (value == T{}) std::memset(at, 0, sizeof value);
}

// The sign of a zero depends on the order of complex products; padding holds anything.
void normalise(std::size_t bytes, unsigned char* at) {
  if (bytes == sizeof(float)) return clear_zero<float>(at);
  if (bytes == sizeof(double)) return clear_zero<double>(at);
  clear_zero<long double>(at);
  std::fill(at + long_double_value_bytes, at + sizeof(long double), 0);
}

// Small enough that sums and products over 16 ranks are exact in a float.
long exact_value(const PredefinedType& type, const PredefinedOperator& op, Random& random) {
  switch (type.group) {
    case TypeGroup::logical:
      return static_cast<long>(pick(random, 2));
    case TypeGroup::pair:
      return static_cast<long>(pick(random, 4));  // equal values are frequent
    case TypeGroup::c_integer:
    case TypeGroup::other_integer:
    case TypeGroup::byte:
      if (op.name[4] == 'L') return static_cast<long>(pick(random, 3));  // MPI_LAND, ...
      // No overflow: Open MPI's vectorised sums of short integers saturate, its others wrap.
      if (op.op == MPI_SUM) return static_cast<long>(pick(random, 8));
      if (op.op == MPI_PROD)
        return static_cast<long>(pick(random, 2)) + (type.scalars[0].bytes > 2);
      return static_cast<long>(random());
    case TypeGroup::floating:
    case TypeGroup::complex_number:
      break;
  }
  if (op.op == MPI_PROD) return pick(random, 2) == 0 ? 1 : -1;
  return static_cast<long>(pick(random, 41)) - 20;
}

std::size_t packed_size(const PredefinedType& type) {
  std::size_t bytes = 0;
  for (const auto& scalar : type.scalars) bytes += scalar.bytes;
  return bytes;
}

}  // namespace

std::vector<PredefinedType> predefined_types() {
  std::vector<PredefinedType> types;
  const auto add = [&](const char* name, MPI_Datatype type, TypeGroup group, Scalars scalars) {
    if (type == MPI_DATATYPE_NULL) return;
    int size = 0;
    MPI_Type_size(type, &size);
    const PredefinedType entry{name, type, group, std::move(scalars)};
    // A size of 0: the MPI was built without that type of Fortran.
    if (size == static_cast<int>(packed_size(entry))) types.push_back(entry);
  };
  const auto c_integer = [&](const char* name, MPI_Datatype type, std::size_t bytes) {
    add(name, type, TypeGroup::c_integer, {{bytes, false}});
  };
  const auto other_integer = [&](const char* name, MPI_Datatype type, std::size_t bytes) {
    add(name, type, TypeGroup::other_integer, {{bytes, false}});
  };
  const auto floating = [&](const char* name, MPI_Datatype type, std::size_t bytes) {
    add(name, type, TypeGroup::floating, {{bytes, true}});
  };
  const auto logical = [&](const char* name, MPI_Datatype type, std::size_t bytes) {
    add(name, type, TypeGroup::logical, {{bytes, false}});
  };
  const auto complex_number = [&](const char* name, MPI_Datatype type, std::size_t bytes) {
    add(name, type, TypeGroup::complex_number, {{bytes, true}, {bytes, true}});
  };
  const auto pair = [&](const char* name, MPI_Datatype type, PredefinedType::Scalar value,
                        PredefinedType::Scalar index) {
    add(name, type, TypeGroup::pair, {value, index});
  };
#define SIBYL_TYPE(group, type, bytes) group(#type, type, bytes)
  SIBYL_TYPE(c_integer, MPI_INT, sizeof(int));
  SIBYL_TYPE(c_integer, MPI_LONG, sizeof(long));
  SIBYL_TYPE(c_integer, MPI_SHORT, sizeof(short));
  SIBYL_TYPE(c_integer, MPI_UNSIGNED_SHORT, sizeof(short));
  SIBYL_TYPE(c_integer, MPI_UNSIGNED, sizeof(int));
  SIBYL_TYPE(c_integer, MPI_UNSIGNED_LONG, sizeof(long));
  SIBYL_TYPE(c_integer, MPI_LONG_LONG_INT, sizeof(long long));
  SIBYL_TYPE(c_integer, MPI_UNSIGNED_LONG_LONG, sizeof(long long));
  SIBYL_TYPE(c_integer, MPI_SIGNED_CHAR, 1);
  SIBYL_TYPE(c_integer, MPI_UNSIGNED_CHAR, 1);
  SIBYL_TYPE(c_integer, MPI_INT8_T, 1);
  SIBYL_TYPE(c_integer, MPI_INT16_T, 2);
  SIBYL_TYPE(c_integer, MPI_INT32_T, 4);
  SIBYL_TYPE(c_integer, MPI_INT64_T, 8);
  SIBYL_TYPE(c_integer, MPI_UINT8_T, 1);
  SIBYL_TYPE(c_integer, MPI_UINT16_T, 2);
  SIBYL_TYPE(c_integer, MPI_UINT32_T, 4);
  SIBYL_TYPE(c_integer, MPI_UINT64_T, 8);
  SIBYL_TYPE(other_integer, MPI_AINT, sizeof(MPI_Aint));
  SIBYL_TYPE(other_integer, MPI_OFFSET, sizeof(MPI_Offset));
  SIBYL_TYPE(other_integer, MPI_COUNT, sizeof(MPI_Count));
  SIBYL_TYPE(other_integer, MPI_INTEGER, 4);
  SIBYL_TYPE(other_integer, MPI_INTEGER1, 1);
  SIBYL_TYPE(other_integer, MPI_INTEGER2, 2);
  SIBYL_TYPE(other_integer, MPI_INTEGER4, 4);
  SIBYL_TYPE(other_integer, MPI_INTEGER8, 8);
  SIBYL_TYPE(floating, MPI_FLOAT, sizeof(float));
  SIBYL_TYPE(floating, MPI_DOUBLE, sizeof(double));
  SIBYL_TYPE(floating, MPI_LONG_DOUBLE, sizeof(long double));
  SIBYL_TYPE(floating, MPI_REAL, 4);
  SIBYL_TYPE(floating, MPI_DOUBLE_PRECISION, 8);
  SIBYL_TYPE(floating, MPI_REAL4, 4);
  SIBYL_TYPE(floating, MPI_REAL8, 8);
  SIBYL_TYPE(logical, MPI_LOGICAL, 4);
  SIBYL_TYPE(logical, MPI_C_BOOL, 1);
  SIBYL_TYPE(logical, MPI_CXX_BOOL, 1);
  SIBYL_TYPE(complex_number, MPI_COMPLEX, 4);
  SIBYL_TYPE(complex_number, MPI_DOUBLE_COMPLEX, 8);
  SIBYL_TYPE(complex_number, MPI_C_FLOAT_COMPLEX, sizeof(float));
  SIBYL_TYPE(complex_number, MPI_C_DOUBLE_COMPLEX, sizeof(double));
  SIBYL_TYPE(complex_number, MPI_C_LONG_DOUBLE_COMPLEX, sizeof(long double));
  SIBYL_TYPE(complex_number, MPI_CXX_FLOAT_COMPLEX, sizeof(float));
  SIBYL_TYPE(complex_number, MPI_CXX_DOUBLE_COMPLEX, sizeof(double));
  SIBYL_TYPE(complex_number, MPI_CXX_LONG_DOUBLE_COMPLEX, sizeof(long double));
#undef SIBYL_TYPE
  add("MPI_BYTE", MPI_BYTE, TypeGroup::byte, {{1, false}});
  const PredefinedType::Scalar index{sizeof(int), false};
  pair("MPI_FLOAT_INT", MPI_FLOAT_INT, {sizeof(float), true}, index);
  pair("MPI_DOUBLE_INT", MPI_DOUBLE_INT, {sizeof(double), true}, index);
  pair("MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE_INT, {sizeof(long double), true}, index);
  pair("MPI_LONG_INT", MPI_LONG_INT, {sizeof(long), false}, index);
  pair("MPI_SHORT_INT", MPI_SHORT_INT, {sizeof(short), false}, index);
  pair("MPI_2INT", MPI_2INT, index, index);
  pair("MPI_2REAL", MPI_2REAL, {4, true}, {4, true});
  pair("MPI_2DOUBLE_PRECISION", MPI_2DOUBLE_PRECISION, {8, true}, {8, true});
  pair("MPI_2INTEGER", MPI_2INTEGER, {4, false}, {4, false});
  return types;
}

std::vector<PredefinedOperator> predefined_operators() {
  using enum TypeGroup;
  return {
      {"MPI_MAX", MPI_MAX, {c_integer, other_integer, floating}},
      {"MPI_MIN", MPI_MIN, {c_integer, other_integer, floating}},
      {"MPI_SUM", MPI_SUM, {c_integer, other_integer, floating, complex_number}},
      {"MPI_PROD", MPI_PROD, {c_integer, other_integer, floating, complex_number}},
      {"MPI_LAND", MPI_LAND, {c_integer, logical}},
      {"MPI_LOR", MPI_LOR, {c_integer, logical}},
      {"MPI_LXOR", MPI_LXOR, {c_integer, logical}},
      {"MPI_BAND", MPI_BAND, {c_integer, other_integer, byte}},
      {"MPI_BOR", MPI_BOR, {c_integer, other_integer, byte}},
      {"MPI_BXOR", MPI_BXOR, {c_integer, other_integer, byte}},
      {"MPI_MINLOC", MPI_MINLOC, {pair}},
      {"MPI_MAXLOC", MPI_MAXLOC, {pair}},
  };
}

bool takes(const PredefinedOperator& op, const PredefinedType& type) {
  return std::find(op.groups.begin(), op.groups.end(), type.group) != op.groups.end();
}

std::vector<unsigned char> random_values(const PredefinedType& type, const PredefinedOperator& op,
                                         int count, Random& random) {
  std::vector<unsigned char> packed(static_cast<std::size_t>(count) * packed_size(type));
  unsigned char* to = packed.data();
  for (int i = 0; i < count; ++i) {
    for (const auto& scalar : type.scalars) {
      long value = exact_value(type, op, random);
      // A product of complex numbers stays a unit: one of its parts is 0.
      if (type.group == TypeGroup::complex_number && op.op == MPI_PROD &&
          &scalar != type.scalars.data()) {
        value = 0;
      }
      write_scalar(scalar, value, to);
    }
  }
  return packed;
}

std::vector<unsigned char> packed_values(const PredefinedType& type, const void* buffer,
                                         int count) {
  std::vector<unsigned char> packed(static_cast<std::size_t>(count) * packed_size(type));
  if (packed.empty()) return packed;
  int position = 0;
  MPI_Pack(buffer, count, type.type, packed.data(), static_cast<int>(packed.size()), &position,
           MPI_COMM_SELF);
  unsigned char* at = packed.data();
  for (int i = 0; i < count; ++i) {
    for (const auto& scalar : type.scalars) {
      if (scalar.floating) normalise(scalar.bytes, at);
      at += scalar.bytes;
    }
  }
  return packed;
}

ElementBuffer::ElementBuffer(const PredefinedType& type, int count) : type_(type), count_(count) {
  MPI_Aint lower_bound = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(type.type, &lower_bound, &extent);
  bytes_.resize(static_cast<std::size_t>(count) * static_cast<std::size_t>(extent) + 2 * guard);
  for (std::size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = pattern(i);
}

void ElementBuffer::fill(const std::vector<unsigned char>& packed) {
  if (packed.empty()) return;  // whose address may be null, which Open MPI refuses
  int position = 0;
  MPI_Unpack(packed.data(), static_cast<int>(packed.size()), &position, base(), count_, type_.type,
             MPI_COMM_SELF);
}

bool ElementBuffer::surroundings_untouched() {
  // What unpacking ones changes in a clear buffer is data; everything else must hold the pattern.
  ElementBuffer mask(type_, count_);
  std::fill(mask.bytes_.begin(), mask.bytes_.end(), 0);
  const std::size_t bytes = static_cast<std::size_t>(count_) * packed_size(type_);
  mask.fill(std::vector<unsigned char>(bytes, 0xff));
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    if (mask.bytes_[i] == 0 && bytes_[i] != pattern(i)) return false;
  }
  return true;
}

bool ElementBuffer::untouched() const {
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    if (bytes_[i] != pattern(i)) return false;
  }
  return true;
}

}  // namespace sibyl::test
