// What happens when the program starts and ends MPI, as far as the preload sees it.
//
// Each is called by the wrapper of a generated entry (preload/functions.txt) on the thread that
// made the call, with the re-entry guard held, so that MPI functions called here are not
// intercepted. None may throw. They are not called for an MPI_Init that the shim does not see: one
// that the program defines itself, or that a profiling tool in front of Sibyl turns into PMPI_Init;
// and not at all for programs that link the library. So they may make things earlier or later, but
// nothing may rest on them alone.
#pragma once

#include <mpi.h>

namespace sibyl::hooks {

// MPI_Init or MPI_Init_thread has succeeded; the program has not had control since.
void after_init();
// MPI_Finalize has succeeded; no MPI function may be called any more, unless a session is open.
// Callbacks that the MPI library runs in it (delete functions of attributes of MPI_COMM_SELF) are
// the program's code: the collectives that they call came to Sibyl as any others.
void after_finalize();
// MPI_Session_init has succeeded, whether the world model is initialised or not.
void after_session_init();
// MPI_Session_finalize was called; the session's communicators are freed.
void before_session_finalize();
// MPI_Session_finalize has succeeded; other sessions and the world model may go on.
void after_session_finalize();

// A communicator has another error handler. A call that is known goes to the library with nothing
// of Sibyl's around it, and a handler of the program's may make calls, which are to find that they
// are made within another one.
void after_error_handler();

// A communicator is about to be made from ranks of `comm`, by a call that all of its ranks make.
// MPICH has contexts for about 2000. Where they are at their end, the private communicators of all
// communicators within `comm` are given back, so that the program has every one that it would have
// without Sibyl. Where there are few, nothing is asked and nothing sent. Returns an error that has
// been raised, as where `comm` is none: then the call is over.
int before_creation(MPI_Comm comm);
// One has been made of the ranks of `comm`, or some of them: this one is in it or not.
void after_creation(MPI_Comm comm, bool is_member);
void after_freeing();  // one has been freed

}  // namespace sibyl::hooks
