! Collectives in which every rank gets a result, through the module mpi_f08: ierror left out, array
! sections of stride 2 as buffers, a user-defined operator in Fortran, MPI_IN_PLACE and MPI_BOTTOM. It
! knows nothing of Sibyl.
module composition
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
contains
  ! Pairs (a, b) stand for x -> a x + b; composition does not commute.
  subroutine compose(invec, inoutvec, length, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: length
    type(MPI_Datatype) :: datatype
    integer, pointer :: left(:, :), right(:, :)
    integer :: i, a, b
    call c_f_pointer(invec, left, [2, length])
    call c_f_pointer(inoutvec, right, [2, length])
    do i = 1, length
      a = mod(left(1, i) * right(1, i), 997)
      b = mod(left(1, i) * right(2, i) + left(2, i), 997)
      right(1, i) = a
      right(2, i) = b
    end do
    if (datatype%MPI_VAL == MPI_DATATYPE_NULL%MPI_VAL) right = -1
  end subroutine compose
end module composition

program to_everyone
  use mpi_f08
  use composition
  implicit none
  integer, parameter :: n = 6, most = 16, room = n * most
  integer :: rank, ranks, round, root, i, ierror
  integer :: send(room), recv(room), wide(2 * room), counts(most), places(most)
  integer(kind=MPI_ADDRESS_KIND) :: address
  type(MPI_Datatype) :: pairs, absolute
  type(MPI_Op) :: op

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Type_contiguous(2, MPI_INTEGER, pairs)
  call MPI_Type_commit(pairs)
  call MPI_Get_address(send, address)
  call MPI_Type_create_hindexed(1, [n], [address], MPI_INTEGER, absolute)
  call MPI_Type_commit(absolute)
  call MPI_Op_create(compose, .false., op)
  do round = 1, 4
    send = [(mod(rank * 17 + i * 5 + round, 97) + 1, i = 1, room)]
    recv = -1
    call MPI_Allreduce(send, recv, n, pairs, op, MPI_COMM_WORLD)
    call show('allreduce affine', round, recv)
    recv = send
    call MPI_Allreduce(MPI_IN_PLACE, recv, room, MPI_INTEGER, MPI_BXOR, MPI_COMM_WORLD, ierror)
    call show('allreduce in place', round + ierror, recv)
    do root = 0, ranks - 1
      wide = [(i * rank, i = 1, 2 * room)]
      call MPI_Bcast(wide(2::2), room, MPI_INTEGER, root, MPI_COMM_WORLD)
      call show('bcast of a section', root, wide)
      call MPI_Bcast(MPI_BOTTOM, 1, absolute, root, MPI_COMM_WORLD, ierror)
      call show('bcast at bottom', root + ierror, send)
    end do
    send = [(mod(rank * 17 + i * 5 + round, 97) + 1, i = 1, room)]
    counts = [(mod(i + round, 4), i = 1, most)]
    places = [(n * (ranks - i), i = 1, most)]
    recv = -1
    call MPI_Reduce_scatter(send, recv, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call show('reduce_scatter', round, recv)
    recv = send
    call MPI_Reduce_scatter(MPI_IN_PLACE, recv, counts, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierror)
    call show('reduce_scatter in place', round + ierror, recv(:counts(rank + 1)))
    recv = -1
    call MPI_Reduce_scatter_block(send, recv, n / 2, pairs, op, MPI_COMM_WORLD)
    call show('reduce_scatter_block affine', round, recv)
    recv = send
    call MPI_Reduce_scatter_block(MPI_IN_PLACE, recv, n, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD, ierror)
    call show('reduce_scatter_block in place', round + ierror, recv(:n))
    wide = -1
    call MPI_Allgather(send, n, MPI_INTEGER, wide(1::2), n, MPI_INTEGER, MPI_COMM_WORLD)
    call show('allgather to a section', round, wide)
    recv = -1
    call MPI_Allgather(MPI_BOTTOM, 1, absolute, recv, n / 2, pairs, MPI_COMM_WORLD, ierror)
    call show('allgather from bottom', round + ierror, recv)
    recv(n * rank + 1:n * (rank + 1)) = round
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, recv, n, MPI_INTEGER, MPI_COMM_WORLD)
    call show('allgather in place', round, recv)
    recv = -1
    call MPI_Allgatherv(send, counts(rank + 1), MPI_INTEGER, recv, counts, places, MPI_INTEGER, &
                        MPI_COMM_WORLD)
    call show('allgatherv', round, recv)
    recv(places(rank + 1) + 1:places(rank + 1) + counts(rank + 1)) = -round
    call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INTEGER, recv, counts, places, MPI_INTEGER, &
                        MPI_COMM_WORLD, ierror)
    call show('allgatherv in place', round + ierror, recv)
    wide = [(i * 7 + rank, i = 1, 2 * room)]
    recv = -1
    call MPI_Alltoall(wide(2::2), n, MPI_INTEGER, recv, n / 2, pairs, MPI_COMM_WORLD)
    call show('alltoall of a section', round, recv)
    recv = send
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, recv, n, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call show('alltoall in place', round + ierror, recv)
    counts = [(mod(i + rank, 4), i = 1, most)]
    recv = -1
    call MPI_Alltoallv(send, counts, places, MPI_INTEGER, recv, counts, places, MPI_INTEGER, &
                       MPI_COMM_WORLD)
    call show('alltoallv', round, recv)
    recv = send
    call MPI_Alltoallv(MPI_IN_PLACE, counts, places, MPI_INTEGER, recv, counts, places, MPI_INTEGER, &
                       MPI_COMM_WORLD, ierror)
    call show('alltoallv in place', round + ierror, recv)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call show('barrier', ierror, recv)
  end do
  call MPI_Op_free(op)
  call MPI_Type_free(absolute)
  call MPI_Type_free(pairs)
  call MPI_Finalize()

contains

  subroutine show(what, variant, values)
    character(len=*), intent(in) :: what
    integer, intent(in) :: variant, values(:)
    integer(kind=selected_int_kind(15)) :: total
    integer :: k
    total = 0
    do k = 1, size(values)
      total = mod(total * 31 + values(k) + 1000003, 1000000007_8)
    end do
    print '(a,i4,a,i4,i12)', what, variant, ' rank', rank, total
  end subroutine show
end program to_everyone
