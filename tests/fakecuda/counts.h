/* SPDX-License-Identifier: Apache-2.0 */
/* The file FAKECUDA_COUNTS: one record per entry point, updated in place. `fakecounts` prints it. */
#ifndef FAKECUDA_COUNTS_H
#define FAKECUDA_COUNTS_H

#include <stdatomic.h>
#include <stdint.h>

struct fake_count {
    char name[56];
    _Atomic uint64_t calls;
};

#endif
