/* SPDX-License-Identifier: Apache-2.0 */
/* Works on many files, each in a process of its own: a damaged one that ends its process costs only itself. */
#ifndef GMT_ANALYZER_BASE_PROCESS_EACH_H
#define GMT_ANALYZER_BASE_PROCESS_EACH_H

#include <stddef.h>
#include <stdio.h>

struct gmt_process_each {
    void *context; /* the caller's, for these functions */
    /* In a process of its own, which ends with the status that it returns: writes the answer for the i-th. */
    int (*answer)(void *context, size_t i, FILE *to);
    /* Reads it. 0 or negative errno: it is no answer. */
    int (*take)(void *context, size_t i, FILE *from);
    /* There is no answer. signal: what ended the process; 0: another reason. 0 or -ENOMEM. */
    int (*fail)(void *context, size_t i, int signal);
};

/* As many at a time as there are processors; taken in order. All processes end with the caller's. 0 or -ENOMEM. */
int gmt_process_each(size_t count, const struct gmt_process_each *each);

#endif
