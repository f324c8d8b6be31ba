/* Finds the MPI library; see native.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "native.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

struct native native;

static void* library; /* dlopen's handle */

void* native_function(const char* symbol) {
  return library == NULL ? NULL : dlsym(library, symbol);
}

/* The address of a variable of the library's: an executable may have a copy in its place. */
static void* variable(const char* symbol) {
  void* const found = dlsym(RTLD_DEFAULT, symbol);
  return found != NULL ? found : native_function(symbol);
}

static int find_functions(void) {
  const struct {
    void* slot;
    const char* symbol;
  } wanted[] = {
      {&native.error_class, "PMPI_Error_class"},
      {&native.initialized, "PMPI_Initialized"},
      {&native.library_version, "PMPI_Get_library_version"},
      {&native.comm_size, "PMPI_Comm_size"},
      {&native.comm_rank, "PMPI_Comm_rank"},
      {&native.comm_test_inter, "PMPI_Comm_test_inter"},
      {&native.comm_group, "PMPI_Comm_group"},
      {&native.comm_dup, "PMPI_Comm_dup"},
      {&native.comm_free, "PMPI_Comm_free"},
      {&native.comm_set_errhandler, "PMPI_Comm_set_errhandler"},
      {&native.comm_get_parent, "PMPI_Comm_get_parent"},
      {&native.group_translate_ranks, "PMPI_Group_translate_ranks"},
      {&native.group_free, "PMPI_Group_free"},
      {&native.group_rank, "PMPI_Group_rank"},
      {&native.group_size, "PMPI_Group_size"},
      {&native.comm_create_keyval, "PMPI_Comm_create_keyval"},
      {&native.comm_set_attr, "PMPI_Comm_set_attr"},
      {&native.comm_get_attr, "PMPI_Comm_get_attr"},
      {&native.type_size, "PMPI_Type_size_x"},
      {&native.type_envelope, "PMPI_Type_get_envelope"},
      {&native.allgather, "PMPI_Allgather"},
      {&native.send, "PMPI_Send"},
      {&native.recv, "PMPI_Recv"},
  };
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
    void* const found = native_function(wanted[i].symbol);
    if (found == NULL) return 0;
    memcpy(wanted[i].slot, &found, sizeof found);
  }
  return 1;
}

static int find_openmpi(void) {
  native.error_truncate = 15;
  native.world = (word)variable("ompi_mpi_comm_world");
  native.self = (word)variable("ompi_mpi_comm_self");
  native.comm_null = (word)variable("ompi_mpi_comm_null");
  native.type_null = (word)variable("ompi_mpi_datatype_null");
  native.byte = (word)variable("ompi_mpi_byte");
  native.op_sum = (word)variable("ompi_mpi_op_sum");
  native.errors_return = (word)variable("ompi_mpi_errors_return");
  native.comm_revoke = (int (*)(word))native_function("PMPIX_Comm_revoke");
  native.comm_f2c = (word (*)(int))native_function("PMPI_Comm_f2c");
  native.type_f2c = (word (*)(int))native_function("PMPI_Type_f2c");
  native.op_c2f = (int (*)(word))native_function("PMPI_Op_c2f");
  return native.world != 0 && native.self != 0 && native.comm_null != 0 && native.type_null != 0 &&
         native.byte != 0 && native.op_sum != 0 && native.errors_return != 0 &&
         native.comm_f2c != NULL && native.type_f2c != NULL && native.op_c2f != NULL;
}

static void find_mpich(void) {
  native.world = 0x44000000;
  native.self = 0x44000001;
  native.comm_null = 0x04000000;
  native.type_null = 0x0c000000;
  native.error_truncate = 14;
  native.byte = 0x4c00010d;
  native.op_sum = 0x58000003;
  native.errors_return = 0x54000001;
  native.status_ignore = 1;
  native.fortran_in_place_of_mpich = variable("MPIR_F_MPI_IN_PLACE");
  native.fortran08_in_place = (word)variable("MPIR_F08_MPI_IN_PLACE");
}

/* The MPI standard's own. */
static int find_abi(void) {
  native.world = 0x101;
  native.self = 0x102;
  native.comm_null = 0x100;
  native.type_null = 0x200;
  native.error_truncate = 15;
  native.byte = 0x247;
  native.op_sum = 0x21;
  native.errors_return = 0x143;
  native.comm_f2c = (word (*)(int))native_function("PMPI_Comm_fromint");
  native.type_f2c = (word (*)(int))native_function("PMPI_Type_fromint");
  native.op_c2f = (int (*)(word))native_function("PMPI_Op_toint");
  return native.comm_f2c != NULL && native.type_f2c != NULL && native.op_c2f != NULL;
}

int native_find(const void* caller) {
  if (native.flavour != flavour_unknown) return 1;
  /* A function that Sibyl's shim, which may stand in between, does not have. */
  void* const known = sibyl_preload_find("PMPI_Get_library_version", caller);
  Dl_info info;
  struct link_map* map = NULL;
  if (known == NULL || dladdr1(known, &info, (void**)&map, RTLD_DL_LINKMAP) == 0) return 0;
  const char* const path = map != NULL && map->l_name[0] != '\0' ? map->l_name : info.dli_fname;
  library = dlopen(path, RTLD_NOLOAD | RTLD_GLOBAL | RTLD_LAZY);
  if (library == NULL || !find_functions()) return 0;
  native.object = sibyl_preload_object_of(known);
  char version[8193] = "";
  int length = 0;
  if (strstr(path, "libmpi_abi.so") != NULL) {
    native.flavour = find_abi() ? flavour_abi : flavour_unknown;
  } else if (native_function("ompi_mpi_comm_world") != NULL) {
    native.flavour = find_openmpi() ? flavour_openmpi : flavour_unknown;
  } else if (native.library_version(version, &length) == 0 &&
             (strstr(version, "MPICH") != NULL || strstr(version, "MVAPICH") != NULL ||
              strstr(version, "Intel(R) MPI") != NULL)) {
    find_mpich();
    native.flavour = flavour_mpich;
  }
  native.group_from_session =
      (int (*)(word, const char*, word*))native_function("PMPI_Group_from_session_pset");
  native.session_f2c = (word (*)(int))native_function("PMPI_Session_f2c");
  const char* const names[] = {"mpi_fortran_in_place_", "mpi_fortran_in_place__",
                               "mpi_fortran_in_place", "MPI_FORTRAN_IN_PLACE"};
  for (int i = 0; i < 4; ++i) native.fortran_in_place[i] = variable(names[i]);
  return native.flavour != flavour_unknown;
}

int native_owns(const void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0) return 0;
  if (info.dli_fbase == native.object) return 1;
  const char* const slash = strrchr(info.dli_fname, '/');
  const char* const name = slash != NULL ? slash + 1 : info.dli_fname;
  /* Fortran's bindings, Open MPI's components, and Sibyl under a profiled program. */
  const char* const beginnings[] = {"libmpi_mpifh", "libmpi_usempi", "libmpichfort", "libmpifort",
                                    "mca_",         "libmca_",       "libopen-",     "libsibyl-"};
  for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; ++i) {
    if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0) return 1;
  }
  return 0;
}
