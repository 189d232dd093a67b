/* SPDX-License-Identifier: Apache-2.0 */
/* Generated programs: what they are made of. Everything in one is drawn from its seed. */
#ifndef CLIENTS_REPEAT_REPEAT_H
#define CLIENTS_REPEAT_REPEAT_H

#include "client.h"

#include <stdbool.h>

enum { MAX_BLOCKS = 6, MAX_POINTERS = 3, MAX_REGIONS = 64, STREAMS = 4 };

/* ---- random numbers and text (text.c) ---- */

struct rng {
    uint64_t state;
};
uint64_t rng_next(struct rng *rng);
unsigned rng_below(struct rng *rng, unsigned limit);
static inline bool rng_chance(struct rng *rng, unsigned percent)
{
    return rng_below(rng, 100) < percent;
}
void rng_fill(struct rng *rng, void *bytes, size_t count);

struct text {
    char *bytes;
    size_t used, room;
};
__attribute__((format(printf, 2, 3))) void text_add(struct text *text, const char *format, ...);

/* ---- what a program is made of ---- */

/* How a kernel comes to the pointers that it writes through. */
enum reach {
    REACH_ARGUMENT,
    REACH_STRUCTURE, /* inside a structure that is given by value */
    REACH_TABLE,     /* in device memory, whose address is given */
    REACH_TABLE2,    /* the same, over a table of tables */
    REACH_VARIABLE,  /* in a variable of the module */
    REACH_CONSTANT,  /* in a constant of it */
    REACHES
};

/* Where memory is. Up to PLACE_DEVICE a copy of it can be taken and put back. */
enum place {
    PLACE_ALLOC,
    PLACE_ASYNC, /* from the device's default pool */
    PLACE_POOL,  /* from a pool of the program's */
    PLACE_PITCHED,
    PLACE_MAPPED,
    PLACE_OWN_VARIABLE,
    PLACE_OTHER_VARIABLE, /* of another module */
    PLACE_DEVICE,         /* one of the above */
    PLACE_HOST_ALLOC,
    PLACE_ALLOC_HOST,
    PLACE_REGISTERED,
    PLACE_PINNED,    /* one of these three */
    PLACE_HOST_POOL, /* from a pool of the host's memory */
    PLACE_MANAGED,
    PLACE_MANAGED_VARIABLE, /* of the kernel's module */
    PLACE_PEER,
    PLACE_IMPORTED, /* from a pool that was exported */
    PLACE_EXPORTED, /* the same memory, where it was exported */
};

/* What else there is about the launches of a block. */
enum way {
    WAY_PLAIN,
    WAY_PRINT,
    WAY_PRINT_CALL, /* in a function that the kernel calls */
    WAY_COOPERATIVE,
    WAY_CAPTURE,
    WAY_HOST_FUNCTION, /* while another stream waits for the host */
    WAY_CALLBACK,
    WAY_THREAD,  /* while another thread copies to the same allocation */
    WAY_DEVICES, /* while another device does */
    WAY_ARRAY,   /* while there is an array */
    WAY_MALLOC,
    WAY_SURFACE,
};

/* What a device can do, as bits. A hazard that needs more is in no program. */
enum { CAN_PEER = 1, CAN_IMPORT = 2, CAN_ALL_OF_PTX = 4 };

struct hazard {
    const char *name;
    enum place place;
    enum reach reach;
    enum way way;
    unsigned needs;
    const char *prefix; /* of its kernels */
};

struct program;
struct block;

/* Memory of a program; all of it is in the hash. */
struct region {
    CUdeviceptr address;
    unsigned char *host; /* where the host can reach it, else NULL */
    size_t bytes;
    bool is_plain; /* may hold any bytes */
    bool is_spare; /* no block has it */
    bool is_live;
    unsigned number; /* stands for its address in the hash */
    /* How it is given back: what of these a place has. */
    void (*release)(struct program *program, struct region *region);
    CUcontext owner; /* whose memory it is; NULL: the program's */
    CUmemoryPool pool;
    CUdeviceptr exported;
    size_t mapped_bytes;
};

/* What a kernel does with its memory. Registers: see write.c. */
struct body {
    const char *name;
    unsigned pointers; /* regions */
    unsigned given;    /* of these, pointers that the kernel gets */
    bool shows;        /* in the first region, that it was done twice */
    bool has_atomics;
    bool is_whole;   /* brings its own loop */
    bool is_single;  /* one block of threads only */
    unsigned zeroed; /* regions that begin as zeros, and are not plain: bits */
    unsigned linked; /* regions that hold pointers: bits */
    size_t (*bytes)(const struct block *block, unsigned pointer);
    void (*declare)(struct text *text, const struct block *block); /* variables; may be NULL */
    void (*write)(struct text *text, const struct block *block);
    void (*fill)(const struct block *block, unsigned pointer, unsigned char *bytes); /* or NULL */
    void (*begin)(struct block *block);                                              /* or NULL */
    void (*finish)(struct block *block);                                             /* or NULL */
};
extern const struct body bodies[];
unsigned body_count(void);

/* One kernel with its memory, launched `rounds` times. */
struct block {
    struct program *program;
    const struct body *body;
    const struct hazard *hazard; /* NULL: safe */
    enum reach reach;
    enum place places[MAX_POINTERS];
    char name[96]; /* of its kernel; what it declares begins with it */
    unsigned count, rounds, variant;
    unsigned grid[3], threads[3], shared_bytes;
    unsigned stream;
    bool keeps_stream;
    struct region *regions[MAX_POINTERS], *table, *tables;
    CUdeviceptr where; /* the variable of REACH_VARIABLE */
    CUfunction kernel;
    void *own; /* of its way */
};

struct program {
    uint64_t seed;
    struct rng rng;
    const struct hazard *hazard;
    struct block blocks[MAX_BLOCKS];
    unsigned block_count;
    struct text ptx[2]; /* of its modules; variables of the second are for kernels of the first */
    bool as_libraries;
    CUdevice device;
    CUcontext context, peer; /* peer: of another device, NULL if it is not needed */
    bool has_access;         /* to the peer's memory */
    CUmodule modules[2];
    CUlibrary libraries[2];
    CUstream streams[STREAMS]; /* the first is the default stream, the second does not block */
    CUevent event;
    CUmemoryPool pool, host_pool; /* made when they are needed */
    struct region regions[MAX_REGIONS];
    unsigned region_count;
    unsigned launches;
    uint64_t hash;
};

/* ---- program.c ---- */

/* `can`: bits of what the device can do. */
void program_draw(struct program *program, uint64_t seed, unsigned can);
void program_write(struct program *program);
void program_run(struct program *program);
void program_end(struct program *program);

/* ---- hazards.c ---- */

/* The hazard of a seed, NULL: none. Two of five seeds have one, and all are as frequent. */
const struct hazard *hazard_of(uint64_t seed, unsigned can);

/* ---- write.c ---- */

void write_module_start(struct text *text, bool prints, bool allocates);
void write_kernel(struct text *text, const struct block *block);
extern const char *const reach_names[REACHES];

/* ---- memory.c, places.c ---- */

extern const char *const place_names[];
/* Memory for a pointer of a block, filled; what it is has been drawn. */
void memory_make(struct block *block, unsigned pointer);
struct region *memory_take(struct program *program, enum place place, size_t bytes);
/* Some other memory with bytes of its own. */
struct region *memory_make_plain(struct program *program, size_t bytes);
/* The tables of REACH_TABLE and the like. */
void memory_make_tables(struct block *block);
struct region *memory_variable(struct program *program, unsigned module, const char *name);
/* The same of one in managed memory. */
struct region *memory_managed_variable(struct program *program, const char *name);
void memory_release(struct program *program, struct region *region);
void memory_upload(struct region *region, const void *bytes, size_t offset, size_t count);
void memory_hash(struct program *program, const struct region *region);
void hash_bytes(struct program *program, const void *bytes, size_t count, bool with_pointers);

struct region *region_new(struct program *program, size_t bytes);
void place_take(struct program *program, struct region *region, enum place place);
/* The context of the other device. */
CUcontext peer_of(struct program *program);

/* ---- launch.c ---- */

CUfunction launch_find(struct program *program, const char *name);
/* The block's kernel in the block's stream, in one of the forms that there are. */
void launch_block(struct block *block);
void launch_simple(struct program *program, CUfunction kernel, CUdeviceptr to, unsigned count);

/* ---- ways.c ---- */

/* Is the kernel's memory one of three parts of what is allocated, the others being of its way? */
bool way_has_parts(const struct block *block);
void way_begin(struct block *block);
void way_step(struct block *block);
void way_finish(struct block *block);

/* ---- threads.c ---- */

int repeat_threads(long count);
int repeat_slow(void);
int repeat_waiting(void);

/* ---- numbers.c ---- */

int repeat_numbers(void);

#endif
