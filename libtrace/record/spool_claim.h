/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a spool gets its name. Its folder is made beside it under a name of its own, with a control page that
 * is mapped and locked, and then renamed: of several processes one gets the name, and whoever sees a spool
 * sees a whole one, whose lock is held as long as its writer lives.
 */
#ifndef GMT_RECORD_SPOOL_CLAIM_H
#define GMT_RECORD_SPOOL_CLAIM_H

#include <stdbool.h>
#include <sys/types.h>

#include "libtrace/record/layout.h"

/* The folder until then: this, the process id, '-' and a time. A process that is killed in between leaves
 * it. */
#define GMT_SPOOL_CLAIM_PREFIX ".gmtrace-"

/* What is remembered of a spool. The control page is mapped, so that its inode number is no other file's. */
struct gmt_spool_claim {
    struct gmt_control *control;
    int control_fd; /* holds the lock; the program may have closed it */
    dev_t device;   /* of the control file, as the next one */
    ino_t inode;
};

/* Make the folder with its control page, which is empty. 0 or negative errno. One thread at a time. */
int gmt_spool_claim_begin(struct gmt_spool_claim *claim, const char *directory);

/* Give it its name. -EEXIST: something else has it. After an error nothing of the claim is left. */
int gmt_spool_claim_finish(struct gmt_spool_claim *claim, const char *directory);

/* Open the folder as a place to make files in: the name may lead to another by now. A descriptor, -ESTALE
 * where it does, or negative errno. */
int gmt_spool_claim_enter(const struct gmt_spool_claim *claim, const char *directory);

/* Is this path still the control file's? */
bool gmt_spool_claim_is_at(const struct gmt_spool_claim *claim, const char *control_path);

/* Unmap and close. */
void gmt_spool_claim_forget(struct gmt_spool_claim *claim);

#endif
