// Serial predefined operators; see reference_operators.hpp.
#include "collectives/reference_operators.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>

namespace sibyl::reference {
namespace {

template <class T>
constexpr bool is_complex = false;
template <class T>
constexpr bool is_complex<std::complex<T>> = true;

template <class T>
T combined(Operator op, const T& a, const T& b) {
  if (op == Operator::sum) return static_cast<T>(a + b);
  if (op == Operator::prod) return static_cast<T>(a * b);
  if constexpr (!is_complex<T>) {
    if (op == Operator::max) return std::max(a, b);
    if (op == Operator::min) return std::min(a, b);
  }
  if constexpr (std::is_integral_v<T>) {
    const bool left = a != T{};
    const bool right = b != T{};
    if (op == Operator::land) return static_cast<T>(left && right);
    if (op == Operator::lor) return static_cast<T>(left || right);
    if (op == Operator::lxor) return static_cast<T>(left != right);
    if (op == Operator::band) return static_cast<T>(a & b);
    if (op == Operator::bor) return static_cast<T>(a | b);
    if (op == Operator::bxor) return static_cast<T>(a ^ b);
  }
  return b;
}

template <class T>
void combine_numbers(Operator op, const unsigned char* left, unsigned char* right) {
  write(combined(op, read<T>(left), read<T>(right)), right);
}

// Open MPI 4.1 compares MPI_UNSIGNED_LONG as signed, MPICH 4.0 all unsigned types (MPI_Reduce_local
// alone shows it); Open MPI 5.0 and MPICH 5.0 do not.
#if defined(OPEN_MPI)
constexpr bool unsigned_is_compared = OMPI_MAJOR_VERSION >= 5;
#elif defined(MPI_ABI_VERSION)
constexpr bool unsigned_is_compared = true;
#else
constexpr bool unsigned_is_compared = MPICH_NUMVERSION >= 50000000;
#endif

// Sums and products over 16 ranks are exact and do not overflow: Open MPI's vectorised sums of
// short integers saturate where its others wrap.
template <class T>
void draw_number(Operator op, Random& random, unsigned char* to) {
  if constexpr (is_complex<T>) {
    const auto sign = [&] { return one_in(random, 2) ? 1 : -1; };
    const auto small = [&] { return static_cast<int>(between(random, -20, 20)); };
    using Part = typename T::value_type;
    const bool product = op == Operator::prod;  // a unit stays one
    const Part real = static_cast<Part>(product ? sign() : small());
    const Part imaginary = static_cast<Part>(product ? 0 : small());
    write(T(real, imaginary), to);
  } else if constexpr (std::is_floating_point_v<T>) {
    const auto value =
        op == Operator::prod ? (one_in(random, 2) ? 1 : -1) : between(random, -20, 20);
    write(static_cast<T>(value), to);
  } else if constexpr (std::is_same_v<T, bool>) {
    write(one_in(random, 2), to);
  } else {
    std::uint64_t value = random();
    if (op == Operator::sum) value = pick(random, 8);
    if (op == Operator::prod) value = pick(random, 2) + (sizeof(T) > 2 ? 1 : 0);
    if (op == Operator::land || op == Operator::lor || op == Operator::lxor) {
      value = pick(random, 3);
    }
    const bool compared = op == Operator::max || op == Operator::min;
    if (compared && std::is_unsigned_v<T> && !unsigned_is_compared) {
      value &= static_cast<std::uint64_t>(std::numeric_limits<T>::max() / 2);
    }
    write(static_cast<T>(value), to);
  }
}

// Addresses, offsets and counts are not negative: Open MPI compares MPI_OFFSET as unsigned.
template <class T>
void draw_offset(Operator op, Random& random, unsigned char* to) {
  draw_number<T>(op, random, to);
  write(static_cast<T>(read<T>(to) & std::numeric_limits<T>::max()), to);
}

void clean_nothing(unsigned char*) {}

// A long double has ten bytes of value in 16 on x86.
template <class T>
void clean_float(unsigned char* at) {
  T value = read<T>(at);
  if (value == T{}) value = T{};
  std::memset(at, 0, sizeof value);
  constexpr std::size_t bytes = std::numeric_limits<T>::digits == 64 ? 10 : sizeof(T);
  std::memcpy(at, &value, bytes);
}

template <class T>
void clean_number(unsigned char* at) {
  if constexpr (is_complex<T>) {
    clean_float<typename T::value_type>(at);
    clean_float<typename T::value_type>(at + sizeof(typename T::value_type));
  } else if constexpr (std::is_floating_point_v<T>) {
    clean_float<T>(at);
  }
}

// Packed: the value and then the index.
template <class T>
void combine_pairs(Operator op, const unsigned char* left, unsigned char* right) {
  const T a = read<T>(left);
  const T b = read<T>(right);
  const int i = read<int>(left + sizeof(T));
  const int j = read<int>(right + sizeof(T));
  const bool left_wins = op == Operator::maxloc ? a > b : a < b;
  if (left_wins) write(a, right);
  if (left_wins || (a == b && i < j)) write(i, right + sizeof(T));
}

template <class T>
void draw_pair(Operator, Random& random, unsigned char* to) {
  write(static_cast<T>(pick(random, 4)), to);  // equal values are frequent
  write(static_cast<int>(pick(random, 5)), to + sizeof(T));
}

template <class T>
void clean_pair(unsigned char* at) {
  clean_number<T>(at);
}

const std::vector<Operator> arithmetic{Operator::max, Operator::min, Operator::sum, Operator::prod};
const std::vector<Operator> logical{Operator::land, Operator::lor, Operator::lxor};
const std::vector<Operator> bitwise{Operator::band, Operator::bor, Operator::bxor};
const std::vector<Operator> located{Operator::minloc, Operator::maxloc};

std::vector<Operator> joined(std::initializer_list<std::vector<Operator>> lists) {
  std::vector<Operator> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

template <class T>
OperandType number(const char* name, MPI_Datatype type, std::vector<Operator> operators) {
  constexpr auto bytes = static_cast<std::ptrdiff_t>(sizeof(T));
  return {name,
          type,
          {{{0, bytes}}, bytes, sizeof(T)},
          std::move(operators),
          &combine_numbers<T>,
          &draw_number<T>,
          std::is_integral_v<T> ? &clean_nothing : &clean_number<T>};
}

template <class T>
OperandType offset(const char* name, MPI_Datatype type) {
  OperandType made = number<T>(name, type, joined({arithmetic, bitwise}));
  made.draw = &draw_offset<T>;
  return made;
}

template <class T>
OperandType pair(const char* name, MPI_Datatype type) {
  struct Both {
    T value;
    int index;
  };
  constexpr auto value = static_cast<std::ptrdiff_t>(sizeof(T));
  constexpr auto index = static_cast<std::ptrdiff_t>(sizeof(int));
  return {name,
          type,
          {{{0, value}, {offsetof(Both, index), index}}, sizeof(Both), sizeof(T) + sizeof(int)},
          located,
          &combine_pairs<T>,
          &draw_pair<T>,
          &clean_pair<T>};
}

}  // namespace

const char* name_of(Operator op) {
  constexpr std::array names{"MPI_MAX",    "MPI_MIN",
                             "MPI_SUM",    "MPI_PROD",
                             "MPI_LAND",   "MPI_LOR",
                             "MPI_LXOR",   "MPI_BAND",
                             "MPI_BOR",    "MPI_BXOR",
                             "MPI_MINLOC", "MPI_MAXLOC",
                             "user's sum", "user's product of matrices"};
  return names[static_cast<std::size_t>(op)];
}

MPI_Op handle_of(Operator op) {
  const std::array<MPI_Op, predefined_operator_count> handles{
      MPI_MAX,  MPI_MIN,  MPI_SUM, MPI_PROD, MPI_LAND,   MPI_LOR,
      MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC};
  return handles[static_cast<std::size_t>(op)];
}

const std::vector<OperandType>& operand_types() {
  static const std::vector<OperandType> types = [] {
    const auto integer = joined({arithmetic, logical, bitwise});
    const std::vector<Operator> field{Operator::sum, Operator::prod};
    return std::vector<OperandType>{
        number<signed char>("MPI_SIGNED_CHAR", MPI_SIGNED_CHAR, integer),
        number<unsigned char>("MPI_UNSIGNED_CHAR", MPI_UNSIGNED_CHAR, integer),
        number<short>("MPI_SHORT", MPI_SHORT, integer),
        number<unsigned short>("MPI_UNSIGNED_SHORT", MPI_UNSIGNED_SHORT, integer),
        number<int>("MPI_INT", MPI_INT, integer),
        number<unsigned>("MPI_UNSIGNED", MPI_UNSIGNED, integer),
        number<long>("MPI_LONG", MPI_LONG, integer),
        number<unsigned long>("MPI_UNSIGNED_LONG", MPI_UNSIGNED_LONG, integer),
        number<long long>("MPI_LONG_LONG", MPI_LONG_LONG, integer),
        number<unsigned long long>("MPI_UNSIGNED_LONG_LONG", MPI_UNSIGNED_LONG_LONG, integer),
        number<std::int8_t>("MPI_INT8_T", MPI_INT8_T, integer),
        number<std::int16_t>("MPI_INT16_T", MPI_INT16_T, integer),
        number<std::int32_t>("MPI_INT32_T", MPI_INT32_T, integer),
        number<std::int64_t>("MPI_INT64_T", MPI_INT64_T, integer),
        number<std::uint8_t>("MPI_UINT8_T", MPI_UINT8_T, integer),
        number<std::uint16_t>("MPI_UINT16_T", MPI_UINT16_T, integer),
        number<std::uint32_t>("MPI_UINT32_T", MPI_UINT32_T, integer),
        number<std::uint64_t>("MPI_UINT64_T", MPI_UINT64_T, integer),
        offset<MPI_Aint>("MPI_AINT", MPI_AINT),
        offset<MPI_Offset>("MPI_OFFSET", MPI_OFFSET),
        offset<MPI_Count>("MPI_COUNT", MPI_COUNT),
        number<float>("MPI_FLOAT", MPI_FLOAT, arithmetic),
        number<double>("MPI_DOUBLE", MPI_DOUBLE, arithmetic),
        number<long double>("MPI_LONG_DOUBLE", MPI_LONG_DOUBLE, arithmetic),
        number<bool>("MPI_C_BOOL", MPI_C_BOOL, logical),
        number<std::complex<float>>("MPI_C_FLOAT_COMPLEX", MPI_C_FLOAT_COMPLEX, field),
        number<std::complex<double>>("MPI_C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX, field),
        number<std::complex<long double>>("MPI_C_LONG_DOUBLE_COMPLEX", MPI_C_LONG_DOUBLE_COMPLEX,
                                          field),
        number<unsigned char>("MPI_BYTE", MPI_BYTE, bitwise),
        pair<float>("MPI_FLOAT_INT", MPI_FLOAT_INT),
        pair<double>("MPI_DOUBLE_INT", MPI_DOUBLE_INT),
        pair<long>("MPI_LONG_INT", MPI_LONG_INT),
        pair<int>("MPI_2INT", MPI_2INT),
        pair<short>("MPI_SHORT_INT", MPI_SHORT_INT),
        pair<long double>("MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE_INT),
    };
  }();
  return types;
}

}  // namespace sibyl::reference
