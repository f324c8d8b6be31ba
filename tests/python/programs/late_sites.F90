! Known ranks are late at known lines of a Fortran program; see late_sites.c.
module work
  use, intrinsic :: iso_c_binding, only: c_int
  use mpi
  implicit none
  interface
    integer(c_int) function usleep(microseconds) bind(c)
      import :: c_int
      integer(c_int), value :: microseconds
    end function
  end interface
contains
  subroutine step(own, all, rank)
    double precision, intent(in) :: own(:)
    double precision, intent(inout) :: all(:)
    integer, intent(in) :: rank
    integer :: ierror
    call wait_if(rank, 1)
    call MPI_Allreduce(own, all, 100, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror) ! at allreduce
  end subroutine

  subroutine wait_if(rank, late)
    integer, intent(in) :: rank, late
    integer :: ierror
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    if (rank == late) ierror = usleep(60000_c_int)
  end subroutine
end module

program late_sites
  use work
  implicit none
  double precision :: own(100), all(100)
  integer :: rank, ierror, call_number
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  own = rank
  do call_number = 1, 12
    call step(own, all, rank)
  end do
  call MPI_Finalize(ierror)
end program
