! Twenty reduces and twenty gathers.
program twenty
  use mpi
  implicit none
  integer :: rank, ranks, ierror, i, number, total, all(64)
  integer(8) :: sum
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  sum = 0
  do i = 1, 20
    number = rank + i
    total = 0
    call MPI_Reduce(number, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
    call MPI_Gather(number, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    sum = sum + total
    if (rank == 0) sum = sum + all(ranks)
  end do
  if (rank == 0) print *, 'sum ', sum
  call MPI_Finalize(ierror)
end program twenty
