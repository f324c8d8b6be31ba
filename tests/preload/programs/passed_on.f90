! Collectives that Sibyl leaves to the MPI library and yet counts, from Fortran: by the module mpi, or
! with -DF08 by mpi_f08, where ierror may be left out. MPI_Alltoallw three times, and those of
! neighbours twice each on a ring. Prints what came.
program passed_on
#ifdef F08
  use mpi_f08
#define HANDLE(kind) type(kind)
#define LAST )
#else
  use mpi
#define HANDLE(kind) integer
#define LAST , error)
#endif
  implicit none
  integer, parameter :: each = 3, most = 8, room = each * most
  integer :: rank, ranks, call_number, i, error
  integer :: send(room), recv(room), counts(most), places(most), in_bytes(most), ring_ranks(2)
  integer(kind=MPI_ADDRESS_KIND) :: at(most)
  HANDLE(MPI_Datatype) :: types(most)
  HANDLE(MPI_Comm) :: ring

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  send = [(1000 * rank + i, i = 1, room)]
  recv = -1
  counts = each
  places = [(each * (i - 1), i = 1, most)]
  in_bytes = 4 * places
  at = in_bytes
  types = MPI_INTEGER
  do call_number = 1, 3
    call MPI_Alltoallw(send, counts, in_bytes, types, recv, counts, in_bytes, types, &
                       MPI_COMM_WORLD LAST
    call show('alltoallw')
  end do
  ring_ranks = [mod(rank + ranks - 1, ranks), mod(rank + 1, ranks)]
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, ring_ranks, MPI_UNWEIGHTED, 2, &
                                      ring_ranks, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., ring, &
                                      error)
  do call_number = 1, 2
    call MPI_Neighbor_allgather(send, each, MPI_INTEGER, recv, each, MPI_INTEGER, ring LAST
    call show('neighbor_allgather')
    call MPI_Neighbor_allgatherv(send, each, MPI_INTEGER, recv, counts, places, MPI_INTEGER, &
                                 ring LAST
    call show('neighbor_allgatherv')
    call MPI_Neighbor_alltoall(send, each, MPI_INTEGER, recv, each, MPI_INTEGER, ring LAST
    call show('neighbor_alltoall')
    call MPI_Neighbor_alltoallv(send, counts, places, MPI_INTEGER, recv, counts, places, &
                                MPI_INTEGER, ring LAST
    call show('neighbor_alltoallv')
    call MPI_Neighbor_alltoallw(send, counts, at, types, recv, counts, at, types, ring LAST
    call show('neighbor_alltoallw')
  end do
  call MPI_Comm_free(ring, error)
  call MPI_Finalize(error)

contains

  subroutine show(what)
    character(len=*), intent(in) :: what
    print *, rank, what, recv
    recv = -1
  end subroutine show
end program passed_on
