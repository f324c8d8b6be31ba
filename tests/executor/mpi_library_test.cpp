// Which MPI library is in use, by what it says of itself.
#include "executor/mpi_library.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

namespace sibyl::test {
namespace {

TEST(MpiLibrary, IsKnownByItsDescription) {
  EXPECT_EQ(mpi_library_of("Open MPI v5.0.11, package: Open MPI"), MpiLibrary::openmpi);
  EXPECT_EQ(mpi_library_of("MPICH Version:      5.0.2\nMPICH Release date: ..."),
            MpiLibrary::mpich);
  EXPECT_EQ(mpi_library_of("Intel(R) MPI Library 2021.18.1 for Linux* OS"), MpiLibrary::mpich);
  EXPECT_EQ(mpi_library_of("MVAPICH Version: 4.1"), MpiLibrary::mpich);
  EXPECT_EQ(mpi_library_of("Somebody's MPI 1.0"), MpiLibrary::other);
}

TEST(MpiLibrary, IsTheOneThatRuns) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  ASSERT_EQ(PMPI_Get_library_version(text, &length), MPI_SUCCESS);
  EXPECT_EQ(mpi_library(), mpi_library_of(text));
}

}  // namespace
}  // namespace sibyl::test
