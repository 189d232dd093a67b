/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts, devices and streams of the program, as ids in the trace. */
#ifndef GMT_PRELOAD_STATE_CONTEXT_H
#define GMT_PRELOAD_STATE_CONTEXT_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* gmt_context.id of the calling thread's current context, 0 without one. The first sight of a
 * context or device writes its record. */
uint16_t gmt_context_current(CUcontext *handle);

/* How many contexts the hooks know that are not gone. */
unsigned gmt_context_live(void);
/* Has there been more than one? A few ns. */
bool gmt_context_several(void);
/* Is nothing under way in any of them, as gmt_streams_idle says of one? False, too, where one cannot be asked. */
bool gmt_contexts_idle(void);
/* Of that one, from any thread. True, too, where it has gone, and where the driver lets nobody enter it any more. */
bool gmt_context_idle(CUcontext context);
/* Wait for all that is under way in those that are not the current one. False: the driver refuses. */
bool gmt_contexts_wait_for_others(void);

/* A context may be about to go: by the release of a primary one, if it is the last (NULL: none). */
void gmt_context_releasing(CUcontext handle);
/* It went: its handle may come back as another one. Returns the id that it had; 0: it is not known. */
uint16_t gmt_context_forget(CUcontext handle);

/* The primary context of a device, NULL while it has none. Contexts that the program made itself outlive
 * its reset. */
CUcontext gmt_context_primary(CUdevice device);

/* Note a stream at its first use (GMT_REC_STREAM); `context` is the current one. Returns the id of the
 * stream's own: programs may copy to, wait for and destroy streams of other contexts. */
uint16_t gmt_stream_note(CUcontext context, uint16_t context_id, CUstream stream, bool per_thread);
/* Is nothing under way in the streams of the current context, `context_id`? Default streams of other threads are not
 * asked. There is no capture: the caller sees to that. */
bool gmt_streams_idle(uint16_t context_id);
/* The stream is about to be destroyed; its handle may come back as another one. Waits until no other thread asks it any more.
 * Returns its context's id. */
uint16_t gmt_stream_forget(CUstream stream);

/* Captures: how many are under way in the process, and is this stream part of one? */
extern _Atomic int gmt_captures;
void gmt_capture_began(void);
void gmt_capture_ended(void);
/* Has a thread other than this one ever begun one? */
bool gmt_captures_of_others(void);
bool gmt_stream_is_capturing(CUstream stream, bool per_thread);
/* ... or was, and the capture has been invalidated but not ended? */
bool gmt_stream_is_in_capture(CUstream stream, bool per_thread);

/* In a forked child: nothing is known. */
void gmt_context_reset(void);

#endif
