/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers that options of recording take: read by the library, and checked before by the launcher. */
#ifndef GMT_RECORD_OPTION_LIMITS_H
#define GMT_RECORD_OPTION_LIMITS_H

/* X(field, least, most), with the units of options.def. */
#define GMT_OPTION_LIMITS(X) \
    X(metrics_interval, 1, 3600) \
    X(spool_limit, 1, 1 << 20) \
    X(overhead, 0, 100) \
    X(counter_budget, 0, 100) \
    X(counter_samples, 1, 1000) \
    X(hold_limit, 1, 60000) \
    X(fingerprint_limit, 0, 1 << 30) \
    X(fingerprint_budget, 0, 100)

#endif
