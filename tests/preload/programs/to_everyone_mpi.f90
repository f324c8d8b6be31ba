! Collectives in which every rank gets a result, through the module mpi: MPI_IN_PLACE, MPI_BOTTOM with
! absolute addresses, an array section that the compiler packs, a derived type. It knows nothing of
! Sibyl.
program to_everyone
  use mpi
  implicit none
  integer, parameter :: n = 5, most = 16, room = n * most
  integer :: ierror, rank, ranks, half, round, root, i, absolute, every_second
  integer :: counts(most), places(most), send(room), recv(room), grid(2, room)
  integer(kind=MPI_ADDRESS_KIND) :: address
  character(len=5) :: name

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, ierror)
  name = 'half'
  call all_of(half)
  call MPI_Comm_free(half, ierror)
  name = 'world'
  call all_of(MPI_COMM_WORLD)
  call MPI_Finalize(ierror)

contains

  subroutine all_of(comm)
    integer, intent(in) :: comm

    call MPI_Comm_rank(comm, rank, ierror)
    call MPI_Comm_size(comm, ranks, ierror)
    call MPI_Get_address(send, address, ierror)
    call MPI_Type_create_hindexed(1, [n], [address], MPI_INTEGER, absolute, ierror)
    call MPI_Type_commit(absolute, ierror)
    call MPI_Type_vector(n, 1, 2, MPI_INTEGER, every_second, ierror)
    call MPI_Type_commit(every_second, ierror)
    do round = 1, 4
      send = [(rank * 1000 + i * 10 + round, i = 1, room)]
      recv = -1
      call MPI_Allreduce(send, recv, n, MPI_INTEGER, MPI_SUM, comm, ierror)
      call show('allreduce', round, recv)
      recv = send
      call MPI_Allreduce(MPI_IN_PLACE, recv, room, MPI_INTEGER, MPI_BXOR, comm, ierror)
      call show('allreduce in place', round, recv)
      do root = 0, ranks - 1
        recv = send
        call MPI_Bcast(recv, n, MPI_INTEGER, root, comm, ierror)
        call show('bcast', root, recv)
        grid = 3
        grid(1, :) = send
        call MPI_Bcast(grid(1, :), room, MPI_INTEGER, root, comm, ierror)
        call show('bcast of a section', root, reshape(grid, [2 * room]))
        call MPI_Bcast(grid, 1, every_second, root, comm, ierror)
        call show('bcast of every second', root, reshape(grid, [2 * room]))
        call MPI_Bcast(MPI_BOTTOM, 1, absolute, root, comm, ierror)
        call show('bcast at bottom', root, send)
      end do
      send = [(rank * 1000 + i * 10 + round, i = 1, room)]
      counts = [(mod(i + round, 4), i = 1, most)]
      places = [(n * (ranks - i), i = 1, most)]
      recv = -1
      call MPI_Reduce_scatter(send, recv, counts, MPI_INTEGER, MPI_SUM, comm, ierror)
      call show('reduce_scatter', round, recv)
      recv = send
      call MPI_Reduce_scatter(MPI_IN_PLACE, recv, counts, MPI_INTEGER, MPI_MAX, comm, ierror)
      call show('reduce_scatter in place', round, recv(:counts(rank + 1)))
      recv = -1
      call MPI_Reduce_scatter_block(send, recv, n, MPI_INTEGER, MPI_SUM, comm, ierror)
      call show('reduce_scatter_block', round, recv)
      recv = send
      call MPI_Reduce_scatter_block(MPI_IN_PLACE, recv, n, MPI_INTEGER, MPI_MIN, comm, ierror)
      call show('reduce_scatter_block in place', round, recv(:n))
      recv = -1
      call MPI_Allgather(MPI_BOTTOM, 1, absolute, recv, n, MPI_INTEGER, comm, ierror)
      call show('allgather from bottom', round, recv)
      recv(n * rank + 1:n * (rank + 1)) = round
      call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, recv, n, MPI_INTEGER, comm, ierror)
      call show('allgather in place', round, recv)
      recv = -1
      call MPI_Allgatherv(send, counts(rank + 1), MPI_INTEGER, recv, counts, places, MPI_INTEGER, &
                          comm, ierror)
      call show('allgatherv', round, recv)
      recv(places(rank + 1) + 1:places(rank + 1) + counts(rank + 1)) = -round
      call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INTEGER, recv, counts, places, MPI_INTEGER, comm, &
                          ierror)
      call show('allgatherv in place', round, recv)
      recv = -1
      call MPI_Alltoall(send, n, MPI_INTEGER, recv, n, MPI_INTEGER, comm, ierror)
      call show('alltoall', round, recv)
      recv = send
      call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, recv, n, MPI_INTEGER, comm, ierror)
      call show('alltoall in place', round, recv)
      counts = [(mod(i + rank, 4), i = 1, most)]
      recv = -1
      call MPI_Alltoallv(send, counts, places, MPI_INTEGER, recv, counts, places, MPI_INTEGER, &
                         comm, ierror)
      call show('alltoallv', round, recv)
      recv = send
      call MPI_Alltoallv(MPI_IN_PLACE, counts, places, MPI_INTEGER, recv, counts, places, &
                         MPI_INTEGER, comm, ierror)
      call show('alltoallv in place', round, recv)
      call MPI_Barrier(comm, ierror)
      call show('barrier', ierror, recv)
    end do
    call MPI_Type_free(every_second, ierror)
    call MPI_Type_free(absolute, ierror)
  end subroutine all_of

  subroutine show(what, variant, values)
    character(len=*), intent(in) :: what
    integer, intent(in) :: variant, values(:)
    integer(kind=selected_int_kind(15)) :: total
    integer :: k
    total = ierror
    do k = 1, size(values)
      total = mod(total * 31 + values(k) + 1000003, 1000000007_8)
    end do
    print '(3a,i4,a,i4,i12)', name, ' ', what, variant, ' rank', rank, total
  end subroutine show
end program to_everyone
