! The iterative program of gather.c in Fortran: rank r computes for 20 + 5 r ms in every iteration
! and says when half of it is over; rank 0 checks what it has gathered and prints one line.
!
!   module=$(pkg-config --variable=includedir sibyl)/sibyl/sibyl_f08.f90
!   mpifort -o gather $module gather.f90 $(pkg-config --libs sibyl) && mpiexec -n 4 ./gather
program gather
  use mpi_f08
  use sibyl_f08
  implicit none
  integer, parameter :: elements = 20000, iterations = 10
  integer :: level, rank, ranks, k, r, wrong = 0
  double precision, allocatable, asynchronous :: mine(:), everyones(:, :)
  type(MPI_Info) :: info
  type(SIBYL_Request) :: request

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, level)  ! less works in the foreground
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  allocate(mine(elements), everyones(elements, 0:ranks - 1))

  call MPI_Info_create(info)
  call MPI_Info_set(info, 'sibyl_algorithm', 'linear-synchronised')
  call SIBYL_Gather_init(mine, elements, MPI_DOUBLE_PRECISION, everyones, elements, &
      MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, info, request)
  call MPI_Info_free(info)

  do k = 1, iterations
    call SIBYL_Start(request)  ! from now on `everyones` belongs to Sibyl
    call compute((20 + 5 * rank) * 1d-3 / 2)
    call SIBYL_Edge(request, 0.5d0)
    call compute((20 + 5 * rank) * 1d-3 / 2)
    mine = rank + 1000d0 * k
    call SIBYL_Arrive(request)  ! and `mine` as well
    call SIBYL_Wait(request)
    if (rank == 0) then
      do r = 0, ranks - 1
        if (any(abs(everyones(:, r) - (r + 1000d0 * k)) > 0)) wrong = wrong + 1
      end do
    end if
  end do
  call SIBYL_Request_free(request)
  if (rank == 0) print '(i0, a, i0, a, i0, a)', iterations, ' iterations of ', ranks, ' ranks, ', &
      wrong, ' wrong'
  call MPI_Finalize()
  if (wrong /= 0) error stop 1

contains

  subroutine compute(seconds)
    double precision, intent(in) :: seconds
    double precision :: end
    end = MPI_Wtime() + seconds
    do while (MPI_Wtime() < end)
    end do
  end subroutine compute
end program gather
