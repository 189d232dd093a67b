/* SPDX-License-Identifier: Apache-2.0 */
/* What the scenarios of hardclient share. */
#ifndef CLIENTS_HARD_H
#define CLIENTS_HARD_H

#include "client.h"

/* `n` copies of 64 bytes to a buffer of the current context, which is allocated and freed. */
void hard_copies(long n);

#endif
