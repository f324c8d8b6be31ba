! The modules sibyl and sibyl_f08 (with -DF08) in a program: blocking calls, persistent collectives
! and the iterative model, with results that are known in advance. Prints what is wrong and ends
! with an error where something is.
program persistent
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
  integer, parameter :: n = 3
  integer :: rank, ranks, root, error, given, wrong, iteration, i, r
  integer :: major, minor, patch, error_class
  logical :: done
  integer :: own(n)
  integer, asynchronous :: everyones_kept(n, 0:63), own_kept(n)
  double precision :: number
  double precision, asynchronous :: value, total
  integer :: counts(0:63), places(0:63)
  integer, allocatable, asynchronous :: many(:), mine(:)
  type(SIBYL_Request) :: request
  HANDLE(MPI_Info) :: info
  HANDLE(MPI_Comm) :: comm
  HANDLE(MPI_Op) :: op

  ! The thread in the background is there where MPI allows it.
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, given, error)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, error)
  call MPI_Comm_rank(comm, rank, error)
  call MPI_Comm_size(comm, ranks, error)
  wrong = 0
  root = ranks - 1

  call SIBYL_Get_version(major, minor, patch)
  call expect(major >= 0 .and. minor >= 0 .and. patch >= 0, 'version')

  ! Blocking calls: an array, a scalar, MPI_IN_PLACE.
  do i = 1, n
    own(i) = 100 * rank + i
  end do
  call SIBYL_Gather(own, n, MPI_INTEGER, everyones_kept, n, MPI_INTEGER, root, comm, error)
  call expect(error == MPI_SUCCESS, 'gather')
  call expect_everyones(1, 'gather')
  number = rank + 1
  call SIBYL_Reduce(number, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, root, comm)
  if (rank == root) call expect(total == ranks * (ranks + 1) / 2, 'reduce')
  value = rank + 1
  call SIBYL_Scan(MPI_IN_PLACE, value, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm)
  call expect(value == (rank + 1) * (rank + 2) / 2, 'scan in place')

  ! A gather that is bound once, in the background, with edges.
  call MPI_Info_create(info, error)
  call MPI_Info_set(info, 'sibyl_algorithm', 'linear-synchronised', error)
  request = SIBYL_REQUEST_NULL
  if (rank == root) then
    do i = 1, n
      everyones_kept(i, rank) = 100 * rank + i
    end do
    call SIBYL_Gather_init(MPI_IN_PLACE, n, MPI_INTEGER, everyones_kept, n, MPI_INTEGER, root, &
        comm, info, request, error)
  else
    call SIBYL_Gather_init(own_kept, n, MPI_INTEGER, everyones_kept, n, MPI_INTEGER, root, comm, &
        info, request, error)
  end if
  call expect(error == MPI_SUCCESS .and. request /= SIBYL_REQUEST_NULL, 'init')
  do iteration = 1, 20
    call SIBYL_Start(request)
    call SIBYL_Edge(request, 0.5d0)
    do i = 1, n
      own_kept(i) = (100 * rank + i) * iteration
      if (rank == root) everyones_kept(i, rank) = (100 * rank + i) * iteration
    end do
    call SIBYL_Arrive(request)
    if (mod(iteration, 2) == 0) then
      done = .false.
      do while (.not. done)
        call SIBYL_Test(request, done)
      end do
    else
      call SIBYL_Wait(request)
    end if
    call expect_everyones(iteration, 'persistent gather')
  end do
  call SIBYL_Request_free(request, error)
  call expect(error == MPI_SUCCESS .and. request == SIBYL_REQUEST_NULL, 'free')
  call MPI_Info_free(info, error)

  ! Blocks of any sizes: rank r has r + 1 elements.
  do r = 0, ranks - 1
    counts(r) = r + 1
    places(r) = r * (r + 1) / 2
  end do
  allocate(many(ranks * (ranks + 1) / 2), mine(rank + 1))
  call SIBYL_Scatterv_init(many, counts, places, MPI_INTEGER, mine, rank + 1, MPI_INTEGER, 0, &
      comm, MPI_INFO_NULL, request)
  do iteration = 1, 5
    call SIBYL_Start(request)
    if (rank == 0) many = [(i + iteration, i = 1, size(many))]
    call SIBYL_Arrive(request)
    call SIBYL_Wait(request)
    call expect(all(mine == [(places(rank) + i + iteration, i = 1, rank + 1)]), 'scatterv')
  end do
  call SIBYL_Request_free(request)

  ! To all ranks: blocks of any sizes, a sum, and a vector of rank 0's.
  call SIBYL_Allgatherv_init(mine, rank + 1, MPI_INTEGER, many, counts, places, MPI_INTEGER, &
      comm, MPI_INFO_NULL, request)
  do iteration = 1, 5
    call SIBYL_Start(request)
    mine = [(places(rank) + i + iteration, i = 1, rank + 1)]
    call SIBYL_Arrive(request)
    call SIBYL_Wait(request)
    call expect(all(many == [(i + iteration, i = 1, size(many))]), 'persistent allgatherv')
  end do
  call SIBYL_Request_free(request)
  call SIBYL_Allreduce_init(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm, &
      MPI_INFO_NULL, request)
  do iteration = 1, 5
    call SIBYL_Start(request)
    total = rank + iteration
    call SIBYL_Arrive(request)
    call SIBYL_Wait(request)
    call expect(total == ranks * (ranks - 1) / 2 + ranks * iteration, 'persistent allreduce')
  end do
  call SIBYL_Request_free(request)
  call SIBYL_Bcast_init(total, 1, MPI_DOUBLE_PRECISION, 0, comm, MPI_INFO_NULL, request)
  do iteration = 1, 5
    call SIBYL_Start(request)
    if (rank == 0) total = 7 * iteration
    call SIBYL_Arrive(request)
    call SIBYL_Wait(request)
    call expect(total == 7 * iteration, 'persistent bcast')
  end do
  call SIBYL_Request_free(request)

  ! An operator of the program's own.
  call MPI_Op_create(add, .true., op, error)
  call SIBYL_Reduce_init(value, total, 1, MPI_DOUBLE_PRECISION, op, 0, comm, MPI_INFO_NULL, request)
  do iteration = 1, 5
    call SIBYL_Start(request)
    value = rank + iteration
    call SIBYL_Arrive(request)
    call SIBYL_Wait(request)
    if (rank == 0) then
      call expect(total == ranks * (ranks - 1) / 2 + ranks * iteration, 'persistent reduce')
    end if
  end do
  call SIBYL_Request_free(request)
  call MPI_Op_free(op, error)

  ! Errors come back as ierror.
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, error)
  call SIBYL_Start(request, error)
  call expect_class(MPI_ERR_REQUEST, 'start of nothing')
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, error)
  call SIBYL_Exscan_init(value, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm, MPI_INFO_NULL, &
      request)
  do iteration = 1, 2
    call SIBYL_Edge(request, 0.5d0, error)
    call expect_class(MPI_ERR_REQUEST, 'an edge before the start')
    call SIBYL_Arrive(request, error)
    call expect_class(MPI_ERR_REQUEST, 'an arrival before the start')
    call SIBYL_Start(request)
    call SIBYL_Start(request, error)
    call expect_class(MPI_ERR_REQUEST, 'a second start')
    call SIBYL_Request_free(request, error)
    call expect_class(MPI_ERR_REQUEST, 'freeing an active request')
    call SIBYL_Wait(request, error)
    call expect_class(MPI_ERR_REQUEST, 'waiting before the arrival')
    call SIBYL_Edge(request, 1d0, error)
    call expect_class(MPI_ERR_ARG, 'a fraction of all')
    call SIBYL_Edge(request, 0d0, error)
    call expect_class(MPI_ERR_ARG, 'a fraction of nothing')
    call SIBYL_Edge(request, 0.5d0)
    call SIBYL_Edge(request, 0.6d0, error)
    call expect_class(MPI_ERR_REQUEST, 'a second edge')
    value = rank + iteration
    call SIBYL_Arrive(request)
    call SIBYL_Wait(request)
    if (rank > 0) then
      call expect(total == rank * (rank - 1) / 2 + rank * iteration, 'persistent exscan')
    end if
  end do
  call SIBYL_Request_free(request)

  call PAT_Init(error)
  call PAT_UseAlg(expect_nothing, error)
  call expect_class(MPI_ERR_ARG, 'something that is no algorithm')
  call PAT_UseAlg(PAT_Gather_BSBN, error)
  call expect(error == MPI_SUCCESS, 'PAT_UseAlg')
  do iteration = 1, 10
    call PAT_ProcessingStart()
    do i = 1, n
      own(i) = (100 * rank + i) * iteration
    end do
    call PAT_Edge(0.5d0)
    call PAT_ProcessingEnd()
    call PAT_Gather_BSBN(own, n, MPI_INTEGER, everyones_kept, n, MPI_INTEGER, root, comm, error)
    call expect(error == MPI_SUCCESS, 'PAT_Gather_BSBN')
    call expect_everyones(iteration, 'PAT_Gather_BSBN')
  end do
  call PAT_UseAlg(PAT_Reduce_CLV)
  do iteration = 1, 5
    call PAT_ProcessingStart()
    call PAT_Edge(0.5d0)
    call PAT_ProcessingEnd()
    number = rank + iteration
    call PAT_Reduce_CLV(number, total, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, comm)
    if (rank == 0) call expect(total == ranks - 1 + iteration, 'PAT_Reduce_CLV')
  end do
  call PAT_Finalize(error)
  call expect(error == MPI_SUCCESS, 'PAT_Finalize')

  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, comm, error)
  call MPI_Comm_free(comm, error)
  call MPI_Finalize(error)
  if (wrong /= 0) error stop 1
  if (rank == 0) print '(a, i0, a)', 'right on ', ranks, ' ranks'

contains

  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    wrong = wrong + 1
    print '(a, i0, a, i0, 2a)', 'rank ', rank, ' of ', ranks, ', wrong: ', what
  end subroutine expect

  subroutine expect_class(class, what)
    integer, intent(in) :: class
    character(*), intent(in) :: what
    call MPI_Error_class(error, error_class, i)
    call expect(error_class == class, what)
  end subroutine expect_class

  subroutine expect_everyones(factor, what)
    integer, intent(in) :: factor
    character(*), intent(in) :: what
    if (rank /= root) return
    do r = 0, ranks - 1
      call expect(all(everyones_kept(:, r) == [((100 * r + i) * factor, i = 1, n)]), what)
    end do
  end subroutine expect_everyones

  subroutine expect_nothing()
  end subroutine expect_nothing

#ifdef F08
  subroutine add(from, to, length, datatype)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: from, to
    integer :: length
    type(MPI_Datatype) :: datatype
    double precision, pointer :: a(:), b(:)
    call c_f_pointer(from, a, [length])
    call c_f_pointer(to, b, [length])
    if (datatype == MPI_DOUBLE_PRECISION) b = a + b
  end subroutine add
#else
  subroutine add(from, to, length, datatype)
    integer :: length, datatype
    double precision :: from(length), to(length)
    if (datatype == MPI_DOUBLE_PRECISION) to = from + to
  end subroutine add
#endif
end program persistent
