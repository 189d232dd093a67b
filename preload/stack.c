/* SPDX-License-Identifier: Apache-2.0 */
/* Walks frame pointers, interns chains, and writes the maps needed to name them later. */
#include "preload/stack.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "libtrace/record/spool.h"
#include "preload/options.h"

#define MAX_DEPTH 8u
#define INTERN_SLOTS 16384u
#define MAX_OBJECTS 2048u
#define LOADER_CHECK_CALLS 256u /* of one thread: looks for unloaded objects this often */

static _Thread_local __attribute__((tls_model("initial-exec"))) uintptr_t stack_low, stack_high;

/* hash -> id; written under `mutex`, read without. */
static struct {
    _Atomic uint64_t hash;
    _Atomic uint32_t id;
} interned[INTERN_SLOTS];
static _Atomic uint32_t interned_count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Objects whose maps have been written; an unloaded one is dropped, for another may take its place. */
static struct {
    uintptr_t start;   /* of the executable segment */
    uint64_t identity; /* hash of path and build id */
    bool is_mapped;
} objects[MAX_OBJECTS];
static unsigned object_count;
static unsigned long long loads_seen, unloads_seen;
static _Atomic uint64_t
    unload_mark; /* part of every hash: what was unloaded makes old chains void */
static _Thread_local __attribute__((tls_model("initial-exec"))) unsigned calls_since_check;

/* Executable ranges, sorted, for a first look at addresses without a lock: two copies, of which one
 * is current. A reader that is overtaken sees wrong ranges and cuts a chain short, no more. */
struct range {
    _Atomic uintptr_t start, end;
};
static struct {
    struct range range[MAX_OBJECTS];
    _Atomic unsigned count;
} code[2];
static _Atomic unsigned code_current;

static void find_stack_bounds(void)
{
    pthread_attr_t attributes;
    int cancel_state, saved_errno = errno;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    void *base = NULL;
    size_t bytes = 0;
    stack_low = 1; /* tried; an empty range if it fails */
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &base, &bytes) == 0) {
            stack_low = (uintptr_t)base;
            stack_high = (uintptr_t)base + bytes;
        }
        pthread_attr_destroy(&attributes);
    }
    (void)pthread_setcancelstate(cancel_state, NULL);
    errno = saved_errno;
}

/* Build id of a mapped object, in hex. */
static void build_id_of(const struct dl_phdr_info *info, char text[static 128])
{
    text[0] = '\0';
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_NOTE) {
            continue;
        }
        const uint8_t *at = (const uint8_t *)(info->dlpi_addr + segment->p_vaddr); // NOLINT
        const uint8_t *end = at + segment->p_memsz;
        while (at + sizeof(ElfW(Nhdr)) <= end) {
            ElfW(Nhdr) note;
            memcpy(&note, at, sizeof(note));
            const uint8_t *name = at + sizeof(note);
            const uint8_t *data = name + ((note.n_namesz + 3u) & ~3u);
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
                memcmp(name, "GNU", 4) == 0 && note.n_descsz < 60 && data + note.n_descsz <= end) {
                for (unsigned byte = 0; byte < note.n_descsz; byte++) {
                    (void)snprintf(text + (size_t)2 * byte, 3, "%02x", data[byte]);
                }
                return;
            }
            at = data + ((note.n_descsz + 3u) & ~3u);
        }
    }
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++) {
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* Insert into the copy that is not current; few objects come at a time, nearly in order. */
static void add_range(unsigned copy, uintptr_t start, uintptr_t end)
{
    unsigned count = code[copy].count;
    unsigned at = count;
    struct range *range = code[copy].range;
    for (; at > 0 && range[at - 1].start > start; at--) {
        range[at].start = range[at - 1].start;
        range[at].end = range[at - 1].end;
    }
    range[at].start = start;
    range[at].end = end;
    code[copy].count = count + 1;
}

static int note_object(struct dl_phdr_info *info, size_t size, void *copy)
{
    (void)size;
    struct gmt_object object = {.load_bias = info->dlpi_addr, .start = UINT64_MAX};
    uintptr_t code_start = 0, code_end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD) {
            continue;
        }
        uint64_t start = info->dlpi_addr + segment->p_vaddr;
        uint64_t end = start + segment->p_memsz;
        object.start = start < object.start ? start : object.start;
        object.end = end > object.end ? end : object.end;
        if ((segment->p_flags & PF_X) != 0 && code_start == 0) {
            code_start = start;
            code_end = end;
        }
    }
    if (code_start == 0 || code[*(unsigned *)copy].count == MAX_OBJECTS) {
        return 0;
    }
    add_range(*(unsigned *)copy, code_start, code_end);
    char build_id[128];
    build_id_of(info, build_id);
    const char *path = info->dlpi_name != NULL && info->dlpi_name[0] != '\0' ? info->dlpi_name
                                                                             : gmt_options_exe();
    uint64_t identity = hash_text(hash_text(1, path), build_id);
    unsigned at = object_count;
    for (unsigned i = 0; i < object_count; i++) {
        if (objects[i].start == code_start && objects[i].identity == identity) {
            objects[i].is_mapped = true;
            return 0;
        }
        at = objects[i].start == 0 ? i : at;
    }
    if (at == MAX_OBJECTS) {
        return 0;
    }
    object_count += at == object_count;
    objects[at].start = code_start;
    objects[at].identity = identity;
    objects[at].is_mapped = true;
    (void)gmt_spool_side(GMT_REC_OBJECT, &object, sizeof(object), (const char *[]){path, build_id},
                         2);
    return 0;
}

struct loader_counts {
    unsigned long long loads, unloads;
};

static int count_objects(struct dl_phdr_info *info, size_t size, void *counts)
{
    (void)size;
    struct loader_counts *seen = counts;
    seen->loads = info->dlpi_adds;
    seen->unloads = info->dlpi_subs;
    return 1; /* the counters are the same in every entry */
}

/* True if anything was loaded or unloaded since the last time. Caller holds `mutex`. */
static bool note_objects(void)
{
    struct loader_counts now = {0};
    dl_iterate_phdr(count_objects, &now);
    if (now.loads == loads_seen && now.unloads == unloads_seen) {
        return false;
    }
    loads_seen = now.loads;
    unloads_seen = now.unloads;
    unload_mark = now.unloads * UINT64_C(0x9e3779b97f4a7c15);
    for (unsigned i = 0; i < object_count; i++) {
        objects[i].is_mapped = false;
    }
    unsigned copy = 1 - code_current;
    code[copy].count = 0;
    dl_iterate_phdr(note_object, &copy);
    for (unsigned i = 0; i < object_count; i++) {
        if (!objects[i].is_mapped) {
            objects[i].start = 0;
        }
    }
    code_current = copy;
    return true;
}

void gmt_stack_note_objects(void)
{
    pthread_mutex_lock(&mutex);
    (void)note_objects();
    pthread_mutex_unlock(&mutex);
}

/* Is there code at `address`, as far as is known? *hint: the range of the last answer. */
static bool is_code(uintptr_t address, unsigned *hint)
{
    unsigned copy = atomic_load_explicit(&code_current, memory_order_acquire);
    const struct range *range = code[copy].range;
    unsigned count = atomic_load_explicit(&code[copy].count, memory_order_relaxed);
    unsigned low = *hint;
    if (low >= count || address < atomic_load_explicit(&range[low].start, memory_order_relaxed) ||
        address >= atomic_load_explicit(&range[low].end, memory_order_relaxed)) {
        unsigned high = count;
        for (low = 0; low < high;) {
            unsigned middle = low + (high - low) / 2;
            if (atomic_load_explicit(&range[middle].end, memory_order_relaxed) <= address) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        *hint = low;
    }
    return low < count && address >= atomic_load_explicit(&range[low].start, memory_order_relaxed);
}

struct chain {
    const uint64_t *address;
    uint32_t depth;
    bool follows_call[MAX_DEPTH];
};

/* Does a call instruction end at `at`? e8 rel32; ff /2 with 0 to 5 operand bytes. */
static bool ends_call(const uint8_t *at)
{
    if (at[-5] == 0xe8) {
        return true;
    }
    for (int length = 2; length <= 7; length++) {
        if (at[-length] == 0xff && (at[-length + 1] & 0x38) == 0x10) {
            return true;
        }
    }
    return false;
}

/* Looks at code under the loader's lock: nothing can be unmapped meanwhile. */
static int check_chain(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    struct chain *chain = argument;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD || (segment->p_flags & (PF_X | PF_R)) != (PF_X | PF_R)) {
            continue;
        }
        for (uint32_t k = 0; k < chain->depth; k++) {
            uint64_t address = chain->address[k];
            if (address >= start + 8 && address < start + segment->p_memsz) {
                chain->follows_call[k] = ends_call((const uint8_t *)(uintptr_t)address); // NOLINT
            }
        }
    }
    return 0;
}

/* Caller holds `mutex`. */
static uint32_t add_chain(const uint64_t *addresses, uint32_t depth, uint64_t hash, unsigned slot)
{
    struct chain chain = {.address = addresses, .depth = depth};
    dl_iterate_phdr(check_chain, &chain);
    uint32_t sound = 1; /* the first is the hook's own return address */
    while (sound < depth && chain.follows_call[sound]) {
        sound++;
    }
    uint32_t id = interned_count + 1;
    struct gmt_stack stack = {.id = id, .depth = sound};
    if (gmt_spool_side_data(GMT_REC_STACK, &stack, sizeof(stack), addresses,
                            sound * sizeof(addresses[0])) != 0) {
        return 0;
    }
    interned_count = id;
    if (id == INTERN_SLOTS / 2) {
        gmt_spool_loss("stack not kept", "more different stacks than the table holds", 1);
    }
    atomic_store_explicit(&interned[slot].id, id, memory_order_relaxed);
    atomic_store_explicit(&interned[slot].hash, hash, memory_order_release);
    return id;
}

/* Return addresses from a hook's frame on, as far as they lie in code. */
static uint32_t walk(const void *frame, uint64_t chain[static MAX_DEPTH], uint64_t *hash_out)
{
    uint32_t depth = 0;
    unsigned hint = 0;
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^
                    atomic_load_explicit(&unload_mark, memory_order_relaxed);
    uintptr_t at = (uintptr_t)frame;
    /* A frame: saved frame pointer, then return address. Callers lie at higher addresses. */
    while (depth < MAX_DEPTH && at >= stack_low && at + 16 <= stack_high && (at & 7) == 0) {
        uintptr_t pair[2];
        memcpy(pair, (const void *)at, sizeof(pair)); // NOLINT
        /* Where the caller keeps no frame pointer the rest is whatever lies on the stack. */
        if (pair[1] == 0 || (depth != 0 && !is_code(pair[1], &hint))) {
            break;
        }
        chain[depth++] = pair[1];
        hash = (hash ^ pair[1]) * UINT64_C(0x100000001b3);
        hash ^= hash >> 29;
        if (pair[0] <= at) {
            break;
        }
        at = pair[0];
    }
    *hash_out = hash | 1; /* 0 marks a free slot */
    return depth;
}

/* The id of a chain that has been seen, or 0 and the slot where it belongs. */
static uint32_t find(uint64_t hash, unsigned *slot)
{
    for (*slot = (unsigned)(hash >> 40) % INTERN_SLOTS;; *slot = (*slot + 1) % INTERN_SLOTS) {
        uint64_t seen = atomic_load_explicit(&interned[*slot].hash, memory_order_acquire);
        if (seen == hash) {
            return atomic_load_explicit(&interned[*slot].id, memory_order_relaxed);
        }
        if (seen == 0) {
            return 0;
        }
    }
}

static uint32_t intern(const void *frame)
{
    uint64_t chain[MAX_DEPTH], hash;
    unsigned slot;
    pthread_mutex_lock(&mutex);
    (void)note_objects();
    uint32_t depth = walk(frame, chain, &hash);
    uint32_t id = depth != 0 ? find(hash, &slot) : 0;
    if (id == 0 && depth != 0 && interned_count < INTERN_SLOTS / 2) {
        id = add_chain(chain, depth, hash, slot);
    }
    pthread_mutex_unlock(&mutex);
    return id;
}

uint32_t gmt_stack_here(const void *frame)
{
    uint64_t chain[MAX_DEPTH], hash;
    unsigned slot;
    if (gmt_options.stacks == GMT_STACKS_OFF) {
        return 0;
    }
    if (__builtin_expect(stack_low == 0, 0)) {
        find_stack_bounds();
    }
    bool check = ++calls_since_check >= LOADER_CHECK_CALLS;
    uint32_t depth = walk(frame, chain, &hash);
    uint32_t id = depth != 0 && !check ? find(hash, &slot) : 0;
    /* When the table is full, unseen chains stay unnamed at the price of a search, not of a lock. */
    if (__builtin_expect(id != 0 || depth == 0 || interned_count >= INTERN_SLOTS / 2, 1)) {
        return id;
    }
    calls_since_check = 0;
    int cancel_state, saved_errno = errno;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    id = intern(frame);
    (void)pthread_setcancelstate(cancel_state, NULL);
    errno = saved_errno;
    return id;
}

void gmt_stack_reset(void)
{
    pthread_mutex_init(&mutex, NULL);
    memset((void *)interned, 0, sizeof(interned)); // NOLINT
    interned_count = 0;
    object_count = 0;
    loads_seen = unloads_seen = 0;
}
