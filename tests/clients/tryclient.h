/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of tryclient share. */
#ifndef GMT_TESTS_CLIENTS_TRYCLIENT_H
#define GMT_TESTS_CLIENTS_TRYCLIENT_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ends the program where a call has failed. */
void ok(CUresult result, const char *call);
#define OK(call) ok((call), #call)

/* Is this the word behind the comma of its MODE? */
bool does(const char *word);
/* Does the library read a plan with a fix that is on? */
bool sees_fix(void);
uint64_t sum_of(const uint8_t *bytes, size_t count);

extern CUcontext primary;
void retain(void); /* it, for this thread */

extern _Thread_local unsigned part; /* of `turns`: this thread's */
/* To the device and back, and prints the sum of what came back; other bytes for each part and turn. */
void copy(unsigned turn);

void take_turns(void);
void copy_in_many(void);
void crowd(void);
void copy_boxes(void);

#endif
