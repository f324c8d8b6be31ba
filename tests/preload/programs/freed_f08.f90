! Collectives in delete callbacks that MPI_Comm_free and MPI_Comm_disconnect call, on the communicator
! that is freed: as freed.c, by bindings that call PMPI_X. The attribute is set before the first
! collective, so that it outlives Sibyl's own.
module callbacks
  use mpi_f08
  implicit none
  integer :: calls = 0, wrong = 0
contains
  subroutine use_it(comm)
    type(MPI_Comm), intent(in) :: comm
    integer :: i, one, total, ranks, ierror
    call MPI_Comm_size(comm, ranks, ierror)
    do i = 1, 4
      one = 1
      total = -1
      call MPI_Allreduce(one, total, 1, MPI_INTEGER, MPI_SUM, comm, ierror)
      if (total /= ranks) wrong = wrong + 1
    end do
  end subroutine use_it

  subroutine on_delete(comm, key, value, extra, ierror)
    type(MPI_Comm) :: comm
    integer :: key, ierror
    integer(kind=MPI_ADDRESS_KIND) :: value, extra
    calls = calls + 1
    call use_it(comm)
    ierror = MPI_SUCCESS
  end subroutine on_delete
end module callbacks

program freed
  use callbacks
  implicit none
  type(MPI_Comm) :: comm
  integer :: key, rank, turn, ierror
  integer(kind=MPI_ADDRESS_KIND), parameter :: nothing = 0
  character(len=5) :: verdict
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, key, nothing, ierror)
  do turn = 1, 12
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
    call MPI_Comm_set_attr(comm, key, nothing, ierror)
    if (mod(turn, 4) /= 3) call use_it(comm)
    if (mod(turn, 2) == 0) then
      call MPI_Comm_free(comm, ierror)
    else
      call MPI_Comm_disconnect(comm, ierror)
    end if
    call use_it(MPI_COMM_WORLD)
  end do
  verdict = 'right'
  if (wrong /= 0) verdict = 'WRONG'
  print '(i0, a, i0, a, a)', rank, ': ', calls, ' callbacks, ', verdict
  call MPI_Finalize(ierror)
end program freed
