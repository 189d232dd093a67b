/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How "not measured" is said, which is never 0: a double is NAN, an integer GMT_UNKNOWN. Where a field says it
 * otherwise (0 for ids and counts that begin with 1, -1 for indices), its declaration says so. A database has
 * NULL, JSON null.
 */
#ifndef GMT_BASE_UNKNOWN_H
#define GMT_BASE_UNKNOWN_H

#include <stdint.h>

#define GMT_UNKNOWN INT64_MIN

#endif
