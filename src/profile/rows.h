/* Totals: one row for each site, communicator and function. Any thread may find or make any of
 * them; to one of them one thread adds at a time.
 */
#ifndef SIBYL_PROFILE_ROWS_H
#define SIBYL_PROFILE_ROWS_H

#include <stdint.h>

enum { no_row = -1 };

/* Index of the row, which is made where there is none; no_row: there is no more room. */
int32_t row_of(int32_t site, uint32_t communicator, uint32_t function);
/* A call has ended. */
void row_count(uint32_t index, uint64_t bytes, int64_t ns);
/* Forgets the row, while there is one and no other thread. */
void row_remove_only(void);

#endif
