/* Sibyl as a component of Open MPI: what its parts share.
 *
 * Open MPI asks its `coll` components, for each new communicator, for a module of functions, and
 * stacks the modules by priority. Sibyl's module takes the functions that Sibyl serves and keeps
 * those of the modules below it. So a program is served without a preload, from every language,
 * since all of Open MPI's bindings come here, and what Sibyl does not serve goes on to the
 * component that would have had the call.
 *
 *   component.c   who we are, the priority, modules of communicators
 *   library.c     finds libsibyl-openmpi.so and speaks to it, as the preload's shim does
 *   generate.py   writes a function of the module for each line of preload/functions.txt
 *
 * Built against Open MPI's internal headers: one build for a release series (4.1), which Open MPI
 * checks when it loads a component.
 */
#ifndef SIBYL_OPENMPI_COMPONENT_H
#define SIBYL_OPENMPI_COMPONENT_H

#include <mpi.h>
#include <ompi/communicator/communicator.h>
#include <ompi/mca/coll/coll.h>
#include <ompi/runtime/mpiruntime.h>
#include <ompi_config.h>
#include <stdint.h>

struct sibyl_module {
  mca_coll_base_module_t super;
  MPI_Comm comm;
  mca_coll_base_comm_coll_t next; /* the functions of the modules below */
};

/* ---- Generated ------------------------------------------------------------------------------ */

/* Puts Sibyl's functions into the module. */
void sibyl_component_fill(mca_coll_base_module_t* module);
/* Keeps the functions below; 0 where a communicator lacks one of them. */
int sibyl_component_keep(struct sibyl_module* module);
void sibyl_component_release(struct sibyl_module* module);
/* The function to which Sibyl hands a call of MPI_X back. */
void* sibyl_component_back(const char* symbol);
/* Finds what serves each function; 0 where one is not there. */
int sibyl_component_look_up(void* (*lookup)(const char* symbol));

/* The module whose function this thread is in, for calls that are handed back. */
extern _Thread_local struct sibyl_module* sibyl_component_current;
/* A call that the program has made of Sibyl itself (SIBYL_X) is handed back to MPI_X, which looks
 * at its arguments and raises its errors. The communicator of such a call, until it comes to
 * Sibyl's module, which passes it on, and the frame that has handed it back; and that module, while
 * those below serve it. */
extern _Thread_local MPI_Comm sibyl_component_handed_back;
extern _Thread_local const void* sibyl_component_handed_from;
extern _Thread_local struct sibyl_module* sibyl_component_passed;

/* Whether that is the call on this communicator which has come to a function of this frame. Else
 * the program's error handler has left it by a longjmp before it came here: what is called from
 * inside it has its frame below. */
static inline int sibyl_component_is_handed_back(MPI_Comm comm, const void* frame) {
  const MPI_Comm handed_back = sibyl_component_handed_back;
  sibyl_component_handed_back = NULL;
  return handed_back == comm && (uintptr_t)frame < (uintptr_t)sibyl_component_handed_from;
}

/* ---- library.c ------------------------------------------------------------------------------ */

/* Loads the library, once; whether there is one. */
int sibyl_component_load(void);
/* Marks this process for the other ranks as one that is served; preload/world.c says how. */
void sibyl_component_mark(void);
/* Whether a new communicator of this group is Sibyl's own. */
int sibyl_component_makes_private(MPI_Group group);
/* A communicator of the program's has been made, which has none of its attributes yet but those
 * that MPI_Comm_dup copies: Open MPI deletes the last one first. */
void sibyl_component_new(MPI_Comm comm);
/* At the first call on the world, which all of its ranks make. */
void sibyl_component_begin_world(void);
extern int sibyl_component_world_has_begun;

/* Open MPI's own calls in MPI_Init and MPI_Finalize are none of the program's, and there Sibyl's
 * state cannot begin or has ended. */
static inline int sibyl_component_serves(MPI_Comm comm) {
  if (ompi_mpi_state != OMPI_MPI_STATE_INIT_COMPLETED) return 0;
  if (!sibyl_component_world_has_begun && comm == MPI_COMM_WORLD) sibyl_component_begin_world();
  return 1;
}

#endif
