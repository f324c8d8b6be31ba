! Known ranks are late at known lines of a Fortran program; see late_sites.c.
module work
  use, intrinsic :: iso_c_binding, only: c_int, c_long
  use mpi
  implicit none
  interface
    integer(c_int) function usleep(microseconds) bind(c)
      import :: c_int
      integer(c_int), value :: microseconds
    end function
    integer(c_int) function clock_gettime(clock, now) bind(c)
      import :: c_int, c_long
      integer(c_int), value :: clock
      integer(c_long), intent(out) :: now(2)
    end function
  end interface
  integer :: arrivals = -1 ! unit; see late_sites.c
contains
  subroutine step(own, all, rank)
    double precision, intent(in) :: own(:)
    double precision, intent(inout) :: all(:)
    integer, intent(in) :: rank
    integer :: ierror
    call wait_if(rank, 1)
    call arrive('allreduce')
    call MPI_Allreduce(own, all, 100, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror) ! at allreduce
  end subroutine

  subroutine note_arrivals(rank)
    integer, intent(in) :: rank
    character(len=4096) :: folder
    character(len=16) :: name
    call get_environment_variable('ARRIVALS', folder)
    if (folder == '') return
    write (name, '(i0)') rank
    open (newunit=arrivals, file=trim(folder)//'/'//trim(name))
  end subroutine

  subroutine arrive(site)
    character(len=*), intent(in) :: site
    integer(c_int), parameter :: monotonic = 1
    integer(c_long) :: now(2)
    integer(c_int) :: error
    if (arrivals == -1) return
    error = clock_gettime(monotonic, now)
    write (arrivals, '(a, 1x, i0)') site, now(1) * 1000000000_c_long + now(2)
  end subroutine

  subroutine wait_if(rank, late)
    integer, intent(in) :: rank, late
    integer :: ierror
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    if (rank == late) ierror = usleep(40000_c_int)
  end subroutine
end module

program late_sites
  use work
  implicit none
  double precision :: own(100), all(100)
  integer :: rank, ierror, call_number
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call note_arrivals(rank)
  own = rank
  do call_number = 1, 24
    call step(own, all, rank)
  end do
  call MPI_Finalize(ierror)
end program
