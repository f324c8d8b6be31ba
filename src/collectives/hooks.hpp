// What happens when the program starts and ends MPI, as far as the preload sees it.
//
// Each is called by the wrapper of a generated entry (preload/functions.txt) on the thread that
// made the call, with the re-entry guard held, so that MPI functions called here are not
// intercepted. None may throw. They are not called for an MPI_Init that the shim does not see: one
// that the program defines itself, or that a profiling tool in front of Sibyl turns into PMPI_Init;
// and not at all for programs that link the library. So they may make things earlier or later, but
// nothing may rest on them alone.
#pragma once

namespace sibyl::hooks {

// MPI_Init or MPI_Init_thread has succeeded; the program has not had control since.
void after_init();
// MPI_Finalize was called. Callbacks that the MPI library runs in it (delete functions of
// attributes of MPI_COMM_SELF) are the program's code: the collectives that they call come to
// Sibyl as any others.
void before_finalize();
// MPI_Finalize has succeeded; no MPI function may be called any more, unless a session is open.
void after_finalize();
// MPI_Session_init has succeeded, whether the world model is initialised or not.
void after_session_init();
// MPI_Session_finalize was called; the session's communicators are freed.
void before_session_finalize();
// MPI_Session_finalize has succeeded; other sessions and the world model may go on.
void after_session_finalize();

}  // namespace sibyl::hooks
