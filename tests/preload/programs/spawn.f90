! A program that starts two processes of itself; all reduce twenty times in their own world.
program spawn
  use mpi
  implicit none
  integer :: inter, ierror, i, number, total
  character(len=1024) :: self
  call MPI_Init(ierror)
  call MPI_Comm_get_parent(inter, ierror)
  if (inter == MPI_COMM_NULL) then
    call get_command_argument(0, self)
    call MPI_Comm_spawn(self, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, &
                        MPI_ERRCODES_IGNORE, ierror)
  end if
  do i = 1, 20
    number = i
    total = 0
    call MPI_Reduce(number, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  end do
  call MPI_Comm_disconnect(inter, ierror)
  call MPI_Finalize(ierror)
end program spawn
