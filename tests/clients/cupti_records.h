/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of kernels for the stand-in of CUPTI (cupti_sass.c), which has none but keeps count of whether there could be some that
 * nobody has fetched. NVIDIA's fetches them in a thread of its own, which takes a lock of CUPTI and then one of the driver; a launch
 * whose instructions are counted takes them the other way round (docs/cupti-notes.md). Only where CUPTI_STANDIN_RECORDS is set:
 * otherwise these functions refuse, as all others that the stand-in lacks.
 */
#ifndef CLIENTS_CUPTI_RECORDS_H
#define CLIENTS_CUPTI_RECORDS_H

#include <stdbool.h>

/* Kernels may have run with their kind of records on since it was switched off and all were fetched. */
bool records_are_left(void);

#endif
