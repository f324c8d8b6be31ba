// One call of SIBYL_Reduce beside the MPI library's own, or by definition: what the tests of reduce
// are made of. What is drawn from `random` is the same on all ranks of the communicator.
#pragma once

#include "collectives/matrices.hpp"
#include "collectives/predefined.hpp"

namespace sibyl::test {

// Lets an algorithm serve, with segments where one cuts the vector as it is told.
void serve_reduce_by(Served& served, const Algorithm* row, Random& random, bool commutes = true);

// A predefined operator, any root, now and then in place, against the native call.
void compare_reduce(Served& served, const PredefinedType& type, const PredefinedOperator& op,
                    int count, Random& random);

// A user's operator on one layout, with every byte of the buffers checked; `combined` is what the
// operator does to two elements.
void check_reduce_layout(Served& served, const Layout& layout, MPI_Op op,
                         Matrix (*combined)(const Matrix&, const Matrix&), int count,
                         Random& random);

// Layouts in turn, the plain ones where the MPI library serves: both libraries' own reduces fail on
// elements that run backwards or lie apart.
const Layout& layout_for(const Served& served, const Layouts& layouts, std::uint64_t number);

// Sums of the components, modulo 2^32: commutative in every layout.
void add_components(void* left, void* right, int* count, MPI_Datatype* type);
Matrix sum_of(const Matrix& a, const Matrix& b);

}  // namespace sibyl::test
