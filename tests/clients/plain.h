/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios of plainclient. */
#ifndef CLIENTS_PLAIN_H
#define CLIENTS_PLAIN_H

#include <sys/types.h>

/* argc of main, which may be 0. */
extern int plain_arguments;

/* Waits for `child`: its exit status, 128 + its signal, or -1. */
int plain_status_of(pid_t child);

/* Each returns the exit status; `n` is the scenario's argument, 0 if none was given. */
#define SCENARIO(name, function, help) int function(long n);
#include "plain.def"
#undef SCENARIO

#endif
