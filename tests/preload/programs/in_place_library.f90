! A library in Fortran for loads_fortran.c.
subroutine sum_in_place(x, n, ierror)
  use mpi
  implicit none
  integer :: n, ierror
  integer :: x(n)
  call MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
end subroutine
