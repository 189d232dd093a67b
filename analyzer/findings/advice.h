/* SPDX-License-Identifier: Apache-2.0 */
/* What the user can do where the code is a library's: the fix in the words of the framework, or a note. */
#ifndef GMT_ANALYZER_FINDINGS_ADVICE_H
#define GMT_ANALYZER_FINDINGS_ADVICE_H

#include "analyzer/findings/compiled.h"
#include "analyzer/findings/makers.h"
#include "analyzer/findings/rule.h"

/*
 * Gives the finding the fix that fits the framework which made the call at `where`, if the table has one for its rule.
 * A finding about the code or the launch of a library's kernel, for which there is none, becomes a note.
 */
void gmt_finding_advise(struct gmt_analysis *analysis, struct gmt_finding *finding,
                        const struct gmt_where *where);
/* The same by rows of another name than the rule's, which stay then. */
void gmt_finding_advise_as(struct gmt_analysis *analysis, struct gmt_finding *finding,
                           const struct gmt_where *where, const char *name);

/*
 * Of two kernels, of which the finding is about the second and `first` is the other's place: where that one is a library's,
 * and no advice fits it either, it becomes a note.
 */
void gmt_finding_advise_both(struct gmt_analysis *analysis, struct gmt_finding *finding,
                             const struct gmt_where *first);

/* Such names. */
#define GMT_ADVICE_HOST_CODE "GM512 host code"
#define GMT_ADVICE_LOADS "GM512 loads"
#define GMT_ADVICE_GROWTH "GM204 growth"

/* Of copies: device to host. Beside enum gmt_compiled. */
#define GMT_ADVICE_DOWNLOAD (1U << 8)

struct gmt_advice {
    const char *rule; /* or such a name; NULL: any that is about the code of a kernel */
    enum gmt_framework framework;
    unsigned when;     /* all of these: GMT_ADVICE_DOWNLOAD, enum gmt_compiled */
    const char *frame; /* a path or function on the stack that it takes; NULL: none */
    const char
        *kernel; /* what the kernel's name holds; NULL: anything, and calls that are no kernels */
    const char *fix, *sketch;
};

/* NULL: none. `kernel`: its name, NULL: none is meant. */
const struct gmt_advice *gmt_advice_find(const char *rule, enum gmt_framework framework,
                                         const struct gmt_where *where);

#endif
