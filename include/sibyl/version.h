/* Version of Sibyl: the one place where it is written. */
#ifndef SIBYL_VERSION_H
#define SIBYL_VERSION_H

#define SIBYL_VERSION_MAJOR 0
#define SIBYL_VERSION_MINOR 1
#define SIBYL_VERSION_PATCH 0
#define SIBYL_VERSION_STRING "0.1.0"

#endif
