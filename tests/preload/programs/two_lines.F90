! Two reduces of one size on two lines - allreduces, where an argument says so - with another rank
! late before each: rank 1 before the first, rank 2 before the second. Prints OK. With -DF08 by
! mpi_f08, with -DSIBYL by Sibyl's module.
program two_lines
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
#ifdef SIBYL
  use sibyl
#define REDUCE SIBYL_Reduce
#define ALLREDUCE SIBYL_Allreduce
#else
#define REDUCE MPI_Reduce
#define ALLREDUCE MPI_Allreduce
#endif
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  interface
    function usleep(microseconds) bind(C)
      import :: c_int
      integer(c_int), value :: microseconds
      integer(c_int) :: usleep
    end function usleep
  end interface
  integer, parameter :: steps = 40, length = 2**18
  integer, allocatable :: own(:), total(:)
  integer :: rank, size, step, first, expected, error
  logical :: right

  allocate (own(length), total(length))
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  right = .true.
  do step = 0, steps - 1
    own = step + rank
    total = 0
    if (command_argument_count() > 0) then
      call come_late(1)
      call ALLREDUCE(own, total, length, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
      first = total(length)
      call come_late(2)
      call ALLREDUCE(own, total, length, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    else
      call come_late(1)
      call REDUCE(own, total, length, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
      first = total(length)
      call come_late(2)
      call REDUCE(own, total, length, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
    end if
    expected = size * step + size * (size - 1) / 2
    if (rank == 0) right = right .and. first == expected .and. total(1) == expected
  end do
  if (rank == 0) print '(a)', merge('OK   ', 'wrong', right)
  call MPI_Finalize(error)

contains

  subroutine come_late(late)
    integer, intent(in) :: late
    integer(c_int) :: done
    call MPI_Barrier(MPI_COMM_WORLD, error)
    if (rank == late) done = usleep(20000)
  end subroutine come_late

end program two_lines
