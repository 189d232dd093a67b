/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the outer frames of a thread by lists of where they lie, and makes these lists. */
#include "preload/python/outer.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "preload/python/frames.h"
#include "preload/python/memory.h"
#include "preload/session/table.h"

#define LISTS 2048u /* a power of two */
#define MOST_STEPS 1024u
#define MOST_CHUNKS 16u
#define MOST_ASIDE 64u /* generators and shims in a row */

/* A chunk: previous, size in bytes, words in use once there is another one; then the frames. */
#define CHUNK_SIZE 8u
#define CHUNK_USED 16u
#define CHUNK_HEAD 24u
#define FRAME_BYTES 80u /* that every frame has */

#define ASIDE 0x8000u /* a generator calls this frame */
#define WORDS 0x7fffu

#define PRIME UINT64_C(0x9e3779b97f4a7c15)

/* Threads that share one may disturb it: then its hash does not fit. */
struct outer_list {
    _Atomic uint64_t codes; /* hash of the code objects, and of who calls each */
    /* Whose it is, and its first chunk, if that is the only one: both could be read. */
    _Atomic uint64_t thread, chunk;
    _Atomic uint16_t count;     /* 0: no list */
    _Atomic uint16_t end;       /* words in use of the chunk where these are all frames, else 0 */
    _Atomic uint32_t has_aside; /* some frame has */
    _Atomic uint16_t at[GMT_PYTHON_OUTER]; /* words from the chunk, and ASIDE */
};
static gmt_table_pointer lists; /* struct outer_list [LISTS] */
#define LISTS_BYTES (LISTS * sizeof(struct outer_list))

#define GET(member) atomic_load_explicit(&(member), memory_order_relaxed)
#define SET(member, to) atomic_store_explicit(&(member), (to), memory_order_relaxed)

/* The thread's first chunk, as far as frames that live reach. */
struct data_stack {
    uintptr_t chunk, end;
};

struct outer_sums {
    uint64_t codes, instructions;
};

static inline uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * PRIME;
    return hash ^ hash >> 29;
}

/* So that sums depend on the order, without a multiplication that waits for the last one. */
static inline uint64_t turn(uint64_t sum)
{
    return sum << 13 | sum >> 51;
}

static bool find_data_stack(const struct gmt_python_layout *layout, uintptr_t thread,
                            struct data_stack *data)
{
    uintptr_t at = thread + layout->thread_chunk;
    if (layout->thread_chunk == 0 || !gmt_python_readable(at, 24)) {
        return false;
    }
    uintptr_t chunk = gmt_python_load(at), end = gmt_python_load(at + 8);
    uintptr_t limit = gmt_python_load(at + 16);
    for (uint32_t i = 0; i < MOST_CHUNKS; i++) {
        if ((chunk & 7) != 0 || !gmt_python_readable(chunk, CHUNK_HEAD)) {
            return false;
        }
        uint64_t size = gmt_python_load(chunk + CHUNK_SIZE);
        uintptr_t previous = gmt_python_load(chunk);
        /* What the interpreter keeps twice shows whether this is one. */
        if (i == 0 && chunk + size != limit) {
            return false;
        }
        if (previous == 0) {
            *data = (struct data_stack){chunk, end};
            return end > chunk + CHUNK_HEAD && end - chunk <= size && (end & 7) == 0 &&
                   (end - chunk) / 8 <= WORDS && gmt_python_readable(chunk, end - chunk);
        }
        chunk = previous;
        if (!gmt_python_readable(chunk, CHUNK_HEAD)) {
            return false;
        }
        uint64_t used = gmt_python_load(chunk + CHUNK_USED);
        end = chunk + CHUNK_HEAD + 8 * (used <= WORDS ? used : WORDS);
    }
    return false;
}

static inline bool has_frame(const struct data_stack *data, uintptr_t frame)
{
    return frame >= data->chunk + CHUNK_HEAD && frame + FRAME_BYTES <= data->end;
}

/* Hashes of what the list names; false: it names nothing, or what is no frame of a function that runs. */
static inline bool add_up(const struct gmt_python_layout *layout, const struct data_stack *data,
                          const struct outer_list *list, struct outer_sums *sums)
{
    uint32_t count = GET(list->count), end = GET(list->end);
    uint64_t tags = layout->tag_bits, codes = 0, instructions = 0;
    if (count == 0 || count > GMT_PYTHON_OUTER ||
        (end != 0 && data->chunk + 8 * (uintptr_t)end != data->end)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = GET(list->at[i]);
        uintptr_t frame = data->chunk + 8 * (uintptr_t)(at & WORDS);
        if (!has_frame(data, frame)) {
            return false;
        }
        uint64_t code = gmt_python_load(frame + layout->frame_code) & ~tags;
        uint64_t instruction = gmt_python_load(frame + layout->frame_instruction);
        /* Where a generator has come between, or none is there any more, frames lie where they lay. */
        uint64_t previous = gmt_python_load(frame + layout->frame_previous);
        uint64_t caller = (at & ASIDE) != 0 ? 0 : turn(previous);
        codes = turn(codes) + (code ^ caller) * PRIME;
        instructions = turn(instructions) + instruction * PRIME;
    }
    *sums = (struct outer_sums){codes, instructions};
    return true;
}

static inline bool is_shim(const struct gmt_python_layout *layout, uintptr_t frame)
{
    return layout->shim_owner != 0 &&
           gmt_python_load_byte(frame + layout->frame_owner) >= layout->shim_owner;
}

/* Generators from `frame` outwards to `until`, which is live, as they are; `inside`: how many listed frames are further out. */
static uint64_t add_aside(const struct gmt_python_layout *layout, uint64_t hash, uintptr_t frame,
                          uintptr_t until, uint32_t inside)
{
    for (uint32_t i = 0; frame != until && frame != 0 && i < MOST_ASIDE; i++) {
        if ((frame & 7) != 0 || !gmt_python_readable(frame, FRAME_BYTES)) {
            break;
        }
        if (!is_shim(layout, frame)) {
            uint64_t instruction = gmt_python_load(frame + layout->frame_instruction);
            hash = mix(hash, instruction ^ (uint64_t)inside << 48);
        }
        frame = gmt_python_load(frame + layout->frame_previous);
    }
    return hash;
}

/* Generators that call the frames of a list that fits. */
__attribute__((noinline)) static uint64_t add_callers(const struct gmt_python_layout *layout,
                                                      const struct data_stack *data,
                                                      const struct outer_list *list, uint64_t hash)
{
    uint32_t count = GET(list->count);
    uintptr_t outside = 0;
    for (uint32_t i = 0; i < count && i < GMT_PYTHON_OUTER; i++) {
        uint32_t at = GET(list->at[i]);
        uintptr_t frame = data->chunk + 8 * (uintptr_t)(at & WORDS);
        if ((at & ASIDE) != 0 && has_frame(data, frame)) {
            hash = add_aside(layout, hash, gmt_python_load(frame + layout->frame_previous), outside,
                             i);
        }
        outside = frame;
    }
    return hash;
}

/* With what lies between the frames of a list that fits, and inside of them. */
static inline uint64_t finish(const struct gmt_python_layout *layout, const struct data_stack *data,
                              const struct outer_list *list, uintptr_t innermost, uint64_t hash)
{
    uint32_t count = GET(list->count);
    if (__builtin_expect(GET(list->has_aside) != 0, 0)) {
        hash = add_callers(layout, data, list, hash);
    }
    if (GET(list->end) != 0 && count != 0 && count <= GMT_PYTHON_OUTER) {
        uint32_t at = GET(list->at[count - 1]);
        uintptr_t last = data->chunk + 8 * (uintptr_t)(at & WORDS);
        if (__builtin_expect(innermost != last, 0)) {
            hash = add_aside(layout, hash, innermost, last, count);
        }
    }
    return mix(hash, count) | 1;
}

/* The list of the frames that there are, but for its hash. False: there are none, or their chain cannot be. */
static bool make(const struct gmt_python_layout *layout, const struct data_stack *data,
                 uintptr_t frame, struct outer_list *list)
{
    uint16_t at[GMT_PYTHON_OUTER];
    uint32_t found = 0, steps = 0;
    bool has_more = false, has_aside = false;
    for (; frame != 0; frame = gmt_python_load(frame + layout->frame_previous)) {
        if (++steps > MOST_STEPS || (frame & 7) != 0 || !gmt_python_readable(frame, FRAME_BYTES)) {
            return false;
        }
        if (has_frame(data, frame)) {
            at[found++ % GMT_PYTHON_OUTER] = (uint16_t)((frame - data->chunk) / 8);
        } else if (gmt_python_load_byte(frame + layout->frame_owner) == 0) {
            has_more = true; /* in another chunk */
        } else if (found != 0 && !is_shim(layout, frame)) {
            at[(found - 1) % GMT_PYTHON_OUTER] |= ASIDE;
            has_aside = true;
        }
    }
    uint32_t count = found < GMT_PYTHON_OUTER ? found : GMT_PYTHON_OUTER;
    has_more = has_more || found > count;
    SET(list->count, (uint16_t)count);
    SET(list->end, (uint16_t)(has_more ? 0 : (data->end - data->chunk) / 8));
    SET(list->has_aside, (uint16_t)has_aside);
    for (uint32_t i = 0; i < count; i++) {
        SET(list->at[i], at[(found - 1 - i) % GMT_PYTHON_OUTER]);
    }
    return count != 0;
}

static void put(struct outer_list *to, const struct outer_list *list, uint64_t codes,
                uintptr_t thread, uintptr_t only_chunk)
{
    uint32_t count = GET(list->count);
    SET(to->count, 0);
    for (uint32_t i = 0; i < count; i++) {
        SET(to->at[i], GET(list->at[i]));
    }
    SET(to->end, GET(list->end));
    SET(to->has_aside, GET(list->has_aside));
    SET(to->thread, thread);
    SET(to->chunk, only_chunk);
    SET(to->codes, codes);
    SET(to->count, (uint16_t)count);
}

static inline struct outer_list *list_for(struct outer_list *table, uint64_t hint)
{
    return &table[(hint * PRIME >> 40) % LISTS];
}

uint64_t gmt_python_outer_known(const struct gmt_python *python, uintptr_t thread, uint64_t hint)
{
    const struct gmt_python_layout *layout = &python->layout;
    struct outer_list *table = gmt_table(&lists);
    struct outer_sums sums;
    if (table == NULL || thread == 0) {
        return 0;
    }
    const struct outer_list *list = list_for(table, hint);
    if (GET(list->thread) != thread) {
        return 0;
    }
    uintptr_t at = thread + layout->thread_chunk;
    struct data_stack data = {gmt_python_load(at), gmt_python_load(at + 8)};
    if (data.chunk == 0 || data.chunk != GET(list->chunk) || !add_up(layout, &data, list, &sums) ||
        sums.codes != GET(list->codes)) {
        return 0;
    }
    uintptr_t innermost = gmt_python_load(thread + layout->thread_frame);
    if (layout->chain != GMT_PYTHON_SHIMS) {
        innermost = gmt_python_load(innermost + layout->cframe_frame);
    }
    return finish(layout, &data, list, innermost, sums.instructions);
}

uint64_t gmt_python_outer_of(const struct gmt_python *python, uintptr_t thread, uint64_t hint)
{
    const struct gmt_python_layout *layout = &python->layout;
    struct outer_list *table = gmt_table_need(&lists, LISTS_BYTES), own;
    struct gmt_python_walk walk;
    struct data_stack data;
    struct outer_sums sums;
    if (table == NULL || !find_data_stack(layout, thread, &data) ||
        !gmt_python_walk_start(&walk, python, thread)) {
        return 0;
    }
    struct outer_list *list = list_for(table, hint);
    if (!add_up(layout, &data, list, &sums) || sums.codes != GET(list->codes)) {
        if (!make(layout, &data, walk.frame, &own) || !add_up(layout, &data, &own, &sums)) {
            return 0;
        }
        bool is_only = gmt_python_load(thread + layout->thread_chunk) == data.chunk;
        put(list, &own, sums.codes, thread, is_only ? data.chunk : 0);
        list = &own;
    }
    return finish(layout, &data, list, walk.frame, sums.instructions);
}
