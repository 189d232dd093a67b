/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's worker thread, with CUPTI_STANDIN_WORKER set: once something is asked of CUPTI it fetches records of kernels, every flush
 * period and whenever one is set. A launch that is counted while it works may never end.
 */
#ifndef CLIENTS_CUPTI_WORKER_H
#define CLIENTS_CUPTI_WORKER_H

#include <stdbool.h>

/* The thread may work while the next launch is made, or works now. */
bool worker_may_work(void);

/* A launch is counted from now on, or no longer: the process ends where the thread begins to work meanwhile. */
void worker_must_sleep(bool begins);

#endif
