/* The frames of a Python program that calls MPI, by the functions of whatever interpreter the
 * process has. Shared by the shim and the recorder of `sibyl profile`.
 */
#ifndef SIBYL_PRELOAD_PYTHON_FRAMES_H
#define SIBYL_PRELOAD_PYTHON_FRAMES_H

#include <stdint.h>

/* Whether the object at this path is a module of Python's, which all lines of a program call from
 * one address. */
int python_module(const char* path);

/* Shows the frames of this thread, the innermost first, until one is taken: `take` returns nonzero
 * then. `code` is the frame's code object, the caller's for as long as `take` lasts, `position` a
 * number for where in it the frame is; all is under the interpreter's lock. Returns 0 where none is
 * taken, or this thread runs no Python. */
int python_frames(int (*take)(void* code, int position, void* frame, void* data), void* data);

/* For `take`. Which line that is: the longer the code, the longer it takes. */
int python_line_of(void* frame);
/* An attribute of a code object that is a text, null where there is none; let go of
 * `*object`, null or not, when the text is no longer needed. */
const char* python_text(void* code, const char* attribute, void** object);
void python_keep(void* object);
void python_let_go(void* object);
/* For `take`. Whether a file is one of the package mpi4py, whose calls are made for the program. */
int python_of_mpi4py(const char* file);

/* A number for where the innermost frame outside mpi4py is, another one for each call there; 0
 * where there is none. Code objects are not kept: a new one may come to the place of one that is
 * gone. 0 too where other threads run Python: one of them may keep the interpreter's lock until the
 * call that asks has been taken part in. */
int64_t python_line(void);

#endif
