/* Communicators as all their ranks would name them, without a message: by their members' ranks in
 * MPI_COMM_WORLD, and a name among those of the same members. A copy (MPI_Comm_dup) is named by
 * what it is a copy of and how many there were before, in which all ranks agree whatever their
 * threads do; any other by how many of the same members, without copies, this process has used
 * before.
 */
#ifndef SIBYL_PROFILE_COMMUNICATORS_H
#define SIBYL_PROFILE_COMMUNICATORS_H

#include <stdint.h>

#include "preload/shim.h"

struct communicator {
  uint32_t index; /* in the trace; no_communicator: there was no more room, totals alone are kept */
  int32_t size;
  int32_t rank;
  int32_t destinations; /* neighbours that it sends to; -1: not asked yet */
  int is_inter;
  int has_records; /* its calls can be found again on other ranks */
};

/* Once MPI runs: the group in which members have their ranks, which is this file's from now on, or
 * 0. And before it ends, or begins anew: handles mean nothing from then on. */
void communicators_begin(word group);
/* Once all ranks are in MPI_Init: copies of the world are counted from now on. */
void communicators_follow_world(void);
void communicators_end(void);

/* Null for a handle that is none: the call fails anyhow. */
struct communicator* communicator_of(word handle);
int communicator_destinations(struct communicator* communicator, word handle);

#endif
