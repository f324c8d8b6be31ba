// The operators of the scan benchmark, with their datatypes, inputs and the comparison of results.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sibyl::bench {

// An operator and the type of its elements; made and freed on every rank alike.
class Operator {
 public:
  // Names: bxor, matrix, modular. Anything else gives an operator that is not valid().
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

  // Fills `count` elements with values that differ from rank to rank.
  void fill(void* data, int count, int rank) const;
  // Exactly for integers, within rounding for doubles.
  bool same(const void* a, const void* b, int count) const;

 private:
  std::string name_;
  MPI_Op op_ = MPI_OP_NULL;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  bool commutes_ = true;
  bool owned_ = false;
  std::size_t element_bytes_ = 0;
};

}  // namespace sibyl::bench
