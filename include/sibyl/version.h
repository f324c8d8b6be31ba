/* Version of Sibyl: the one place where it is written. */
#ifndef SIBYL_VERSION_H
#define SIBYL_VERSION_H

#define SIBYL_VERSION_MAJOR 1
#define SIBYL_VERSION_MINOR 0
#define SIBYL_VERSION_PATCH 0
#define SIBYL_VERSION_STRING "1.0.0"

#endif
