// The source of tail_call.elf beside it, whose collective is called by jumps, and a seed itself: no
// module.
//   cc -O2 -fno-asynchronous-unwind-tables -shared -fPIC -nostdlib -Wl,-z,noseparate-code
//     -Wl,--build-id=none -o tail_call.elf tail_call.c
int MPI_Barrier(int comm);
int step(int comm);
int outer(int comm);
int twice(int comm);

int step(int comm) { return MPI_Barrier(comm); }
int outer(int comm) { return step(3 * comm); }
int twice(int comm) { return step(comm) + outer(comm); }
