/* SPDX-License-Identifier: Apache-2.0 */
/* A process that measures for another one and sends it lines of JSON: plain C, no CUDA. */
#ifndef GMT_KERNELS_FIT_CHILD_H
#define GMT_KERNELS_FIT_CHILD_H

#include <jansson.h>
#include <stddef.h>
#include <sys/types.h>

/* Where the child writes; its stdout is the stderr of both. */
#define GMT_CHILD_FD 3

struct gmt_child {
    const char *program;
    char *const *arguments; /* its argv, ends with NULL */
    unsigned timeout_s;     /* it is killed when it has been silent for so long */
    /* What it says of its progress; context is handed through. May be NULL. */
    void (*heard)(void *context, double units, const char *what);
    void *context;
};

/*
 * Runs the child to its end. 0, and the caller owns *result, once it has sent one, however it ended
 * after that. Else *result is NULL and one line is in message: -ETIME, it was silent and is killed;
 * -ECHILD, it ended without a result; or another negative errno where it could not be started. It is
 * gone and waited for in every case, unless the kernel cannot end it.
 */
int gmt_child_run(const struct gmt_child *child, json_t **result, char *message, size_t bytes);

/*
 * In the child, first of all: it will be killed when the parent ends, by whatever signal, and keeps its
 * pipe to itself. 0; -ESRCH: the parent is gone already; -EBADF: there is no pipe.
 */
int gmt_child_begin(pid_t parent);

/* Sends a message: progress, and at the end a result (taken over) or an error. */
void gmt_child_progress(double units, const char *what);
void gmt_child_result(json_t *result);
void gmt_child_error(const char *text);

#endif
