/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a CUPTI that counts instructions does not bear, for its stand-in (cupti_sass.c): another thread inside of the driver
 * between the begin and the end of counting, and counting in a process in which another thread has captured (docs/cupti-notes.md).
 * NVIDIA's crashes or never returns then, now and then; the stand-in says so in its log, and aborts, each time.
 *
 * Calls that wait, ask or look up are borne: NAMES in cupti_inside.c. Over the software device only, which reports calls.
 */
#ifndef CLIENTS_CUPTI_INSIDE_H
#define CLIENTS_CUPTI_INSIDE_H

/* Look at calls from now on; `say` gets a line before the process is aborted. */
void inside_start(void (*say)(const char *what));
/* The calling thread's counting begins, or has ended. */
void inside_counting_begins(void);
void inside_counting_ended(void);

#endif
