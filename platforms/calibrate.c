/* What a message costs the processors of a real MPI: the numbers behind smpi/os, smpi/ois, smpi/or.

   Two ranks, one message at a time. A piece of the time line is measured on the rank that pays for
   it, with nothing else under way:

     os   how long MPI_Send keeps its caller, the receiver waiting in MPI_Recv
     ois  the same for MPI_Isend
     or   how long MPI_Recv takes when the message has long come: the receiver looks away (no MPI
          call) for a while after the sender has let go

   and beside them half a round trip, what of it is neither os nor or, and what a message costs a
   receiver that waits for a crowd of them at once, as the root of a linear gather of 560 ranks
   does: each message is looked for among the receives posted. Medians; what reading the clock costs
   is taken off. Each size class is fitted by a line (least squares of relative errors, no negative
   part), since SMPI wants "from bytes:seconds:seconds per byte;...". From `rendezvous` bytes on
   both ends wait for each other, which SMPI simulates, and a network card moves the data: what is
   left is what an empty message costs.

   Compiled and started by platforms/calibrate. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { repetitions = 1001, crowd = 559, crowd_repetitions = 31, rendezvous = 16384 };
static const int sizes[] = {1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 6144, 8192};
enum { size_count = sizeof sizes / sizeof sizes[0], largest = 8192 };
/* Where a class begins: within the header of the message, one copy, several cells. */
static const int classes[] = {0, 64, 2048};
enum { class_count = sizeof classes / sizeof classes[0] };

static int rank;
static char buffer[crowd][largest];

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(double* values, int count) {
  qsort(values, (size_t)count, sizeof *values, ascending);
  return values[count / 2];
}

static void look_away(double seconds) {
  const double until = MPI_Wtime() + seconds;
  while (MPI_Wtime() < until) {
  }
}

static double clock_cost(void) {
  static double each[repetitions];
  for (int i = 0; i < repetitions; ++i) {
    const double begin = MPI_Wtime();
    each[i] = MPI_Wtime() - begin;
  }
  return median(each, repetitions);
}

enum what { sends, posted_sends, late_receives, round_trips };

/* One number of each repetition: rank 0 sends, and measures unless it is rank 1's to. */
static double measure(enum what what, int bytes, double pause) {
  static double each[repetitions];
  char go = 0;
  for (int i = 0; i < repetitions; ++i) {
    /* The receiver says that it is about to wait; the sender gives it time to do so. */
    if (rank == 0) {
      MPI_Recv(&go, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (what != late_receives) look_away(pause);
      MPI_Request request = MPI_REQUEST_NULL;
      const double begin = MPI_Wtime();
      if (what == posted_sends) {
        MPI_Isend(buffer[0], bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
      } else {
        MPI_Send(buffer[0], bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      }
      double end = MPI_Wtime();
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      if (what == round_trips) {
        MPI_Recv(buffer[0], bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        end = begin + (MPI_Wtime() - begin) / 2;
      }
      each[i] = end - begin;
    } else {
      MPI_Send(&go, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
      if (what == late_receives) look_away(pause);
      const double begin = MPI_Wtime();
      MPI_Recv(buffer[0], bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      each[i] = MPI_Wtime() - begin;
      if (what == round_trips) {
        MPI_Send(buffer[0], bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
      }
    }
  }
  double result = median(each, repetitions);
  MPI_Bcast(&result, 1, MPI_DOUBLE, what == late_receives ? 1 : 0, MPI_COMM_WORLD);
  return result;
}

/* Seconds per message of a receiver that had posted a receive for each of a crowd, which come in
   another order. */
static double measure_crowd(int bytes) {
  static double each[crowd_repetitions];
  static MPI_Request requests[crowd];
  static MPI_Status statuses[crowd];
  const int stride = 211; /* prime to the crowd */
  for (int i = 0; i < crowd_repetitions; ++i) {
    if (rank == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
      for (int k = 0; k < crowd; ++k) {
        MPI_Send(buffer[k], bytes, MPI_BYTE, 1, k * stride % crowd, MPI_COMM_WORLD);
      }
    } else {
      for (int k = 0; k < crowd; ++k) {
        MPI_Irecv(buffer[k], bytes, MPI_BYTE, 0, k, MPI_COMM_WORLD, &requests[k]);
      }
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin = MPI_Wtime();
      MPI_Waitall(crowd, requests, statuses);
      each[i] = (MPI_Wtime() - begin) / crowd;
    }
  }
  double result = median(each, crowd_repetitions);
  MPI_Bcast(&result, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  return result;
}

/* The line a + b x through the points of [from, until), weighted so that relative errors count. */
static void fit(const double* seconds, int from, int until, double* a, double* b) {
  double w = 0;
  double x = 0;
  double y = 0;
  double xx = 0;
  double xy = 0;
  for (int i = 0; i < size_count; ++i) {
    if (sizes[i] < from || sizes[i] >= until) continue;
    const double weight = 1 / (seconds[i] * seconds[i]);
    w += weight;
    x += weight * sizes[i];
    y += weight * seconds[i];
    xx += weight * sizes[i] * sizes[i];
    xy += weight * sizes[i] * seconds[i];
  }
  *b = (w * xy - x * y) / (w * xx - x * x);
  *a = (y - *b * x) / w;
  if (*b < 0) {
    *b = 0;
    *a = y / w;
  } else if (*a < 0) {
    *a = 0;
    *b = xy / xx;
  }
}

static void print_string(const char* name, const double* seconds) {
  printf("    <prop id=\"smpi/%s\" value=\"", name);
  double empty = 0;
  for (int i = 0; i < class_count; ++i) {
    double a = 0;
    double b = 0;
    fit(seconds, classes[i], i + 1 < class_count ? classes[i + 1] : rendezvous, &a, &b);
    if (i == 0) empty = a;
    printf("%d:%.2e:%.1e;", classes[i], a, b);
  }
  printf("%d:%.2e:0\"/>\n", rendezvous, empty);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 2) {
    if (rank == 0) fprintf(stderr, "calibrate wants two ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  memset(buffer, 1, sizeof buffer);
  const double clock = clock_cost();
  double os[size_count];
  double ois[size_count];
  double or[size_count];
  double half[size_count];
  double crowds[size_count];
  measure(round_trips, sizes[0], 0);
  for (int i = 0; i < size_count; ++i) {
    half[i] = measure(round_trips, sizes[i], 0) - clock / 2;
    /* Long enough for the other rank to be where it should, or the message to have come. */
    const double pause = 10 * half[i];
    os[i] = measure(sends, sizes[i], pause) - clock;
    ois[i] = measure(posted_sends, sizes[i], pause) - clock;
    or[i] = measure(late_receives, sizes[i], pause) - clock;
    crowds[i] = measure_crowd(sizes[i]);
  }
  if (rank == 0) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(version, &length);
    version[strcspn(version, ",\n")] = 0;
    printf("%s; microseconds\n%7s %8s %8s %8s %8s %8s %8s\n", version, "bytes", "os", "ois", "or",
           "half", "rest", "crowd");
    for (int i = 0; i < size_count; ++i) {
      printf("%7d %8.3f %8.3f %8.3f %8.3f %8.3f %8.3f\n", sizes[i], os[i] * 1e6, ois[i] * 1e6,
             or[i] * 1e6, half[i] * 1e6, (half[i] - os[i] - or[i]) * 1e6, crowds[i] * 1e6);
    }
    print_string("os", os);
    print_string("ois", ois);
    print_string("or", or);
    printf("the receiver of a crowd:\n");
    print_string("or", crowds);
  }
  MPI_Finalize();
  return 0;
}
