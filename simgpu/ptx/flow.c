/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where diverged threads reconverge: the control-flow graph and its post-dominators.
 *
 * A path on which threads end (exit, trap, a failed assertion) never comes back, so it must not keep
 * the other threads from meeting: threads that part at "if" meet behind it although one side may
 * trap. Hence ways out are taken in order of rank; what can leave the function in a better way is
 * looked at as if worse ways did not exist, and only code that has no better way gets them. Code that
 * never ends (persistent kernels) gets its last block as the way out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "simgpu/ptx/graph.h"
#include "simgpu/ptx/ptx.h"

enum rank {
    RANK_NONE = 0,     /* does not leave */
    RANK_RETURN,       /* ret, the end of the function; a guarded ret to a caller */
    RANK_EXIT,         /* exit */
    RANK_GUARDED_EXIT, /* @p exit, @p ret of a kernel */
    RANK_TRAP,         /* trap */
    RANK_NEVER,        /* infinite loops */
};

enum end_kind { END_FALLS, END_BRANCH, END_TABLE, END_LEAVES };

enum { EXIT_NODE = 0 }; /* block b is node b + 1, the tables follow */

struct flow {
    const struct ptx_function *function;
    struct gmt_arena arena;
    uint32_t *block_of; /* instruction -> block; one entry more for the end of the function */
    uint32_t *first;    /* block -> instruction, and the end */
    uint32_t block_count, table_count, node_count;
    const struct ptx_table **tables;
    struct ptx_edge *edges;
    size_t edge_count;
    uint8_t *rank;   /* of the way a node leaves the function */
    uint32_t *layer; /* 0 = not yet found to leave */
};

static bool is_opcode(const struct ptx_instruction *instruction, const char *opcode)
{
    return strcmp(instruction->opcode, opcode) == 0;
}

static const struct ptx_table *table_of(const struct ptx_instruction *instruction)
{
    for (uint32_t i = 0; i < instruction->operand_count; i++) {
        if (instruction->operands[i].kind == PTX_OPERAND_TABLE &&
            instruction->operands[i].table->labels != NULL) {
            return instruction->operands[i].table;
        }
    }
    return NULL;
}

static enum end_kind end_of(const struct ptx_instruction *instruction)
{
    if (is_opcode(instruction, "bra") && instruction->operand_count == 1 &&
        instruction->operands[0].kind == PTX_OPERAND_LABEL) {
        return END_BRANCH;
    }
    if (is_opcode(instruction, "brx") && table_of(instruction) != NULL) {
        return END_TABLE;
    }
    if (is_opcode(instruction, "ret") || is_opcode(instruction, "exit") ||
        is_opcode(instruction, "trap")) {
        return END_LEAVES;
    }
    return END_FALLS;
}

static enum rank rank_of(const struct flow *flow, const struct ptx_instruction *instruction)
{
    if (is_opcode(instruction, "trap")) {
        return RANK_TRAP;
    }
    if (is_opcode(instruction, "exit")) {
        return instruction->guarded ? RANK_GUARDED_EXIT : RANK_EXIT;
    }
    return instruction->guarded && flow->function->is_entry ? RANK_GUARDED_EXIT : RANK_RETURN;
}

static void *get(struct flow *flow, size_t count, size_t bytes)
{
    return gmt_arena_alloc(&flow->arena, count * bytes);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static int compare_tables(const void *a, const void *b)
{
    uintptr_t left = (uintptr_t) * (const struct ptx_table *const *)a;
    uintptr_t right = (uintptr_t) * (const struct ptx_table *const *)b;

    return left < right ? -1 : left > right;
}

/* The tables in use, each once: a node each, so that many jumps through one table cost little. */
static int find_tables(struct flow *flow)
{
    const struct ptx_function *function = flow->function;
    uint32_t found = 0, kept = 0;

    for (uint32_t i = 0; i < function->instruction_count; i++) {
        found += end_of(&function->instructions[i]) == END_TABLE;
    }
    flow->tables = get(flow, (size_t)found + 1, sizeof(struct ptx_table *));
    if (flow->tables == NULL) {
        return -ENOMEM;
    }
    found = 0;
    for (uint32_t i = 0; i < function->instruction_count; i++) {
        if (end_of(&function->instructions[i]) == END_TABLE) {
            flow->tables[found++] = table_of(&function->instructions[i]);
        }
    }
    qsort(flow->tables, found, sizeof(struct ptx_table *), compare_tables);
    for (uint32_t i = 0; i < found; i++) {
        if (kept == 0 || flow->tables[kept - 1] != flow->tables[i]) {
            flow->tables[kept++] = flow->tables[i];
        }
    }
    flow->table_count = kept;
    return 0;
}

static uint32_t table_node(const struct flow *flow, const struct ptx_table *table)
{
    const struct ptx_table **found = bsearch(&table, flow->tables, flow->table_count,
                                             sizeof(struct ptx_table *), compare_tables);

    return flow->block_count + 1 + (uint32_t)(found - flow->tables);
}

static int find_blocks(struct flow *flow)
{
    const struct ptx_function *function = flow->function;
    uint32_t count = function->instruction_count, block = 0;
    bool *leads = get(flow, (size_t)count + 2, sizeof(bool));

    flow->block_of = get(flow, (size_t)count + 1, sizeof(uint32_t));
    flow->first = get(flow, (size_t)count + 1, sizeof(uint32_t));
    if (leads == NULL || flow->block_of == NULL || flow->first == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        enum end_kind end = end_of(&function->instructions[i]);

        if (end == END_BRANCH) {
            leads[function->instructions[i].operands[0].label] = true;
        }
        leads[i + 1] = leads[i + 1] || end != END_FALLS;
    }
    for (uint32_t i = 0; i < flow->table_count; i++) {
        for (uint32_t j = 0; j < flow->tables[i]->count; j++) {
            leads[flow->tables[i]->labels[j]] = true;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || leads[i]) {
            flow->first[block++] = i;
        }
        flow->block_of[i] = block - 1;
    }
    flow->first[block] = count;
    flow->block_of[count] = block; /* the end of the function */
    flow->block_count = block;
    flow->node_count = 1 + block + flow->table_count;
    return 0;
}

/* ---- edges ----------------------------------------------------------------------------------- */

static void add_edge(struct flow *flow, uint32_t from, uint32_t instruction)
{
    uint32_t block = flow->block_of[instruction];

    if (block == flow->block_count) {
        flow->rank[from] = RANK_RETURN;
    } else {
        flow->edges[flow->edge_count++] = (struct ptx_edge){from, block + 1};
    }
}

static void add_block_edges(struct flow *flow, uint32_t block)
{
    uint32_t last = flow->first[block + 1] - 1, node = block + 1;
    const struct ptx_instruction *instruction = &flow->function->instructions[last];
    enum end_kind end = end_of(instruction);

    if (end == END_BRANCH) {
        add_edge(flow, node, instruction->operands[0].label);
    } else if (end == END_TABLE) {
        flow->edges[flow->edge_count++] = (struct ptx_edge){
            node, table_node(flow, table_of(instruction))};
    } else if (end == END_LEAVES) {
        flow->rank[node] = (uint8_t)rank_of(flow, instruction);
    }
    if (end == END_FALLS || instruction->guarded) {
        add_edge(flow, node, last + 1);
    }
}

static int find_edges(struct flow *flow)
{
    size_t most = (size_t)flow->block_count * 2 + flow->node_count; /* and one to the exit each */

    for (uint32_t i = 0; i < flow->table_count; i++) {
        most += flow->tables[i]->count;
    }
    flow->edges = get(flow, most, sizeof(*flow->edges));
    flow->rank = get(flow, flow->node_count, 1);
    flow->layer = get(flow, flow->node_count, sizeof(uint32_t));
    if (flow->edges == NULL || flow->rank == NULL || flow->layer == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < flow->block_count; i++) {
        add_block_edges(flow, i);
    }
    for (uint32_t i = 0; i < flow->table_count; i++) {
        for (uint32_t j = 0; j < flow->tables[i]->count; j++) {
            add_edge(flow, flow->block_count + 1 + i, flow->tables[i]->labels[j]);
        }
    }
    return 0;
}

/* ---- ways out -------------------------------------------------------------------------------- */

struct flow_walk {
    struct ptx_neighbours predecessors;
    uint32_t *stack;
    uint32_t depth;
};

static void push(struct flow *flow, struct flow_walk *walk, uint32_t node, uint32_t layer)
{
    if (flow->layer[node] == 0) {
        flow->layer[node] = layer;
        walk->stack[walk->depth++] = node;
    }
}

/* Everything that can come to what is on the stack belongs to `layer` too. */
static void spread(struct flow *flow, struct flow_walk *walk, uint32_t layer)
{
    while (walk->depth > 0) {
        uint32_t node = walk->stack[--walk->depth];

        for (uint32_t i = walk->predecessors.first[node]; i < walk->predecessors.first[node + 1];
             i++) {
            push(flow, walk, walk->predecessors.neighbours[i], layer);
        }
    }
}

/* Give each node the layer of the way it leaves by; edges to worse layers are dropped. */
static int find_layers(struct flow *flow)
{
    struct flow_walk walk = {.stack = get(flow, flow->node_count, sizeof(uint32_t))};
    uint32_t layer = RANK_NEVER;
    size_t kept = 0;

    if (walk.stack == NULL || ptx_predecessors(&flow->arena, flow->edges, flow->edge_count,
                                               flow->node_count, &walk.predecessors) != 0) {
        return -ENOMEM;
    }
    flow->layer[EXIT_NODE] = UINT32_MAX;
    for (uint32_t rank = RANK_RETURN; rank < RANK_NEVER; rank++) {
        for (uint32_t i = 1; i < flow->node_count; i++) {
            if (flow->rank[i] == rank) {
                push(flow, &walk, i, rank);
            }
        }
        spread(flow, &walk, rank);
    }
    for (uint32_t i = flow->node_count; i-- > 1; layer++) {
        if (flow->layer[i] == 0) {
            flow->rank[i] = RANK_NEVER;
        }
        push(flow, &walk, i, layer);
        spread(flow, &walk, layer);
    }
    for (size_t i = 0; i < flow->edge_count; i++) {
        if (flow->layer[flow->edges[i].from] == flow->layer[flow->edges[i].to]) {
            flow->edges[kept++] = flow->edges[i];
        }
    }
    flow->edge_count = kept;
    for (uint32_t i = 1; i < flow->node_count; i++) {
        if (flow->rank[i] == RANK_NEVER || flow->rank[i] == flow->layer[i]) {
            flow->edges[flow->edge_count++] = (struct ptx_edge){i, EXIT_NODE};
        }
    }
    return 0;
}

/* ---- the answer ------------------------------------------------------------------------------ */

static int set_meeting_points(struct flow *flow, uint32_t *out)
{
    uint32_t *meet = get(flow, flow->node_count, sizeof(uint32_t));

    if (meet == NULL || ptx_post_dominators(&flow->arena, flow->edges, flow->edge_count,
                                            flow->node_count, meet) != 0) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < flow->block_count; i++) {
        uint32_t last = flow->first[i + 1] - 1;
        uint32_t node = meet[i + 1];

        if (end_of(&flow->function->instructions[last]) == END_FALLS) {
            continue;
        }
        while (node != PTX_NO_NODE && node > flow->block_count) { /* behind the table */
            node = meet[node];
        }
        if (node != PTX_NO_NODE && node != EXIT_NODE) {
            out[last] = flow->first[node - 1];
        }
    }
    return 0;
}

int ptx_reconvergence(const struct ptx_function *function, uint32_t *out)
{
    struct flow flow = {.function = function};
    int result = 0;

    for (uint32_t i = 0; i < function->instruction_count; i++) {
        out[i] = PTX_NO_RECONVERGENCE;
    }
    if (function->instruction_count == 0) {
        return 0;
    }
    if (find_tables(&flow) != 0 || find_blocks(&flow) != 0 || find_edges(&flow) != 0 ||
        find_layers(&flow) != 0 || set_meeting_points(&flow, out) != 0) {
        result = -ENOMEM;
    }
    gmt_arena_free(&flow.arena);
    return result;
}
