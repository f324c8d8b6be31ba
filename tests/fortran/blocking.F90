! Blocking collectives of the modules sibyl and sibyl_f08 (with -DF08) in which every rank gets a
! result, with results that are known in advance. Prints what is wrong and ends with an error where
! something is.
program blocking
#ifdef F08
  use mpi_f08
  use sibyl_f08
#define HANDLE(kind) type(kind)
#else
  use mpi
  use sibyl
#define HANDLE(kind) integer
#endif
  implicit none
  integer, parameter :: n = 3, most = 16, room = n * most
  integer :: rank, ranks, error, wrong, call_number, i, r, class
  integer :: send(room), recv(room), counts(most), places(most)
  integer(kind=MPI_ADDRESS_KIND) :: address
  HANDLE(MPI_Comm) :: comm
  HANDLE(MPI_Datatype) :: absolute

  call MPI_Init(error)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, error)
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, error)
  call MPI_Comm_rank(comm, rank, error)
  call MPI_Comm_size(comm, ranks, error)
  call MPI_Get_address(recv, address, error)
  call MPI_Type_create_hindexed(1, [n], [address], MPI_INTEGER, absolute, error)
  call MPI_Type_commit(absolute, error)
  wrong = 0
  do call_number = 1, 5
    send = [(1000 * rank + i, i = 1, room)]
    recv = -1
    call SIBYL_Allreduce(send, recv, n, MPI_INTEGER, MPI_SUM, comm, error)
    call expect(error == MPI_SUCCESS, 'ierror of allreduce')
    call expect(all(recv(:n) == [(1000 * sum_below(ranks) + ranks * i, i = 1, n)]), 'allreduce')
    recv = send
    call SIBYL_Allreduce(MPI_IN_PLACE, recv, n, MPI_INTEGER, MPI_MAX, comm)
    call expect(all(recv(:n) == [(1000 * (ranks - 1) + i, i = 1, n)]), 'allreduce in place')
    do r = 0, ranks - 1
      recv = send
      call SIBYL_Bcast(recv, n, MPI_INTEGER, r, comm)
      call expect(all(recv(:n) == [(1000 * r + i, i = 1, n)]), 'bcast')
      recv = -send
      call SIBYL_Bcast(MPI_BOTTOM, 1, absolute, r, comm, error)
      call expect(error == MPI_SUCCESS, 'ierror of bcast')
      call expect(all(recv(:n) == [(-1000 * r - i, i = 1, n)]), 'bcast at bottom')
    end do

    counts = [(mod(r, 3) + 1, r = 0, most - 1)]
    places = [(n * (ranks - 1 - r), r = 0, most - 1)]
    i = sum(counts(:rank))
    recv = -1
    call SIBYL_Reduce_scatter(send, recv, counts, MPI_INTEGER, MPI_MAX, comm)
    call expect(all(recv(:counts(rank + 1)) == 1000 * (ranks - 1) + [(i + r, r = 1, &
        counts(rank + 1))]), 'reduce_scatter')
    recv = send
    call SIBYL_Reduce_scatter(MPI_IN_PLACE, recv, counts, MPI_INTEGER, MPI_MIN, comm)
    call expect(all(recv(:counts(rank + 1)) == [(i + r, r = 1, counts(rank + 1))]), &
        'reduce_scatter in place')
    call SIBYL_Reduce_scatter_block(send, recv, n, MPI_INTEGER, MPI_MAX, comm)
    call expect(all(recv(:n) == [(1000 * (ranks - 1) + n * rank + i, i = 1, n)]), &
        'reduce_scatter_block')
    recv = send
    call SIBYL_Reduce_scatter_block(MPI_IN_PLACE, recv, n, MPI_INTEGER, MPI_MIN, comm)
    call expect(all(recv(:n) == [(n * rank + i, i = 1, n)]), 'reduce_scatter_block in place')

    recv = -1
    call SIBYL_Allgather(send, n, MPI_INTEGER, recv, n, MPI_INTEGER, comm)
    do r = 0, ranks - 1
      call expect(all(block(r) == [(1000 * r + i, i = 1, n)]), 'allgather')
    end do
    recv(n * rank + 1:n * (rank + 1)) = -rank
    call SIBYL_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, recv, n, MPI_INTEGER, comm)
    do r = 0, ranks - 1
      call expect(all(block(r) == -r), 'allgather in place')
    end do
    recv = -1
    call SIBYL_Allgatherv(send, counts(rank + 1), MPI_INTEGER, recv, counts, places, MPI_INTEGER, &
        comm)
    call expect_irregular(1000, 'allgatherv')
    recv(places(rank + 1) + 1:places(rank + 1) + counts(rank + 1)) = &
        [(-7 * rank + i, i = 1, counts(rank + 1))]
    call SIBYL_Allgatherv(MPI_IN_PLACE, 0, MPI_INTEGER, recv, counts, places, MPI_INTEGER, comm)
    call expect_irregular(-7, 'allgatherv in place')

    call SIBYL_Alltoall(send, n, MPI_INTEGER, recv, n, MPI_INTEGER, comm)
    do r = 0, ranks - 1
      call expect(all(block(r) == [(1000 * r + n * rank + i, i = 1, n)]), 'alltoall')
    end do
    recv = send
    call SIBYL_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, recv, n, MPI_INTEGER, comm)
    do r = 0, ranks - 1
      call expect(all(block(r) == [(1000 * r + n * rank + i, i = 1, n)]), 'alltoall in place')
    end do
    counts = [(mod(rank + r, n + 1), r = 0, most - 1)]
    recv = -1
    call SIBYL_Alltoallv(send, counts, places, MPI_INTEGER, recv, counts, places, MPI_INTEGER, comm)
    call expect_exchanged('alltoallv')
    recv = send
    call SIBYL_Alltoallv(MPI_IN_PLACE, counts, places, MPI_INTEGER, recv, counts, places, &
        MPI_INTEGER, comm)
    call expect_exchanged('alltoallv in place')
    call SIBYL_Barrier(comm)
    call SIBYL_Barrier(comm, error)
    call expect(error == MPI_SUCCESS, 'ierror of barrier')
  end do

  call SIBYL_Bcast(recv, n, MPI_INTEGER, ranks, comm, error)
  call MPI_Error_class(error, class, i)
  call expect(class == MPI_ERR_ROOT, 'class of a root that there is not')
  call SIBYL_Allreduce(send, recv, -1, MPI_INTEGER, MPI_SUM, comm, error)
  call MPI_Error_class(error, class, i)
  call expect(class == MPI_ERR_COUNT, 'class of a negative count')

  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, comm, error)
  call MPI_Type_free(absolute, error)
  call MPI_Comm_free(comm, error)
  call MPI_Finalize(error)
  if (wrong /= 0) error stop 1
  if (rank == 0) print '(a, i0, a)', 'right on ', ranks, ' ranks'

contains

  integer function sum_below(number)
    integer, intent(in) :: number
    sum_below = number * (number - 1) / 2
  end function sum_below

  function block(of_rank)
    integer, intent(in) :: of_rank
    integer :: block(n)
    block = recv(n * of_rank + 1:n * (of_rank + 1))
  end function block

  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    if (holds) return
    wrong = wrong + 1
    print '(a, i0, a, i0, 2a)', 'rank ', rank, ' of ', ranks, ', wrong: ', what
  end subroutine expect

  ! Rank r's elements are factor * r + 1, ...
  subroutine expect_irregular(factor, what)
    integer, intent(in) :: factor
    character(len=*), intent(in) :: what
    integer :: of_rank, k, at
    do of_rank = 0, ranks - 1
      at = places(of_rank + 1)
      call expect(all(recv(at + 1:at + counts(of_rank + 1)) == &
          [(factor * of_rank + k, k = 1, counts(of_rank + 1))]), what)
    end do
  end subroutine expect_irregular

  subroutine expect_exchanged(what)
    character(len=*), intent(in) :: what
    integer :: of_rank, k, at, from
    from = n * (ranks - 1 - rank)
    do of_rank = 0, ranks - 1
      at = places(of_rank + 1)
      call expect(all(recv(at + 1:at + counts(of_rank + 1)) == &
          [(1000 * of_rank + from + k, k = 1, counts(of_rank + 1))]), what)
    end do
  end subroutine expect_exchanged
end program blocking
