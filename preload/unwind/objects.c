/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the table of loaded objects, writes their maps, and finds rows in them. */
#include "preload/unwind/objects.h"

#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "libtrace/record/layout.h"
#include "libtrace/record/spool.h"
#include "preload/session/options.h"
#include "preload/unwind/cfi.h"
#include "preload/unwind/generated.h"
#include "preload/unwind/row.h"
#include "preload/unwind/rows.h"

#define MAX_OBJECTS 2048u
#define HOLD_TRIES 4

/* Objects whose maps have been written; an unloaded one is dropped, for another may take its place. */
static struct {
    uintptr_t start;   /* of the executable segment */
    uint64_t identity; /* hash of path and build id */
    bool is_mapped;
} objects[MAX_OBJECTS];
static unsigned object_count;
static unsigned long long loads_seen, unloads_seen;
static _Atomic unsigned long long loads_noted;
static _Atomic uint64_t unload_mark;

/* Executable segments, sorted by address. */
static struct object_image {
    uintptr_t start, end;
    bool is_readable;
    struct gmt_cfi cfi;
} images[MAX_OBJECTS];
static unsigned image_count;

uint64_t gmt_objects_mark(void)
{
    return atomic_load_explicit(&unload_mark, memory_order_relaxed);
}

unsigned long long gmt_objects_loads(void)
{
    return atomic_load_explicit(&loads_noted, memory_order_relaxed);
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

/* Few objects come at a time, nearly in order. */
static void add_image(const struct object_image *image)
{
    if (image_count == MAX_OBJECTS) {
        return;
    }
    unsigned at = image_count++;
    for (; at > 0 && images[at - 1].start > image->start; at--) {
        images[at] = images[at - 1];
    }
    images[at] = *image;
}

/* The segment of the object that holds its table of frames. */
static struct gmt_cfi cfi_of(const struct dl_phdr_info *info)
{
    uint64_t header = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME) {
            header = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        }
    }
    for (int i = 0; header != 0 && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_R) != 0 && header >= start &&
            header - start < segment->p_filesz) {
            return (struct gmt_cfi){.header = (const uint8_t *)header,                    // NOLINT
                                    .start = (const uint8_t *)start,                      // NOLINT
                                    .end = (const uint8_t *)(start + segment->p_filesz)}; // NOLINT
        }
    }
    return (struct gmt_cfi){0};
}

/* Executable segments become images; the address of the first, 0 without one. */
static uintptr_t note_segments(const struct dl_phdr_info *info, struct gmt_object *object)
{
    struct gmt_cfi cfi = cfi_of(info);
    uintptr_t code_start = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD) {
            continue;
        }
        uint64_t start = info->dlpi_addr + segment->p_vaddr;
        uint64_t end = start + segment->p_memsz;
        object->start = start < object->start ? start : object->start;
        object->end = end > object->end ? end : object->end;
        if ((segment->p_flags & PF_X) != 0) {
            add_image(&(struct object_image){.start = start,
                                             .end = end,
                                             .is_readable = (segment->p_flags & PF_R) != 0,
                                             .cfi = cfi});
            code_start = code_start == 0 ? start : code_start;
        }
    }
    return code_start;
}

static int note_object(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    struct gmt_object object = {.load_bias = info->dlpi_addr, .start = UINT64_MAX};
    uintptr_t code_start = note_segments(info, &object);
    if (code_start == 0) {
        return 0;
    }
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

void gmt_objects_note(void)
{
    struct loader_counts now = {0};
    dl_iterate_phdr(count_objects, &now);
    if (now.loads == loads_seen && now.unloads == unloads_seen) {
        return;
    }
    loads_seen = now.loads;
    unloads_seen = now.unloads;
    atomic_store_explicit(&loads_noted, now.loads, memory_order_relaxed);
    for (unsigned i = 0; i < object_count; i++) {
        objects[i].is_mapped = false;
    }
    image_count = 0;
    dl_iterate_phdr(note_object, NULL);
    for (unsigned i = 0; i < object_count; i++) {
        if (!objects[i].is_mapped) {
            objects[i].start = 0;
        }
    }
    atomic_store_explicit(&unload_mark, now.unloads * UINT64_C(0x9e3779b97f4a7c15),
                          memory_order_relaxed);
}

struct hold {
    void (*use)(void *);
    void *argument;
    bool done;
};

/* Called for the first object, under the loader's lock: nothing comes or goes meanwhile. */
static int use_held(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    struct hold *hold = argument;
    if (info->dlpi_adds == loads_seen && info->dlpi_subs == unloads_seen) {
        hold->use(hold->argument);
        hold->done = true;
    }
    return 1;
}

bool gmt_objects_hold(void (*use)(void *), void *argument)
{
    struct hold hold = {.use = use, .argument = argument};
    for (int tries = 0; !hold.done && tries < HOLD_TRIES; tries++) {
        gmt_objects_note();
        dl_iterate_phdr(use_held, &hold);
    }
    return hold.done;
}

static const struct object_image *image_at(uintptr_t pc)
{
    unsigned low = 0, high = image_count;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (images[middle].end <= pc) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < image_count && pc >= images[low].start ? &images[low] : NULL;
}

#ifdef __x86_64__
/* mov $SYS_rt_sigreturn,%rax; syscall: only then is the frame one that the kernel made. */
static bool is_sigreturn(const struct object_image *image, uintptr_t pc)
{
    static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
    return image->is_readable && image->end - pc >= sizeof(code) &&
           memcmp((const void *)pc, code, sizeof(code)) == 0; // NOLINT
}

/* A call may be the last instruction of its function: what returns belongs to the byte before. */
static uint64_t row_in(const struct object_image *image, uintptr_t pc, bool interrupted)
{
    uint64_t row = gmt_cfi_row(&image->cfi, interrupted ? pc : pc - 1);
    /* The handler "returns" to the very start of what the kernel put there. */
    if (!interrupted && gmt_row_kind(row) != GMT_ROW_SIGNAL && is_sigreturn(image, pc)) {
        row = GMT_ROW_SIGNAL;
    } else if (gmt_row_kind(row) == GMT_ROW_SIGNAL && !is_sigreturn(image, pc)) {
        row = GMT_ROW_FRAME;
    }
    if (!interrupted && image->is_readable && pc - image->start >= GMT_CODE_BEFORE &&
        gmt_code_ends_call((const uint8_t *)pc)) { // NOLINT
        row |= GMT_ROW_SOUND;
    }
    return row;
}
#else
/* The convention of aarch64: every frame begins with the caller's frame pointer and the return address. Where the stack
 * pointer is, nothing says at the hook. The tables of frames show where a thread starts. */
static uint64_t row_in(const struct object_image *image, uintptr_t pc, bool interrupted)
{
    uint64_t row = gmt_cfi_row(&image->cfi, interrupted ? pc : pc - 1);
    row = gmt_row_kind(row) == GMT_ROW_END ? GMT_ROW_END : GMT_ROW_FRAME;
    if (!interrupted && image->is_readable && pc - image->start >= GMT_CODE_BEFORE &&
        gmt_code_ends_call((const uint8_t *)pc)) { // NOLINT
        row |= GMT_ROW_SOUND;
    }
    return row;
}
#endif

uint64_t gmt_objects_row(uintptr_t pc, bool interrupted, uint64_t key)
{
    const struct object_image *image = image_at(pc);
    uint64_t row = image != NULL ? row_in(image, pc, interrupted)
                                 : gmt_generated_row(pc, interrupted);
    gmt_rows_put(key, row);
    return row;
}

void gmt_objects_reset(void)
{
    object_count = 0;
    loads_seen = unloads_seen = 0;
}
