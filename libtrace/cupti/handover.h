/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Living together with a program that uses CUPTI itself.
 *
 * Activity kinds, buffer callbacks, the clock and the profiler exist once per process. Before the
 * program's request for one of them is answered, the collector stops measuring, has its records
 * delivered and switches its kinds off; when the program has switched off what it switched on and has
 * its buffers back, the collector takes up again. Each such time is a GMT_REC_DEVICE_GAP in the trace.
 * What the program holds is counted from its first request on, also while nothing is recorded.
 *
 * The hooks (preload/hooks/cupti.c) call these around CUPTI's own function. Every call is bounded (3 s), and none
 * may fail: the program gets what CUPTI itself answers. Calls made from within these are let through.
 */
#ifndef GMT_CUPTI_HANDOVER_H
#define GMT_CUPTI_HANDOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "libtrace/cupti/base/holds.h"
#include "libtrace/cupti/base/loader.h"
#include "libtrace/record/collector.h"

/* What a request does. */
enum gmt_request {
    GMT_REQUEST_PLAIN = 0,   /* disturbs nobody; buffers may have come back by it      */
    GMT_REQUEST_CLAIM = 1,   /* wants CUPTI for itself while it is answered            */
    GMT_REQUEST_HOLD = 2,    /* ... and, if it succeeds, until one of the same kind ... */
    GMT_REQUEST_RELEASE = 4, /* ... that gives back                                    */
    GMT_REQUEST_RETRY = 8,   /* claims only where CUPTI refuses it otherwise           */
    GMT_REQUEST_END = 16,    /* takes CUPTI down altogether                            */
    GMT_REQUEST_END_PROFILER = 32,
};

struct gmt_handover {
    unsigned request; /* enum gmt_request, any number of */
    enum gmt_held held;
    uint64_t key;         /* distinguishes things of one kind that can be held side by side */
    const char *function; /* CUPTI's; lives as long as the process */
    const void *caller;   /* an address in the module that asks */
    /* The rest belongs to handover.c. */
    bool nested, claimed;
};

void gmt_handover_before(struct gmt_handover *request);
/* CUPTI answered `result`: true if it shall be asked once more. */
bool gmt_handover_again(struct gmt_handover *request, CUptiResult result);
void gmt_handover_after(struct gmt_handover *request, CUptiResult result);

/* True while the collector uses CUPTI. */
bool gmt_handover_is_ours(void);

/* Calls `work` while CUPTI is the collector's, which it stays until it returns. False: it is not, or another thread is about
 * to change that; nothing was called. Does not wait. */
bool gmt_handover_try(void (*work)(void));

/* The program's values of what CUPTI has one of. Each takes effect while the collector stands back. */
void gmt_handover_set_clock(CUpti_TimestampCallbackFunc clock);
/* True: the period was kept for later, CUPTI is not to be called now. */
bool gmt_handover_set_flush_period(uint32_t milliseconds);
/* True: *ns is what cuptiGetTimestamp would say if nobody but the program used CUPTI. */
bool gmt_handover_time(uint64_t *ns);

/* The collector begins, or ends. Both stay valid for the life of the process. False: the program uses
 * CUPTI already, timestamps begin when it has done. Else *failed and *result say how it went. */
bool gmt_handover_start(const struct gmt_cupti_api *api, const struct gmt_collector_config *config,
                        CUptiResult *result, const char **failed);
/* At exit. True: CUPTI is the collector's, who may flush it. */
bool gmt_handover_finish(void);
/* In a forked child. */
void gmt_handover_abandon(void);

/* Switches the collector's own records off, or on again, and writes that, unless they are already. False: they are not ours now, or
 * another thread is at work here. Within enter and leave of the collector. */
bool gmt_handover_switch(bool on);

#endif
