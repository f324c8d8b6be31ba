/* The MPI library of the program, as far as the recorder asks it: functions by name, handles as
 * machine words, and the constants of the three binary interfaces. No mpi.h, no MPI linked.
 */
#ifndef SIBYL_PROFILE_NATIVE_H
#define SIBYL_PROFILE_NATIVE_H

#include <stdint.h>

#include "preload/shim.h"

enum { flavour_unknown, flavour_openmpi, flavour_mpich, flavour_abi };

struct native {
  int flavour;
  const void* object; /* the library, as sibyl_preload_object_of has it */
  word world, self, comm_null, type_null, byte, op_sum, errors_return, status_ignore;
  int error_truncate; /* an error class */
  int (*error_class)(int, int*);
  int (*initialized)(int*);
  int (*library_version)(char*, int*);
  int (*comm_size)(word, int*);
  int (*comm_rank)(word, int*);
  int (*comm_test_inter)(word, int*);
  int (*comm_group)(word, word*);
  int (*comm_dup)(word, word*);
  int (*comm_free)(word*);
  int (*comm_set_errhandler)(word, word);
  int (*comm_revoke)(word); /* null: an MPI in which no process survives another's death */
  int (*comm_get_parent)(word*);
  int (*group_translate_ranks)(word, int, const int*, word, int*);
  int (*group_free)(word*);
  int (*group_rank)(word, int*);
  int (*group_size)(word, int*);
  int (*group_from_session)(word, const char*, word*); /* null: an MPI without sessions */
  word (*session_f2c)(int);
  int (*comm_create_keyval)(void*, void*, int*, void*);
  int (*comm_set_attr)(word, int, void*);
  int (*comm_get_attr)(word, int, void*, int*);
  int (*type_size)(word, int64_t*); /* MPI_Type_size_x */
  int (*type_envelope)(word, int*, int*, int*, int*);
  int (*allgather)(const void*, int, word, void*, int, word, word);
  int (*send)(const void*, int, word, int, int, word);
  int (*recv)(void*, int, word, int, int, word, word);
  word (*comm_f2c)(int); /* these three not for MPICH, whose handles are Fortran's */
  word (*type_f2c)(int);
  int (*op_c2f)(word);
  /* MPI_IN_PLACE of Fortran: addresses of a variable in four manglings; a variable that has the
   * address; of mpi_f08, an address. 0 where the library has none. */
  void* fortran_in_place[4];
  const word* fortran_in_place_of_mpich;
  word fortran08_in_place;
};
extern struct native native;

/* Finds the MPI library that the caller uses; whether its interface is known. Once per process; a
 * library that Python has loaded locally becomes visible to all, so that it is found later on. */
int native_find(const void* caller);

/* The function itself, behind all tools; null where the library has none. */
void* native_function(const char* symbol);

/* MPICH's handles are 32 bits wide, and come in registers whose upper half is anything. */
static inline word native_handle(word handle) {
  return native.flavour == flavour_mpich ? (uint32_t)handle : handle;
}

/* Whether code at this address belongs to the MPI library, its bindings, or Sibyl. */
int native_owns(const void* address);

#endif
