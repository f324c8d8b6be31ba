! Collectives of each kind from Fortran, through the binding that MPIFH, USE_MPI or USE_F08 choose; the
! last rank comes late to every reduce of the loop. Lines that tests name end in a comment.
program collectives
#if defined(USE_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#ifdef MPIFH
  include 'mpif.h'
#endif
  integer, parameter :: most = 64
  integer :: rank, size, error, i
  integer :: sent(4096), received(4096), twos(most), places(most), ones(most)
#ifdef USE_F08
  type(MPI_Request) :: requests(2)
  type(MPI_Datatype) :: types(most)
#else
  integer :: requests(2), types(most)
#endif
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  sent = rank
  twos = 2
  ones = 1
  types = MPI_INTEGER
  places = [(2 * i, i = 0, most - 1)]
  call MPI_Barrier(MPI_COMM_WORLD, error)  ! first barrier
  call MPI_Barrier(MPI_COMM_WORLD, error)  ! second barrier
  do i = 1, 5
    if (rank == size - 1) call execute_command_line('sleep 0.02')
    call MPI_Reduce(sent, received, 100, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)  ! late reduce
  end do
  call MPI_Bcast(sent, 9, MPI_INTEGER, 1, MPI_COMM_WORLD, error)
  call MPI_Allreduce(MPI_IN_PLACE, received, 10, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Scan(sent, received, 11, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Gather(sent, 3, MPI_INTEGER, received, 3, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  call MPI_Gatherv(sent, 2, MPI_INTEGER, received, twos, places, MPI_INTEGER, 1, MPI_COMM_WORLD, error)
  if (rank == 1) then
    call MPI_Scatter(sent, 4, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_INTEGER, 1, MPI_COMM_WORLD, error)
  else
    call MPI_Scatter(sent, 4, MPI_INTEGER, received, 4, MPI_INTEGER, 1, MPI_COMM_WORLD, error)
  end if
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, received, 7, MPI_INTEGER, MPI_COMM_WORLD, error)
  call MPI_Alltoall(sent, 8, MPI_INTEGER, received, 8, MPI_INTEGER, MPI_COMM_WORLD, error)
  call MPI_Alltoallv(sent, twos, places, MPI_INTEGER, received, twos, places, MPI_INTEGER, &
                     MPI_COMM_WORLD, error)
  places = 4 * places
  call MPI_Alltoallw(sent, ones, places, types, received, ones, places, types, MPI_COMM_WORLD, error)
  call MPI_Reduce_scatter_block(sent, received, 13, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Irecv(received, 1, MPI_INTEGER, mod(rank + size - 1, size), 5, MPI_COMM_WORLD, requests(1), error)
  call MPI_Isend(sent, 1, MPI_INTEGER, mod(rank + 1, size), 5, MPI_COMM_WORLD, requests(2), error)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  call MPI_Sendrecv(sent, 1, MPI_INTEGER, mod(rank + 1, size), 6, received, 1, MPI_INTEGER, &
                    mod(rank + size - 1, size), 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  if (rank == 0) print '(a)', 'done'
  call MPI_Finalize(error)
end program
