/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the stand-in NCCL. */
#ifndef CLIENTS_NCCL_STANDIN_H
#define CLIENTS_NCCL_STANDIN_H

#include <stdbool.h>
#include <stdint.h>

#include "nccl.h"

enum standin_call {
    CALL_INIT,
    CALL_DESTROY,
    CALL_ABORT,
    CALL_SPLIT,
    CALL_FINALIZE,
    CALL_ALL_GATHER,
    CALL_ALL_REDUCE,
    CALL_BROADCAST,
    CALL_REDUCE_SCATTER,
    CALL_REDUCE,
    CALL_SEND,
    CALL_RECV,
    CALLS
};

/* ---- where ranks meet (meet.c): a file that all of them map -------------------------------------- */

struct meeting;

/* The path of a new one; false: it could not be made. */
bool meeting_create(char path[static 128]);
/* Returns when all ranks have come, and then removes the file. NULL: it could not be mapped, or a rank has gone. */
struct meeting *meeting_join(const char *path, int ranks, int rank);
void meeting_leave(struct meeting *meeting);
/* The next operation of all ranks: returns at the same moment in all of them, `transfer_ns` after the last has come. False: a
 * rank has gone. */
bool meeting_meet(struct meeting *meeting, uint64_t transfer_ns);
/* What a rank says to the others, and what those say, before and after a meeting. */
void meeting_say(struct meeting *meeting, const int words[static 2]);
void meeting_hear(const struct meeting *meeting, int rank, int words[static 2]);
/* From one rank to another, in order. */
void meeting_send(struct meeting *meeting, int to);
bool meeting_receive(struct meeting *meeting, int from, uint64_t transfer_ns);

/* ---- what a tool is shown (show.c) --------------------------------------------------------------- */

struct shown {
    enum standin_call call;
    uint64_t communicator, parent, bytes;
    int ranks, rank, device, root, op, color, key;
};

/* A range of NCCL's domain with the name of the function that the caller is. */
void show_begin(const char *function);
/* With what is known from its beginning. */
void show_begin_with(const char *function, const struct shown *shown);
void show_end(void);
/* With what is known at its end. */
void show_end_with(const struct shown *shown);

#endif
