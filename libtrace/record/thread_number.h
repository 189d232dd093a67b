/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of the threads that write into a spool: gmt_thread.id, from 1 in each spool. */
#ifndef GMT_RECORD_THREAD_NUMBER_H
#define GMT_RECORD_THREAD_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* This thread's, of the spool that the present epoch (epoch.h) is of. True: it was given just now, and nothing
 * tells of the thread yet. */
bool gmt_thread_number(uint32_t *number);

/* The next thread is the first of another spool. */
void gmt_thread_numbers_reset(void);

#endif
