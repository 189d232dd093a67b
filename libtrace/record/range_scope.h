/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a trace says that it was recorded inside of ranges of one name only: rows of table capability.
 * The library writes them, the recorder adds to them (store/range_scope.c), the analysis reads them.
 */
#ifndef GMT_RECORD_RANGE_SCOPE_H
#define GMT_RECORD_RANGE_SCOPE_H

#define GMT_RANGE_SCOPE "range" /* its detail holds both texts, with the name between them */
#define GMT_RANGE_SCOPE_BEFORE "only copies, memsets, launches and waits inside of ranges named '"
#define GMT_RANGE_SCOPE_AFTER "' are recorded"

/* While a thread was inside, another one was not, and made calls: they are not in the trace. */
#define GMT_RANGE_SCOPE_THREADS "range.threads"

/* The trace holds the last seconds of a recording only (store/recording/ring.h). */
#define GMT_RING_SCOPE "ring"

#endif
