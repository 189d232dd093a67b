/* SPDX-License-Identifier: Apache-2.0 */
/* Walks frame pointers, interns chains, and writes the maps needed to name them later. */
#include "preload/stack.h"

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

static _Thread_local __attribute__((tls_model("initial-exec"))) uintptr_t stack_low, stack_high;

/* hash -> id; written under `mutex`, read without. */
static struct {
    _Atomic uint64_t hash;
    _Atomic uint32_t id;
} interned[INTERN_SLOTS];
static _Atomic uint32_t interned_count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static struct {
    uintptr_t start, end; /* of the executable segment */
} code[MAX_OBJECTS];
static unsigned code_count;
static unsigned long long objects_seen;

static void find_stack_bounds(void)
{
    pthread_attr_t attributes;
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

static int note_object(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
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
    for (unsigned i = 0; i < code_count; i++) {
        if (code[i].start == code_start) {
            return 0;
        }
    }
    if (code_start == 0 || code_count == MAX_OBJECTS) {
        return 0;
    }
    code[code_count].start = code_start;
    code[code_count].end = code_end;
    code_count++;
    char build_id[128];
    build_id_of(info, build_id);
    const char *path = info->dlpi_name != NULL && info->dlpi_name[0] != '\0' ? info->dlpi_name
                                                                             : gmt_options_exe();
    (void)gmt_spool_side(GMT_REC_OBJECT, &object, sizeof(object), (const char *[]){path, build_id},
                         2);
    return 0;
}

static int count_objects(struct dl_phdr_info *info, size_t size, void *loads)
{
    (void)size;
    *(unsigned long long *)loads = info->dlpi_adds;
    return 1; /* the counter is the same in every entry */
}

/* Caller holds `mutex`. */
static void note_objects(void)
{
    unsigned long long loads = 0;
    dl_iterate_phdr(count_objects, &loads);
    if (loads != objects_seen) {
        objects_seen = loads;
        dl_iterate_phdr(note_object, NULL);
    }
}

void gmt_stack_note_objects(void)
{
    pthread_mutex_lock(&mutex);
    note_objects();
    pthread_mutex_unlock(&mutex);
}

/* Does a call instruction end at `address`? (e8 rel32; ff /2 with 0 to 5 operand bytes.) Caller
 * holds `mutex`. */
static bool follows_call(uintptr_t address)
{
    bool mapped = false;
    for (unsigned i = 0; i < code_count && !mapped; i++) {
        mapped = address >= code[i].start + 8 && address < code[i].end;
    }
    if (!mapped) {
        return false;
    }
    const uint8_t *at = (const uint8_t *)address; // NOLINT
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

static uint32_t intern(const uint64_t *chain, uint32_t depth, uint64_t hash, unsigned slot)
{
    pthread_mutex_lock(&mutex);
    while (interned[slot].hash != 0 && interned[slot].hash != hash) {
        slot = (slot + 1) % INTERN_SLOTS;
    }
    uint32_t id = interned[slot].id;
    if (interned[slot].hash == 0 && interned_count < INTERN_SLOTS / 2) {
        note_objects();
        uint32_t sound = 1; /* the first is the hook's own return address */
        while (sound < depth && follows_call(chain[sound])) {
            sound++;
        }
        id = ++interned_count;
        struct gmt_stack stack = {.id = id, .depth = sound};
        if (gmt_spool_side_data(GMT_REC_STACK, &stack, sizeof(stack), chain,
                                sound * sizeof(chain[0])) == 0) {
            atomic_store_explicit(&interned[slot].id, id, memory_order_relaxed);
            atomic_store_explicit(&interned[slot].hash, hash, memory_order_release);
        } else {
            id = 0;
        }
    }
    pthread_mutex_unlock(&mutex);
    return id;
}

uint32_t gmt_stack_here(const void *frame)
{
    if (gmt_options.stacks == GMT_STACKS_OFF) {
        return 0;
    }
    if (__builtin_expect(stack_low == 0, 0)) {
        find_stack_bounds();
    }
    uint64_t chain[MAX_DEPTH];
    uint32_t depth = 0;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    uintptr_t at = (uintptr_t)frame;
    /* A frame: saved frame pointer, then return address. Callers lie at higher addresses. */
    while (depth < MAX_DEPTH && at >= stack_low && at + 16 <= stack_high && (at & 7) == 0) {
        uintptr_t pair[2];
        memcpy(pair, (const void *)at, sizeof(pair)); // NOLINT
        if (pair[1] == 0) {
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
    if (depth == 0) {
        return 0;
    }
    hash |= 1; /* 0 marks a free slot */
    unsigned slot = (unsigned)(hash >> 40) % INTERN_SLOTS;
    for (unsigned probe = slot;; probe = (probe + 1) % INTERN_SLOTS) {
        uint64_t seen = atomic_load_explicit(&interned[probe].hash, memory_order_acquire);
        if (seen == hash) {
            return atomic_load_explicit(&interned[probe].id, memory_order_relaxed);
        }
        if (seen == 0) {
            /* Full: unseen chains stay unnamed, at the price of a search and not of a lock. */
            return interned_count < INTERN_SLOTS / 2 ? intern(chain, depth, hash, probe) : 0;
        }
    }
}

void gmt_stack_reset(void)
{
    pthread_mutex_init(&mutex, NULL);
    memset(interned, 0, sizeof(interned));
    interned_count = 0;
    code_count = 0;
    objects_seen = 0;
}
