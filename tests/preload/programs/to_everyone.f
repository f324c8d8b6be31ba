C     Collectives in which every rank gets a result, through mpif.h and
C     without MPI's special addresses: it is compiled with all manglings
C     of Fortran's names, for which an MPI library may know its functions
C     but not its common blocks. It knows nothing of Sibyl.
      program to_everyone
      implicit none
      include 'mpif.h'
      integer send(64), recv(64), counts(8), places(8)
      integer ierr, rank, nranks, i, r
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, nranks, ierr)
      do 90 r = 1, 4
        do 10 i = 1, 64
          send(i) = 100*rank + i*r
          recv(i) = -i
   10   continue
        do 20 i = 1, 8
          counts(i) = mod(i + r, 3)
          places(i) = 4*(8 - i)
   20   continue
        call MPI_ALLREDUCE(send, recv, 5, MPI_INTEGER, MPI_SUM,
     &                     MPI_COMM_WORLD, ierr)
        print *, rank, 'allreduce', recv(1:6), ierr
        recv(1) = send(1)
        call MPI_BCAST(recv, 5, MPI_INTEGER, nranks - 1,
     &                 MPI_COMM_WORLD, ierr)
        print *, rank, 'bcast', recv(1:6), ierr
        call MPI_REDUCE_SCATTER(send, recv, counts, MPI_INTEGER,
     &                          MPI_SUM, MPI_COMM_WORLD, ierr)
        print *, rank, 'reduce_scatter', recv(1:6), ierr
        call MPI_REDUCE_SCATTER_BLOCK(send, recv, 4, MPI_INTEGER,
     &                                MPI_MAX, MPI_COMM_WORLD, ierr)
        print *, rank, 'reduce_scatter_block', recv(1:6), ierr
        call MPI_ALLGATHER(send, 2, MPI_INTEGER, recv, 2, MPI_INTEGER,
     &                     MPI_COMM_WORLD, ierr)
        print *, rank, 'allgather', recv(1:17), ierr
        call MPI_ALLGATHERV(send, counts(rank + 1), MPI_INTEGER, recv,
     &                      counts, places, MPI_INTEGER,
     &                      MPI_COMM_WORLD, ierr)
        print *, rank, 'allgatherv', recv(1:32), ierr
        call MPI_ALLTOALL(send, 3, MPI_INTEGER, recv, 3, MPI_INTEGER,
     &                    MPI_COMM_WORLD, ierr)
        print *, rank, 'alltoall', recv(1:32), ierr
        do 30 i = 1, 8
          counts(i) = mod(i + rank, 3)
   30   continue
        call MPI_ALLTOALLV(send, counts, places, MPI_INTEGER, recv,
     &                     counts, places, MPI_INTEGER,
     &                     MPI_COMM_WORLD, ierr)
        print *, rank, 'alltoallv', recv(1:32), ierr
        call MPI_BARRIER(MPI_COMM_WORLD, ierr)
        print *, rank, 'barrier', ierr
   90 continue
      call MPI_FINALIZE(ierr)
      end
