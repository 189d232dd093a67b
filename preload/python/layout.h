/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where CPython keeps what a stack needs: offsets within its objects, by version.
 *
 * They are fixed within a minor version; from 3.13 on the interpreter publishes them itself, at the start of
 * _PyRuntime. Only versions whose lines have been compared with `traceback` have a layout.
 */
#ifndef GMT_PRELOAD_PYTHON_LAYOUT_H
#define GMT_PRELOAD_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/* How frames hang together, and how they are shared out among calls of the interpreter's loop. */
enum gmt_python_chain {
    GMT_PYTHON_OBJECTS,  /* 3.9: a chain of frame objects, one per call of the loop */
    GMT_PYTHON_CFRAMES,  /* 3.10: the same, and each call of the loop has a CFrame on its stack */
    GMT_PYTHON_ENTRIES,  /* 3.11: a call of the loop runs all frames up to one marked is_entry */
    GMT_PYTHON_SHIMS_OF, /* 3.12: ... up to a frame of the loop's own, on its stack; from a CFrame */
    GMT_PYTHON_SHIMS,    /* 3.13 on: the same, from the thread state */
};

enum gmt_python_table {
    GMT_PYTHON_LNOTAB,    /* 3.9: co_lnotab */
    GMT_PYTHON_LINETABLE, /* 3.10: co_linetable */
    GMT_PYTHON_LOCATIONS, /* 3.11 on: co_linetable with columns */
};

struct gmt_python_layout {
    uint8_t minor;
    uint8_t chain;       /* enum gmt_python_chain */
    uint8_t table;       /* enum gmt_python_table */
    uint8_t shim_owner;  /* frame.owner from which on a frame is a shim */
    uint8_t index_bytes; /* 3.9, 3.10: what f_lasti counts in */
    uint8_t tag_bits;    /* of references in frames */
    uint8_t free_threaded;
    uint8_t kind_shift;                        /* of the character size in the state of a str */
    uint16_t type, var_size;                   /* of any object */
    uint16_t thread_interpreter, thread_frame; /* PyThreadState: frame, or CFrame */
    uint16_t thread_cframe;                    /* 3.10: it has both */
    uint16_t thread_chunk; /* of frames; behind it the end of those in use, and its own; 0: none */
    uint16_t cframe_frame, cframe_previous;
    uint16_t frame_previous, frame_code, frame_instruction, frame_owner, frame_entry;
    uint16_t code_file, code_name, code_first_line, code_lines;
    uint16_t code_bytes;     /* 3.11 on: the instructions; before: the bytes object of them */
    uint16_t code_traceable; /* 3.11 on: _co_firsttraceable */
    uint16_t
        code_version; /* 3.12 on: co_version, of which no two code objects have the same; 0: some have none */
    uint16_t code_basicsize, frame_basicsize; /* of the types code and frame */
    uint16_t text_hash, text_length, text_state, text_ascii, text_compact; /* str */
    uint16_t bytes_data;
    uint16_t type_basicsize; /* PyTypeObject.tp_basicsize */
};

/* The layout of a version as sys.hexversion has it; NULL: none is known. */
const struct gmt_python_layout *gmt_python_layout_of(unsigned long version, bool free_threaded);

/* All of them, for tests. */
const struct gmt_python_layout *gmt_python_layouts(unsigned *count);

/* Take the offsets that the interpreter publishes at the start of _PyRuntime. False: it publishes none, or
 * those of another version. */
bool gmt_python_layout_publish(struct gmt_python_layout *layout, const uint64_t *published,
                               unsigned long version);
#define GMT_PYTHON_PUBLISHED_WORDS 96

#endif
