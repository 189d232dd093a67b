/* SPDX-License-Identifier: Apache-2.0 */
/* Follows the frames of a thread by a layout, and believes nothing that contradicts it. */
#include "preload/python/frames.h"

#include "preload/python/memory.h"

#define MOST_STEPS 100000u /* a chain that is longer is a circle, or deeper than anybody looks */
#define OWNED_BY_GENERATOR 1

bool gmt_python_walk_start(struct gmt_python_walk *walk, const struct gmt_python *python,
                           uintptr_t thread)
{
    const struct gmt_python_layout *layout = &python->layout;
    *walk = (struct gmt_python_walk){.python = python};
    if ((thread & 7) != 0 || !gmt_python_readable(thread, 128)) {
        return false;
    }
    uintptr_t first = gmt_python_load(thread + layout->thread_frame);
    if (layout->chain == GMT_PYTHON_ENTRIES || layout->chain == GMT_PYTHON_SHIMS_OF) {
        walk->cframe = first;
        if ((first & 7) != 0 || !gmt_python_readable(first, 24)) {
            return false;
        }
        first = gmt_python_load(first + layout->cframe_frame);
    } else if (layout->chain == GMT_PYTHON_CFRAMES) {
        walk->cframe = gmt_python_load(thread + layout->thread_cframe);
    }
    walk->frame = first;
    return true;
}

/* The loop that the last frame ended. */
static enum gmt_python_step end_loop(struct gmt_python_walk *walk)
{
    const struct gmt_python_layout *layout = &walk->python->layout;
    walk->loop_ends = false;
    walk->loop = 0;
    if (layout->chain == GMT_PYTHON_OBJECTS) {
        return GMT_PYTHON_LOOP;
    }
    if ((walk->cframe & 7) != 0 || !gmt_python_readable(walk->cframe, 24)) {
        return GMT_PYTHON_BROKEN;
    }
    walk->loop = walk->cframe;
    walk->cframe = gmt_python_load(walk->cframe + layout->cframe_previous);
    return GMT_PYTHON_LOOP;
}

/* 3.9, 3.10: a frame object counts instructions by an index. */
static enum gmt_python_step object_step(struct gmt_python_walk *walk)
{
    const struct gmt_python_layout *layout = &walk->python->layout;
    uintptr_t start;
    walk->code = gmt_python_load(walk->frame + layout->frame_code);
    int64_t index = gmt_python_load_int(walk->frame + layout->frame_instruction);
    int64_t bytes = (int64_t)gmt_python_code_bytes(walk->python, walk->code, &start);
    walk->offset = index < 0 ? -1 : (int32_t)(index * layout->index_bytes);
    walk->frame = gmt_python_load(walk->frame + layout->frame_previous);
    walk->loop_ends = true;
    return bytes == 0 || index < -1 || index * layout->index_bytes >= bytes ? GMT_PYTHON_BROKEN
                                                                            : GMT_PYTHON_FRAME;
}

/* One frame from 3.11 on; *complete: it has begun to execute what the program wrote. */
static enum gmt_python_step plain_step(struct gmt_python_walk *walk, bool *complete)
{
    const struct gmt_python_layout *layout = &walk->python->layout;
    uint8_t owner = gmt_python_load_byte(walk->frame + layout->frame_owner);
    uintptr_t tags = layout->tag_bits, frame = walk->frame, start;
    *complete = true;
    walk->frame = gmt_python_load(frame + layout->frame_previous);
    if (layout->shim_owner != 0 && owner >= layout->shim_owner) {
        walk->loop = frame;
        return owner > layout->shim_owner + 1 ? GMT_PYTHON_BROKEN : GMT_PYTHON_LOOP;
    }
    walk->code = gmt_python_load(frame + layout->frame_code) & ~tags;
    size_t bytes = gmt_python_code_bytes(walk->python, walk->code, &start);
    int64_t offset = (int64_t)(gmt_python_load(frame + layout->frame_instruction) - start);
    if (bytes == 0 || offset < -2 || offset >= (int64_t)bytes || owner > 2) {
        return GMT_PYTHON_BROKEN;
    }
    int32_t traceable = gmt_python_load_int(walk->code + layout->code_traceable);
    *complete = owner == OWNED_BY_GENERATOR || offset >= 2 * (int64_t)traceable;
    walk->offset = (int32_t)offset;
    walk->loop_ends = layout->chain == GMT_PYTHON_ENTRIES &&
                      gmt_python_load_byte(frame + layout->frame_entry) != 0;
    return GMT_PYTHON_FRAME;
}

enum gmt_python_step gmt_python_walk_step(struct gmt_python_walk *walk)
{
    const struct gmt_python_layout *layout = &walk->python->layout;
    bool complete = true;
    enum gmt_python_step step = GMT_PYTHON_END;
    do {
        if (walk->loop_ends) {
            return end_loop(walk);
        }
        if (walk->frame == 0) {
            return GMT_PYTHON_END;
        }
        if (++walk->steps > MOST_STEPS || (walk->frame & 7) != 0 ||
            !gmt_python_readable(walk->frame, 128)) {
            return GMT_PYTHON_BROKEN;
        }
        step = layout->chain <= GMT_PYTHON_CFRAMES ? object_step(walk)
                                                   : plain_step(walk, &complete);
    } while (!complete); /* tracebacks leave these frames out, too */
    return step;
}
