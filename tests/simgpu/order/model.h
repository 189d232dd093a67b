/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What CUDA's documentation says of the order of work, as a table: which of two operations must be done first.
 *
 * Written without a look at simgpu/order: rules are applied to all earlier operations, one by one, and closed by brute force.
 */
#ifndef SIMGPU_TESTS_ORDER_MODEL_H
#define SIMGPU_TESTS_ORDER_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_MOST 600
#define MODEL_STREAMS 6
#define MODEL_WORDS 8

enum model_stream { MODEL_LEGACY, MODEL_BLOCKING, MODEL_FREE };

struct model_operation {
    int stream;            /* -1: a node of a graph */
    uint8_t reads, writes; /* bit set of words */
    int log;               /* the number that it writes down when it is done, -1: none */
};

struct model {
    enum model_stream kinds[MODEL_STREAMS];
    struct model_operation operations[MODEL_MOST];
    int count;
    bool before[MODEL_MOST][MODEL_MOST]; /* [a][b]: a must be done before b begins */
    bool seen[MODEL_MOST];               /* the host knows that it is done */
};

/* An operation of a stream, after all the rules say; returns its number. */
int model_append(struct model *model, int stream, uint8_t reads, uint8_t writes, int log);
/* A node of a graph: it comes after what model_after says, and what the host has seen. */
int model_node(struct model *model, uint8_t reads, uint8_t writes, int log);
void model_after(struct model *model, int operation, int before);

/* The host has waited for it. */
void model_see(struct model *model, int operation);
void model_see_stream(struct model *model, int stream);
void model_see_all(struct model *model);

/* Two conflicting accesses that nothing orders. */
bool model_conflicts(const struct model *model);

#endif
