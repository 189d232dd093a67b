/* SPDX-License-Identifier: Apache-2.0 */
/* What a generated program consists of, drawn from its seed before anything is done, and its PTX. */
#include "repeat/repeat.h"

#include <stdio.h>
#include <string.h>

static enum way way_of(const struct block *block)
{
    return block->hazard != NULL ? block->hazard->way : WAY_PLAIN;
}

static enum place draw_place(struct rng *rng, enum place wanted)
{
    switch (wanted) {
    case PLACE_DEVICE: return (enum place)rng_below(rng, PLACE_DEVICE);
    case PLACE_PINNED: return (enum place)(PLACE_HOST_ALLOC + rng_below(rng, 3));
    default: return wanted;
    }
}

/* A hazard's body shows whether it was executed twice. Another device's memory has no atomics everywhere. */
static bool fits(const struct body *body, const struct hazard *hazard)
{
    return hazard == NULL || (body->shows && body->declare == NULL &&
                              !(body->has_atomics && hazard->place == PLACE_PEER) &&
                              ((hazard->way != WAY_THREAD && hazard->way != WAY_DEVICES) ||
                               strcmp(body->name, "in_place") == 0));
}

static const struct body *draw_body(struct rng *rng, const struct hazard *hazard)
{
    const struct body *body;
    do {
        body = &bodies[rng_below(rng, body_count())];
    } while (!fits(body, hazard));
    return body;
}

/* Few of many threads, many of few, and sizes that go with neither; at most 512 threads in all. */
static void draw_shape(struct block *block, struct rng *rng)
{
    static const unsigned threads[] = {1, 7, 32, 33, 64, 96, 128, 250};
    unsigned size = threads[rng_below(rng, sizeof threads / sizeof threads[0])];
    unsigned blocks = block->body->is_single ? 1 : 1 + rng_below(rng, size > 64 ? 3 : 9);
    bool is_flat = rng_chance(rng, 60);
    for (unsigned i = 0; i < 3; i++) {
        block->grid[i] = block->threads[i] = 1;
    }
    block->threads[0] = is_flat ? size : size % 2 == 0 ? size / 2 : size;
    block->threads[1 + size % 2] = is_flat || size % 2 != 0 ? 1 : 2;
    block->grid[is_flat ? 0 : rng_below(rng, 3)] = blocks;
    block->shared_bytes = rng_chance(rng, 25) ? 4 + rng_below(rng, 3000) : 0;
}

static unsigned draw_rounds(struct rng *rng, enum way way)
{
    unsigned draw = rng_below(rng, 10);
    if (way != WAY_PLAIN) {
        return 1 + draw % 4;
    }
    return draw < 3 ? 1 : draw < 9 ? 2 + rng_below(rng, 5) : 15 + rng_below(rng, 20);
}

static void draw_block(struct program *program, unsigned index, const struct hazard *hazard)
{
    struct rng *rng = &program->rng;
    struct block *block = &program->blocks[index];
    *block = (struct block){.program = program, .hazard = hazard};
    block->body = draw_body(rng, hazard);
    block->reach = hazard != NULL && hazard->reach != REACHES ? hazard->reach
                                                              : (enum reach)rng_below(rng, REACHES);
    block->places[0] = draw_place(rng, hazard != NULL ? hazard->place : PLACE_DEVICE);
    for (unsigned i = 1; i < MAX_POINTERS; i++) {
        block->places[i] = draw_place(rng, PLACE_DEVICE);
    }
    block->count = 8 + rng_below(rng, rng_chance(rng, 20) ? 900 : 150);
    block->variant = rng_below(rng, 1 << 16);
    block->rounds = draw_rounds(rng, way_of(block));
    draw_shape(block, rng);
    block->keeps_stream = way_of(block) == WAY_CAPTURE || way_of(block) == WAY_HOST_FUNCTION ||
                          way_of(block) == WAY_CALLBACK;
    block->stream = block->keeps_stream ? 1 : rng_below(rng, STREAMS);
    (void)snprintf(block->name, sizeof block->name, "%s_%s_p%llu_%u",
                   hazard != NULL            ? hazard->prefix
                   : program->hazard != NULL ? "safe_beside"
                                             : "safe",
                   hazard != NULL ? hazard->name : block->body->name,
                   (unsigned long long)program->seed, index);
}

void program_draw(struct program *program, uint64_t seed, unsigned can)
{
    *program = (struct program){.seed = seed, .rng = {seed * 2 + 1}};
    program->hazard = hazard_of(seed, can);
    struct rng *rng = &program->rng;
    unsigned hazards = program->hazard == NULL ? 0 : 1 + rng_chance(rng, 25);
    program->block_count = (hazards == 0 ? 1 : hazards) + rng_below(rng, 4);
    program->as_libraries = rng_chance(rng, 25);
    for (unsigned i = 0; i < program->block_count; i++) {
        draw_block(program, i, i < hazards ? program->hazard : NULL);
    }
    hash_bytes(program, &seed, sizeof seed, false);
}

/* ---- the PTX ---- */

static void write_variables(struct program *program, const struct block *block)
{
    for (unsigned i = 0; i < block->body->pointers; i++) {
        enum place place = block->places[i];
        bool is_managed = place == PLACE_MANAGED_VARIABLE;
        if (is_managed || place == PLACE_OWN_VARIABLE || place == PLACE_OTHER_VARIABLE) {
            text_add(&program->ptx[place == PLACE_OTHER_VARIABLE],
                     ".visible .global %s.align 8 .b8 %s_v%u[%zu];\n",
                     is_managed ? ".attribute(.managed) " : "", block->name, i,
                     block->body->bytes(block, i) + block->variant % 5);
        }
    }
}

void program_write(struct program *program)
{
    enum way way = program->hazard != NULL ? program->hazard->way : WAY_PLAIN;
    write_module_start(&program->ptx[0], way == WAY_PRINT || way == WAY_PRINT_CALL,
                       way == WAY_MALLOC);
    write_module_start(&program->ptx[1], false, false);
    for (unsigned i = 0; i < program->block_count; i++) {
        write_variables(program, &program->blocks[i]);
        write_kernel(&program->ptx[0], &program->blocks[i]);
    }
}
