/* SPDX-License-Identifier: Apache-2.0 */
/* Launches in all the forms that the driver has for them. */
#include "repeat/repeat.h"

#include <stdlib.h>
#include <string.h>

enum form { FORM_PARAMETERS, FORM_EXTRA, FORM_EX, FORM_EX_EXTRA, FORMS };

/* The parameters as one piece of memory, and where in it each is. */
struct arguments {
    unsigned char bytes[64];
    size_t used;
    void *at[8];
    unsigned count;
};

CUfunction launch_find(struct program *program, const char *name)
{
    CUfunction function;
    CUkernel kernel;
    if (!program->as_libraries) {
        CHECK(cu.cuModuleGetFunction(&function, program->modules[0], name));
        return function;
    }
    CHECK(cu.cuLibraryGetKernel(&kernel, program->libraries[0], name));
    return (CUfunction)kernel;
}

static void add(struct arguments *arguments, const void *value, size_t bytes)
{
    arguments->at[arguments->count++] = arguments->bytes + arguments->used;
    memcpy(arguments->bytes + arguments->used, value, bytes);
    arguments->used += bytes;
}

/* As write.c declares them. */
static void gather(const struct block *block, unsigned factor, struct arguments *out)
{
    unsigned char structure[8 + 8 * MAX_POINTERS];
    const struct region *table = block->reach == REACH_TABLE2 ? block->tables : block->table;
    switch (block->reach) {
    case REACH_STRUCTURE:
        memcpy(structure, &block->count, 4);
        memcpy(structure + 4, &factor, 4);
        for (unsigned i = 0; i < block->body->given; i++) {
            memcpy(structure + 8 + 8 * (size_t)i, &block->regions[i]->address, 8);
        }
        add(out, structure, 8 + 8 * (size_t)block->body->given);
        return;
    case REACH_ARGUMENT:
        for (unsigned i = 0; i < block->body->given; i++) {
            add(out, &block->regions[i]->address, 8);
        }
        break;
    case REACH_TABLE:
    case REACH_TABLE2: add(out, &table->address, 8); break;
    default: break;
    }
    add(out, &block->count, 4);
    add(out, &factor, 4);
}

static void launch_ex(const struct block *block, struct arguments *arguments, void **extra,
                      bool cooperative)
{
    CUlaunchAttribute priority = {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = 0};
    CUlaunchAttribute early = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                               .value.programmaticStreamSerializationAllowed = 1};
    CUlaunchAttribute attributes[2] = {
        block->variant % 4 == 1 ? priority : early,
        {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1}};
    CUlaunchConfig config = {.gridDimX = block->grid[0],
                             .gridDimY = block->grid[1],
                             .gridDimZ = block->grid[2],
                             .blockDimX = block->threads[0],
                             .blockDimY = block->threads[1],
                             .blockDimZ = block->threads[2],
                             .sharedMemBytes = block->shared_bytes,
                             .hStream = block->program->streams[block->stream],
                             .attrs = attributes,
                             .numAttrs = cooperative ? 2 : block->variant % 2};
    CHECK(cu.cuLaunchKernelEx(&config, block->kernel, extra == NULL ? arguments->at : NULL, extra));
}

static void launch_cooperative(const struct block *block, struct arguments *arguments)
{
    CHECK(cu.cuLaunchCooperativeKernel(block->kernel, block->grid[0], block->grid[1],
                                       block->grid[2], block->threads[0], block->threads[1],
                                       block->threads[2], block->shared_bytes,
                                       block->program->streams[block->stream], arguments->at));
}

static void launch_once(struct block *block, struct arguments *arguments, enum form form)
{
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, arguments->bytes, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &arguments->used, CU_LAUNCH_PARAM_END};
    bool is_extra = form == FORM_EXTRA || form == FORM_EX_EXTRA;
    bool cooperative = block->hazard != NULL && block->hazard->way == WAY_COOPERATIVE;
    if (form == FORM_EX || form == FORM_EX_EXTRA) {
        launch_ex(block, arguments, is_extra ? extra : NULL, cooperative);
    } else if (cooperative) {
        launch_cooperative(block, arguments);
    } else {
        CHECK(cu.cuLaunchKernel(block->kernel, block->grid[0], block->grid[1], block->grid[2],
                                block->threads[0], block->threads[1], block->threads[2],
                                block->shared_bytes, block->program->streams[block->stream],
                                is_extra ? NULL : arguments->at, is_extra ? extra : NULL));
    }
}

/* REPEAT_TWICE=PREFIX: kernels of such names are executed twice, as nobody may: it shows in the hash. */
static bool is_wrongly_repeated(const struct block *block)
{
    const char *prefix = getenv("REPEAT_TWICE");
    return prefix != NULL && strncmp(block->name, prefix, strlen(prefix)) == 0;
}

void launch_block(struct block *block)
{
    struct rng *rng = &block->program->rng;
    struct arguments arguments = {.used = 0};
    /* Above 2^16: behind the count a smaller one could be the upper half of a host address, which forbids to repeat the launch. */
    gather(block, 2 * rng_below(rng, 1 << 20) + 65539, &arguments);
    enum form form = (enum form)rng_below(rng, FORMS);
    block->program->launches++;
    launch_once(block, &arguments, form);
    if (is_wrongly_repeated(block)) {
        launch_once(block, &arguments, form);
    }
}

/* One thread, given a pointer and a number, and waited for. */
void launch_simple(struct program *program, CUfunction kernel, CUdeviceptr to, unsigned count)
{
    void *parameters[] = {&to, &count};
    program->launches++;
    CHECK(cu.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, program->streams[1], parameters, NULL));
    CHECK(cu.cuStreamSynchronize(program->streams[1]));
}
