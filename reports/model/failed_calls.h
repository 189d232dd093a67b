/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that failed: which, where and with what error, and what is said of them. */
#ifndef GMT_REPORTS_MODEL_FAILED_CALLS_H
#define GMT_REPORTS_MODEL_FAILED_CALLS_H

#include "reports/model/report.h"

/* Calls of one function at one place that failed with one error. */
struct gmt_failed_call {
    struct gmt_where where;
    int result;               /* CUresult                             */
    const char *error;        /* "CUDA_ERROR_ILLEGAL_ADDRESS"; NULL: not known to this version */
    const char *runtime_name; /* of the error: "cudaErrorIllegalAddress"; NULL: none           */
    const char *words;        /* "an illegal memory access"; never NULL                        */
    bool sticky;              /* the context, or the device, is of no use any more             */
    double calls;
    double at_ns; /* when the first of them returned, from the first CUDA call; NAN: not known */
};

/* Calls that got an error which programs ask for, or handle. */
struct gmt_handled_error {
    int result;
    const char *error, *runtime_name, *words; /* as above */
    double calls;
};

struct gmt_failed_calls {
    struct gmt_failed_call *rows; /* in the order of time; not all of them */
    size_t row_count;
    double other_calls;                  /* failures that no row is of     */
    const struct gmt_failed_call *alarm; /* the first sticky one; NULL: none */
    struct gmt_handled_error *handled;   /* most frequent first            */
    size_t handled_count;
};

/*
 * Sentences without their end, in the arena. The alarm of a report; NULL: there is none.
 * "cudaDeviceSynchronize at err.cu:9 failed: an illegal memory access (700); what follows is of a program that failed"
 */
const char *gmt_failed_alarm(const struct gmt_report *report);

/* How a program ended that did not end with status 0, as a sentence without its end; NULL: with 0, not known, or the alarm says it. Many
 * programs report a result by their status: that alone is no failure. */
const char *gmt_end_words(const struct gmt_report *report);
/* "cudaDeviceSynchronize (cuCtxSynchronize) at err.cu:9: an illegal memory access (cudaErrorIllegalAddress, 700)" */
const char *gmt_failed_words(struct gmt_arena *arena, const struct gmt_failed_call *call);
/* "4 calls returned with an error that programs ask for or handle: peer access is already enabled (3), ..."; NULL: none
 * did. */
const char *gmt_failed_handled_words(const struct gmt_report *report);
/* "12 more calls failed"; NULL: none did. */
const char *gmt_failed_others_words(struct gmt_arena *arena, double calls);

#endif
