! Counts of 64 bits, for which MPICH's mpi_f08 has symbols of its own.
program large
  use mpi_f08
  implicit none
  integer(MPI_COUNT_KIND) :: many
  integer :: sent(10), received(10)
  call MPI_Init()
  many = 10
  sent = 1
  call MPI_Allreduce(sent, received, many, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Allgather(MPI_IN_PLACE, 0_MPI_COUNT_KIND, MPI_INTEGER, received, 3_MPI_COUNT_KIND, &
                     MPI_INTEGER, MPI_COMM_WORLD)
  call MPI_Bcast(received(1:9:2), 5_MPI_COUNT_KIND, MPI_INTEGER, 0, MPI_COMM_WORLD)
  call MPI_Finalize()
end program
