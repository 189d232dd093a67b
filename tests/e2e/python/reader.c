/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the frames of the interpreter that loads it, with any layout: that of another version, or one with wrong
 * offsets. Called through ctypes.PyDLL or CDLL.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "preload/python/frames.h"

#define EXPORT __attribute__((visibility("default")))

static uint64_t state;

static uint64_t next_number(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Some of the offsets become others. */
static void spoil(struct gmt_python_layout *layout)
{
    uint16_t *offsets = &layout->type;
    size_t count = sizeof(*layout) - offsetof(struct gmt_python_layout, type);
    for (unsigned i = 0; i < 1 + next_number() % 4; i++) {
        uint64_t number = next_number();
        offsets[number % (count / sizeof(*offsets))] = (uint16_t)(number >> 32 & 0x1f8);
    }
    if (next_number() % 4 == 0) {
        layout->chain = (uint8_t)(next_number() % 5);
    }
    if (next_number() % 8 == 0) {
        layout->table = (uint8_t)(next_number() % 3);
    }
    if (next_number() % 8 == 0) {
        layout->kind_shift = (uint8_t)(next_number() % 8);
    }
}

EXPORT unsigned reader_layouts(void);
unsigned reader_layouts(void)
{
    unsigned count;
    (void)gmt_python_layouts(&count);
    return count;
}

/* The minor version of a layout, + 100 for one without the GIL. */
EXPORT unsigned reader_version(unsigned layout);
unsigned reader_version(unsigned layout)
{
    unsigned count;
    const struct gmt_python_layout *all = gmt_python_layouts(&count);
    return all[layout].minor + 100u * all[layout].free_threaded;
}

/* Lines "function\tfile\tline\n" into `text`. How many frames; -1: they cannot be read with this layout, which seed != 0
 * spoils. */
EXPORT int reader_read(unsigned layout, uint64_t seed, char *text, size_t room);
int reader_read(unsigned layout, uint64_t seed, char *text, size_t room)
{
    static struct gmt_python_place place;
    void *(*this_thread)(void);
    void *function = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
    unsigned count;
    const struct gmt_python_layout *all = gmt_python_layouts(&count);
    struct gmt_python python = {.layout = all[layout],
                                .code_type = (uintptr_t)dlsym(RTLD_DEFAULT, "PyCode_Type"),
                                .text_type = (uintptr_t)dlsym(RTLD_DEFAULT, "PyUnicode_Type"),
                                .bytes_type = (uintptr_t)dlsym(RTLD_DEFAULT, "PyBytes_Type")};
    struct gmt_python_walk walk;
    enum gmt_python_step step = GMT_PYTHON_BROKEN;
    size_t used = 0;
    int frames = 0;
    memcpy(&this_thread, &function, sizeof(this_thread));
    state = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
    if (seed != 0) {
        spoil(&python.layout);
    }
    text[0] = '\0';
    if (!gmt_python_walk_start(&walk, &python, (uintptr_t)this_thread())) {
        return -1;
    }
    while ((step = gmt_python_walk_step(&walk)) != GMT_PYTHON_END) {
        if (step == GMT_PYTHON_BROKEN) {
            return -1;
        }
        if (step == GMT_PYTHON_LOOP) {
            continue;
        }
        if (gmt_python_code_identity(&python, walk.code) == 0 ||
            !gmt_python_code_place(&python, walk.code, walk.offset, &place)) {
            return -1;
        }
        int more = snprintf(text + used, room - used, "%s\t%s\t%d\n", place.function, place.file,
                            (int)place.line);
        used += more > 0 && (size_t)more < room - used ? (size_t)more : 0;
        frames++;
    }
    uintptr_t type_type = (uintptr_t)dlsym(RTLD_DEFAULT, "PyType_Type");
    uintptr_t frame_type = (uintptr_t)dlsym(RTLD_DEFAULT, "PyFrame_Type");
    return gmt_python_fits(&python, type_type, frame_type) ? frames : -1;
}
