! The four collectives through the module mpi: derived types, MPI_IN_PLACE, MPI_BOTTOM with absolute
! addresses, packed array sections, a sub-communicator. It knows nothing of Sibyl.
program collectives_mpi
  use mpi
  implicit none
  integer, parameter :: n = 5, rounds = 4
  integer :: ierror, rank, ranks, round, root, i, half, absolute, rows
  integer :: lengths(1), counts(64), places(64)
  integer(kind=MPI_ADDRESS_KIND) :: displacement, displacements(1)
  double precision :: send(n), recv(n), table(n, 64), grid(2, n)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, ierror)
  call MPI_Comm_rank(half, rank, ierror)
  call MPI_Comm_size(half, ranks, ierror)
  call both(half, 'half')
  call MPI_Comm_free(half, ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call both(MPI_COMM_WORLD, 'world')
  call MPI_Finalize(ierror)

contains

  subroutine both(comm, name)
    integer, intent(in) :: comm
    character(len=*), intent(in) :: name
    call MPI_Get_address(send, displacement, ierror)
    lengths(1) = n
    displacements(1) = displacement
    call MPI_Type_create_hindexed(1, lengths, displacements, MPI_DOUBLE_PRECISION, absolute, ierror)
    call MPI_Type_commit(absolute, ierror)
    call MPI_Type_vector(n, 1, 2, MPI_DOUBLE_PRECISION, rows, ierror)
    call MPI_Type_commit(rows, ierror)
    do round = 1, rounds
      send = [(dble(mod(rank * 13 + i * 7 + round, 31)), i = 1, n)]
      recv = -1
      call MPI_Exscan(send, recv, n, MPI_DOUBLE_PRECISION, MPI_SUM, comm, ierror)
      call show(name // ' exscan', round, recv)
      recv = send
      call MPI_Exscan(MPI_IN_PLACE, recv, n, MPI_DOUBLE_PRECISION, MPI_MAX, comm, ierror)
      call show(name // ' exscan in place', round, recv)
      call MPI_Scan(send, recv, n, MPI_DOUBLE_PRECISION, MPI_SUM, comm, ierror)
      call show(name // ' scan', round, recv)
      recv = send
      call MPI_Scan(MPI_IN_PLACE, recv, n, MPI_DOUBLE_PRECISION, MPI_MIN, comm, ierror)
      call show(name // ' scan in place', round, recv)
      do root = 0, ranks - 1
        recv = -1
        call MPI_Reduce(send, recv, n, MPI_DOUBLE_PRECISION, MPI_SUM, root, comm, ierror)
        call show(name // ' reduce', root, recv)
        recv = send
        if (rank == root) then
          call MPI_Reduce(MPI_IN_PLACE, recv, n, MPI_DOUBLE_PRECISION, MPI_MAX, root, comm, ierror)
        else
          call MPI_Reduce(send, recv, n, MPI_DOUBLE_PRECISION, MPI_MAX, root, comm, ierror)
        end if
        call show(name // ' reduce in place', root, recv)
        table = -2
        call MPI_Gather(MPI_BOTTOM, 1, absolute, table, n, MPI_DOUBLE_PRECISION, root, comm, ierror)
        call show(name // ' gather from bottom', root, reshape(table, [n * 64]))
        if (rank == root) then
          table(:, root + 1) = send * 2
          call MPI_Gather(MPI_IN_PLACE, n, MPI_DOUBLE_PRECISION, table, n, MPI_DOUBLE_PRECISION, &
                          root, comm, ierror)
          call show(name // ' gather in place', root, reshape(table, [n * 64]))
        else
          call MPI_Gather(send, n, MPI_DOUBLE_PRECISION, table, n, MPI_DOUBLE_PRECISION, root, &
                          comm, ierror)
        end if
        grid = 3
        call MPI_Scatter(table, n, MPI_DOUBLE_PRECISION, grid(2, 1), 1, rows, root, comm, ierror)
        call show(name // ' scatter to rows', root, reshape(grid, [2 * n]))
        grid(1, :) = send
        call MPI_Gather(grid(1, :), n, MPI_DOUBLE_PRECISION, table, n, MPI_DOUBLE_PRECISION, root, &
                        comm, ierror)
        call show(name // ' gather section', root, reshape(table, [n * 64]))
        call MPI_Scatter(table, n, MPI_DOUBLE_PRECISION, MPI_BOTTOM, 1, absolute, root, comm, ierror)
        call show(name // ' scatter to bottom', root, send)
        table = -4
        counts = [(mod(i, n + 1), i = 1, 64)]
        places = [(n * (i - 1), i = 1, 64)]
        call MPI_Gatherv(send, counts(rank + 1), MPI_DOUBLE_PRECISION, table, counts, places, &
                         MPI_DOUBLE_PRECISION, root, comm, ierror)
        call show(name // ' gatherv', root, reshape(table, [n * 64]))
        call MPI_Scatterv(table, counts, places, MPI_DOUBLE_PRECISION, send, counts(rank + 1), &
                          MPI_DOUBLE_PRECISION, root, comm, ierror)
        call show(name // ' scatterv', root, send)
      end do
    end do
    call MPI_Type_free(rows, ierror)
    call MPI_Type_free(absolute, ierror)
  end subroutine both

  subroutine show(what, variant, values)
    character(len=*), intent(in) :: what
    integer, intent(in) :: variant
    double precision, intent(in) :: values(:)
    integer :: k
    print '(a,i4,a,i4,f24.3)', what, variant, ' rank', rank, sum(values * [(dble(k), k = 1, size(values))])
  end subroutine show
end program collectives_mpi
