// Operators and the types that they take, with what they compute worked out by the test.
//
// Predefined operators on every type that MPI 4.1, sections 6.9.2 and 6.9.4, has for C; and two
// operators of a user on any derived type: a sum, which commutes, and a product of 2x2 matrices
// modulo a prime, which does not. Values are such that every order of evaluation gives the same.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "collectives/reference_buffers.hpp"

namespace sibyl::reference {

enum class Operator : std::uint8_t {
  max,
  min,
  sum,
  prod,
  land,
  lor,
  lxor,
  band,
  bor,
  bxor,
  minloc,
  maxloc,
  user_sum,
  user_product,
};
constexpr std::size_t predefined_operator_count = 12;
inline bool is_users(Operator op) { return op >= Operator::user_sum; }
inline bool commutes(Operator op) { return op != Operator::user_product; }
const char* name_of(Operator op);
MPI_Op handle_of(Operator op);  // of a predefined one

// A predefined type. Elements are given packed: the bytes of the layout's pieces one after the
// other.
struct OperandType {
  const char* name;
  MPI_Datatype type;
  Layout layout;
  std::vector<Operator> operators;
  // right := left (op) right
  void (*combine)(Operator op, const unsigned char* left, unsigned char* right);
  void (*draw)(Operator op, Random& random, unsigned char* to);
  // Makes equal what means the same: padding, zeros with a sign.
  void (*clean)(unsigned char* element);
};
// Those that this MPI has.
const std::vector<OperandType>& operand_types();

// The signature of `matrices` 2x2 matrices of random integer types.
Signature signature_of_matrices(int matrices, Random& random);
void combine_by_user(Operator op, const Signature& signature, const unsigned char* left,
                     unsigned char* right);
void draw_for_user(Operator op, const Signature& signature, Random& random, unsigned char* to);

// An operator of a user on one datatype, as MPI has it. One at a time in a process: MPI hands an
// operator no context.
class UserOperator {
 public:
  UserOperator(Operator op, const Signature& signature, const Type& type);
  ~UserOperator();
  UserOperator(const UserOperator&) = delete;
  UserOperator& operator=(const UserOperator&) = delete;
  MPI_Op handle() const { return handle_; }

 private:
  MPI_Op handle_ = MPI_OP_NULL;
};

}  // namespace sibyl::reference
