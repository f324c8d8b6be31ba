C     The four collectives through mpif.h in fixed form, with a sum of
C     every result printed. It knows nothing of Sibyl.
      program collectives_mpifh
      implicit none
      include 'mpif.h'
      integer n, rounds
      parameter (n = 4, rounds = 4)
      integer send(2*n), recv(2*n), all(64*2*n)
      integer ierr, rank, nranks, i, r, root, pairs, compose
      external affine
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, nranks, ierr)
      call MPI_TYPE_CONTIGUOUS(2, MPI_INTEGER, pairs, ierr)
      call MPI_TYPE_COMMIT(pairs, ierr)
      call MPI_OP_CREATE(affine, .false., compose, ierr)
      do 100 r = 1, rounds
        do 10 i = 1, 2*n
          send(i) = mod(rank*17 + i*5 + r, 97) + 1
          recv(i) = -i
   10   continue
        call MPI_EXSCAN(send, recv, 2*n, MPI_INTEGER, MPI_SUM,
     &                  MPI_COMM_WORLD, ierr)
        call show('exscan', r, recv, 2*n, rank, ierr)
        call MPI_EXSCAN(send, recv, n, pairs, compose,
     &                  MPI_COMM_WORLD, ierr)
        call show('exscan affine', r, recv, 2*n, rank, ierr)
        call MPI_SCAN(send, recv, n, pairs, compose,
     &                MPI_COMM_WORLD, ierr)
        call show('scan affine', r, recv, 2*n, rank, ierr)
        do 20 i = 1, 2*n
          recv(i) = send(i)
   20   continue
        call MPI_EXSCAN(MPI_IN_PLACE, recv, 2*n, MPI_INTEGER, MPI_BXOR,
     &                  MPI_COMM_WORLD, ierr)
        call show('exscan in place', r, recv, 2*n, rank, ierr)
        do 30 i = 1, 2*n
          recv(i) = send(i)
   30   continue
        call MPI_SCAN(MPI_IN_PLACE, recv, 2*n, MPI_INTEGER, MPI_MAX,
     &                MPI_COMM_WORLD, ierr)
        call show('scan in place', r, recv, 2*n, rank, ierr)
        do 90 root = 0, nranks - 1
          do 40 i = 1, 2*n*nranks
            all(i) = -i
   40     continue
          call MPI_GATHER(send, 2*n, MPI_INTEGER, all, n, pairs, root,
     &                    MPI_COMM_WORLD, ierr)
          call show('gather', root, all, 2*n*nranks, rank, ierr)
          if (rank .eq. root) then
            do 50 i = 1, 2*n
              all(2*n*root + i) = send(i) + 1
   50       continue
            call MPI_GATHER(MPI_IN_PLACE, 0, MPI_INTEGER, all, 2*n,
     &                      MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
            call show('gather in place', root, all, 2*n*nranks, rank,
     &                ierr)
            call MPI_SCATTER(all, 2*n, MPI_INTEGER, MPI_IN_PLACE, 0,
     &                       MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
          else
            call MPI_GATHER(send, n, pairs, all, 2*n,
     &                      MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
            call MPI_SCATTER(all, 2*n, MPI_INTEGER, recv, 2*n,
     &                       MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
            call show('scatter in place', root, recv, 2*n, rank, ierr)
          end if
          call MPI_SCATTER(all, n, pairs, recv, 2*n, MPI_INTEGER, root,
     &                     MPI_COMM_WORLD, ierr)
          call show('scatter', root, recv, 2*n, rank, ierr)
   90   continue
  100 continue
      call MPI_OP_FREE(compose, ierr)
      call MPI_TYPE_FREE(pairs, ierr)
      call MPI_FINALIZE(ierr)
      end

C     Pairs (a, b) stand for x -> a x + b; composition does not commute.
      subroutine affine(in, inout, length, datatype)
      implicit none
      integer length, datatype, i, a, b
      integer in(2, length), inout(2, length)
      do 10 i = 1, length
        a = mod(in(1, i)*inout(1, i), 997)
        b = mod(in(1, i)*inout(2, i) + in(2, i), 997)
        inout(1, i) = a
        inout(2, i) = b
   10 continue
      end

      subroutine show(what, variant, values, n, rank, ierr)
      implicit none
      character*(*) what
      integer variant, n, values(n), rank, ierr, i
      integer*8 total
      total = ierr
      do 10 i = 1, n
        total = mod(total*31 + values(i) + 1000003, 1000000007_8)
   10 continue
      print '(a,i4,a,i4,i12)', what, variant, ' rank', rank, total
      end
