C     The four collectives through mpif.h, without MPI's special
C     addresses: it is compiled with other manglings of Fortran's names,
C     for which an MPI library may know its functions but not its
C     common blocks. It knows nothing of Sibyl.
      program plain
      implicit none
      include 'mpif.h'
      integer send, recv, all(64), ierr, rank, i
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      do 10 i = 1, 4
        send = rank + i
        recv = -1
        call MPI_EXSCAN(send, recv, 1, MPI_INTEGER, MPI_SUM,
     &                  MPI_COMM_WORLD, ierr)
        print *, rank, 'exscan', recv, ierr
        call MPI_SCAN(send, recv, 1, MPI_INTEGER, MPI_SUM,
     &                MPI_COMM_WORLD, ierr)
        print *, rank, 'scan', recv, ierr
        all = -1
        call MPI_GATHER(send, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 1,
     &                  MPI_COMM_WORLD, ierr)
        print *, rank, 'gather', all(1:2), ierr
        call MPI_SCATTER(all, 1, MPI_INTEGER, recv, 1, MPI_INTEGER, 1,
     &                   MPI_COMM_WORLD, ierr)
        print *, rank, 'scatter', recv, ierr
   10 continue
      call MPI_FINALIZE(ierr)
      end
