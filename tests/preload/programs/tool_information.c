/* MPI's tool information interface (MPI_T): initialised before MPI_Init, its variables read around
 * collectives, and finalised before MPI_Finalize, or after it with the argument "after". What is
 * printed is how many variables there are and could be read; their values differ from run to run.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "everyone.h"

enum { most_bytes = 1 << 20, most_read = 64 };

static char* value;
static int rank;

/* Of those whose value fits. */
static int read_controls(void) {
  int count = 0, read = 0;
  MPI_T_cvar_get_num(&count);
  for (int i = 0; i < count && read < most_read; ++i) {
    char name[256];
    int name_room = sizeof name, text_room = 0, verbosity, bind, scope, elements;
    MPI_Datatype type;
    MPI_T_enum enumeration;
    MPI_T_cvar_handle handle;
    if (MPI_T_cvar_get_info(i, name, &name_room, &verbosity, &type, &enumeration, NULL, &text_room,
                            &bind, &scope) != MPI_SUCCESS ||
        bind != MPI_T_BIND_NO_OBJECT ||
        MPI_T_cvar_handle_alloc(i, NULL, &handle, &elements) != MPI_SUCCESS) {
      continue;
    }
    if (elements <= most_bytes / 16) read += MPI_T_cvar_read(handle, value) == MPI_SUCCESS;
    MPI_T_cvar_handle_free(&handle);
  }
  return read;
}

/* Each is started, read after collectives, and stopped. */
static int read_measurements(void) {
  int count = 0, read = 0, wrong = 0;
  MPI_T_pvar_session session;
  MPI_T_pvar_get_num(&count);
  if (MPI_T_pvar_session_create(&session) != MPI_SUCCESS) return -1;
  for (int i = 0; i < count && read < most_read; ++i) {
    char name[256];
    int name_room = sizeof name, text_room = 0, verbosity, kind, bind, readonly, continuous;
    int atomic, elements;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Datatype type;
    MPI_T_enum enumeration;
    MPI_T_pvar_handle handle;
    if (MPI_T_pvar_get_info(i, name, &name_room, &verbosity, &kind, &type, &enumeration, NULL,
                            &text_room, &bind, &readonly, &continuous, &atomic) != MPI_SUCCESS ||
        (bind != MPI_T_BIND_NO_OBJECT && bind != MPI_T_BIND_MPI_COMM) ||
        MPI_T_pvar_handle_alloc(session, i, bind == MPI_T_BIND_NO_OBJECT ? NULL : (void*)&world,
                                &handle, &elements) != MPI_SUCCESS) {
      continue;
    }
    if (!continuous) MPI_T_pvar_start(session, handle);
    if (read % 16 == 0) wrong += use_everyone(MPI_COMM_WORLD, 8, read);
    if (elements <= most_bytes / 16) {
      read += MPI_T_pvar_read(session, handle, value) == MPI_SUCCESS;
    }
    if (!continuous) MPI_T_pvar_stop(session, handle);
    MPI_T_pvar_handle_free(session, &handle);
  }
  MPI_T_pvar_session_free(&session);
  if (wrong != 0) printf("%d: WRONG\n", rank);
  return read;
}

static void tell(const char* when) {
  int controls = -1, measurements = -1, categories = -1;
  MPI_T_cvar_get_num(&controls);
  MPI_T_pvar_get_num(&measurements);
  MPI_T_category_get_num(&categories);
  printf("%d, %s: %d, %d, %d\n", rank, when, controls, measurements, categories);
}

int main(int argc, char** argv) {
  const int after = argc > 1 && strcmp(argv[1], "after") == 0;
  int provided;
  value = malloc(most_bytes);
  if (value == NULL || MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return 1;
  if (read_controls() < 0) return 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  tell("at first");
  for (int i = 0; i < 4; ++i) {
    if (use_everyone(MPI_COMM_WORLD, 100, i) != 0) printf("%d: WRONG\n", rank);
  }
  printf("%d: %d controls read\n", rank, read_controls());
  printf("%d: %d measurements read\n", rank, read_measurements());
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided); /* counted */
  MPI_T_finalize();
  tell("at last");
  if (!after) MPI_T_finalize();
  if (use_everyone(MPI_COMM_WORLD, 100, 1) != 0) printf("%d: WRONG\n", rank);
  MPI_Finalize();
  if (after) {
    tell("after all");
    MPI_T_finalize();
  }
  free(value);
  return 0;
}
