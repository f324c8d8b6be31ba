! The four collectives through the module mpi_f08: ierror left out, array sections of stride 2 as
! buffers, a user-defined operator in Fortran, MPI_IN_PLACE and MPI_BOTTOM. It knows nothing of Sibyl.
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

program collectives_f08
  use mpi_f08
  use composition
  implicit none
  integer, parameter :: n = 6, rounds = 4, most = 64
  integer :: rank, ranks, round, root, i, ierror
  integer :: send(2 * n), recv(2 * n), wide(4 * n), all(2 * n * most), wide_all(4 * n * most)
  integer, allocatable :: counts(:), places(:)
  integer(kind=MPI_ADDRESS_KIND) :: address
  type(MPI_Datatype) :: pairs, absolute
  type(MPI_Op) :: op

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Type_contiguous(2, MPI_INTEGER, pairs)
  call MPI_Type_commit(pairs)
  call MPI_Get_address(send, address)
  call MPI_Type_create_hindexed(1, [2 * n], [address], MPI_INTEGER, absolute)
  call MPI_Type_commit(absolute)
  call MPI_Op_create(compose, .false., op)
  do round = 1, rounds
    send = [(mod(rank * 17 + i * 5 + round, 97) + 1, i = 1, 2 * n)]
    recv = -1
    call MPI_Exscan(send, recv, 2 * n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call show('exscan', round, recv)
    call MPI_Exscan(send, recv, n, pairs, op, MPI_COMM_WORLD)
    call show('exscan affine', round, recv)
    recv = send
    call MPI_Exscan(MPI_IN_PLACE, recv, 2 * n, MPI_INTEGER, MPI_BXOR, MPI_COMM_WORLD, ierror)
    call show('exscan in place', round + ierror, recv)
    call MPI_Scan(send, recv, n, pairs, op, MPI_COMM_WORLD)
    call show('scan affine', round, recv)
    recv = send
    call MPI_Scan(MPI_IN_PLACE, recv, 2 * n, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
    call show('scan in place', round, recv)
    do root = 0, ranks - 1
      recv = -1
      call MPI_Reduce(send, recv, n, pairs, op, root, MPI_COMM_WORLD)
      call show('reduce affine', root, recv)
      recv = send
      if (rank == root) then
        call MPI_Reduce(MPI_IN_PLACE, recv, 2 * n, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, ierror)
      else
        call MPI_Reduce(send, recv, 2 * n, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD)
      end if
      call show('reduce in place', root, recv)
      wide = [(i + rank, i = 1, 4 * n)]
      wide_all = -3
      all = -4
      call MPI_Gather(wide(1::2), 2 * n, MPI_INTEGER, all, 2 * n, MPI_INTEGER, root, MPI_COMM_WORLD)
      call show('gather from section', root, all)
      call MPI_Gather(send, 2 * n, MPI_INTEGER, wide_all(1:4 * n * ranks:2), 2 * n, MPI_INTEGER, &
                      root, MPI_COMM_WORLD)
      call show('gather to section', root, wide_all)
      call MPI_Gather(MPI_BOTTOM, 1, absolute, all, n, pairs, root, MPI_COMM_WORLD)
      call show('gather from bottom', root, all)
      if (rank == root) then
        all(2 * n * root + 1:2 * n * (root + 1)) = 7
        call MPI_Gather(MPI_IN_PLACE, 0, MPI_INTEGER, all, 2 * n, MPI_INTEGER, root, MPI_COMM_WORLD)
        call show('gather in place', root, all)
        call MPI_Scatter(all, 2 * n, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_INTEGER, root, MPI_COMM_WORLD)
      else
        call MPI_Gather(send, n, pairs, all, 2 * n, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
        call MPI_Scatter(all, 2 * n, MPI_INTEGER, recv, 2 * n, MPI_INTEGER, root, MPI_COMM_WORLD)
        call show('scatter in place', root, recv)
      end if
      call MPI_Scatter(all, 2 * n, MPI_INTEGER, wide(2::2), 2 * n, MPI_INTEGER, root, MPI_COMM_WORLD)
      call show('scatter to section', root, wide)
      all = -5
      counts = [(mod(i, 3) * n, i = 1, ranks)]
      places = [(2 * n * (i - 1), i = 1, ranks)]
      call MPI_Gatherv(send, counts(rank + 1), MPI_INTEGER, all, counts, places, MPI_INTEGER, root, &
                       MPI_COMM_WORLD)
      call show('gatherv', root, all)
      recv = -6
      call MPI_Scatterv(all, counts, places, MPI_INTEGER, recv, counts(rank + 1), MPI_INTEGER, root, &
                        MPI_COMM_WORLD, ierror)
      call show('scatterv', root + ierror, recv)
    end do
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
end program collectives_f08
