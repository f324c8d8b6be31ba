// The operators of the benchmark, with their datatypes, inputs and the comparison of results. A
// collective without an operator takes only the datatype and the contents.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sibyl::bench {

// An operator and the type of its elements; made and freed on every rank alike.
class Operator {
 public:
  // Names: sum, int-sum, bxor, matrix, modular. Anything else gives an operator that is not
  // valid().
  explicit Operator(std::string_view name);
  ~Operator();
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  bool valid() const { return op_ != MPI_OP_NULL; }
  const std::string& name() const { return name_; }
  MPI_Op op() const { return op_; }
  MPI_Datatype type() const { return type_; }
  bool commutes() const { return commutes_; }
  std::size_t element_bytes() const { return element_bytes_; }

  // Fills `count` elements with values that differ from rank to rank and, where the operator
  // commutes, from iteration to iteration: elements `first` on of that rank's vector.
  void fill(void* data, int count, int rank, std::uint64_t iteration, int first = 0) const;
  // Makes of the result of iteration 0 over ranks 0 .. ranks-1 that of another iteration.
  void move_to(void* result, int count, int ranks, std::uint64_t iteration) const;
  // Exactly but for `matrix`, which rounds.
  bool same(const void* a, const void* b, int count) const;

 private:
  bool adds() const { return name_ == "sum" || name_ == "int-sum"; }
  // What iteration adds to every element of a rank.
  std::uint64_t change(int rank, std::uint64_t iteration) const;

  std::string name_;
  MPI_Op op_ = MPI_OP_NULL;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  bool commutes_ = true;
  bool owned_ = false;
  std::size_t element_bytes_ = 0;
};

}  // namespace sibyl::bench
