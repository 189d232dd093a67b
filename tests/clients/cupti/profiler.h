/* SPDX-License-Identifier: Apache-2.0 */
/* What cupticlient's scenarios are made of: device work, and a profiler like PyTorch's. */
#ifndef CLIENTS_CUPTI_PROFILER_H
#define CLIENTS_CUPTI_PROFILER_H

#include "../client.h"
#include "standin.h"

#include <cupti_callbacks.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <stdatomic.h>

struct cupti_functions {
#define FUNCTION(name) __typeof__(name) *name;
#include "functions.def"
#undef FUNCTION
};
extern struct cupti_functions cupti;
void load_cupti(void);

/* Ends the program with status 4. */
void need(bool ok, const char *what);
/* A line for a call of CUPTI that failed. */
void said(const char *what, int result);
#define SAY(call) said(#call, (int)(call))
uint64_t realtime_ns(void);

void start(void);
void launch(unsigned blocks);
/* The same; kernels were recorded, or not, when it began. */
void launch_begun(unsigned blocks, bool enabled);
/* So many copies of 4 KiB, memsets of 512 bytes and launches of 4 blocks. */
void work(unsigned times);

/* The profiler: what it saw so far, in sum, and whether it is on. */
extern _Atomic unsigned copies, sets, launches;
extern _Atomic bool profiling;
extern CUpti_SubscriberHandle subscriber;
void profile_on(void);
void profile_off(void);
void report(const char *when);
/* What it should not have seen: buffers and records that are not its own, times of another clock. */
void report_strangers(void);

/* What it registers. */
void CUPTIAPI give(uint8_t **buffer, size_t *bytes, size_t *max_records);
void CUPTIAPI take(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid);
void CUPTIAPI callback(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                       const void *what);

#endif
