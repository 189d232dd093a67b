/* SPDX-License-Identifier: Apache-2.0 */
/* The layouts, as offsetof() gives them in the headers of 3.9.18, 3.10.13, 3.11.7, 3.12.1, 3.13.0 and 3.14.10. */
#include "preload/python/layout.h"

#include <stddef.h>
#include <string.h>

#define OBJECT .type = 8, .var_size = 16, .type_basicsize = 32, .bytes_data = 32, .kind_shift = 2
#define TEXT_OLD \
    .text_length = 16, .text_hash = 24, .text_state = 32, .text_ascii = 48, .text_compact = 72
#define TEXT \
    .text_length = 16, .text_hash = 24, .text_state = 32, .text_ascii = 40, .text_compact = 56

static const struct gmt_python_layout layouts[] = {
    {.minor = 9,
     .chain = GMT_PYTHON_OBJECTS,
     .table = GMT_PYTHON_LNOTAB,
     .index_bytes = 1,
     OBJECT,
     TEXT_OLD,
     .thread_interpreter = 16,
     .thread_frame = 24,
     .frame_previous = 24,
     .frame_code = 32,
     .frame_instruction = 104,
     .code_file = 104,
     .code_name = 112,
     .code_first_line = 40,
     .code_lines = 120,
     .code_bytes = 48,
     .code_basicsize = 176,
     .frame_basicsize = 368},
    {.minor = 10,
     .chain = GMT_PYTHON_CFRAMES,
     .table = GMT_PYTHON_LINETABLE,
     .index_bytes = 2,
     OBJECT,
     TEXT_OLD,
     .thread_interpreter = 16,
     .thread_frame = 24,
     .thread_cframe = 48,
     .cframe_previous = 8,
     .frame_previous = 24,
     .frame_code = 32,
     .frame_instruction = 96,
     .code_file = 104,
     .code_name = 112,
     .code_first_line = 40,
     .code_lines = 120,
     .code_bytes = 48,
     .code_basicsize = 176,
     .frame_basicsize = 360},
    {.minor = 11,
     .chain = GMT_PYTHON_ENTRIES,
     .table = GMT_PYTHON_LOCATIONS,
     OBJECT,
     TEXT_OLD,
     .thread_interpreter = 16,
     .thread_frame = 56,
     .thread_chunk = 296,
     .cframe_frame = 8,
     .cframe_previous = 16,
     .frame_previous = 48,
     .frame_code = 32,
     .frame_instruction = 56,
     .frame_owner = 69,
     .frame_entry = 68,
     .code_file = 112,
     .code_name = 128,
     .code_first_line = 72,
     .code_lines = 136,
     .code_bytes = 184,
     .code_traceable = 168,
     .code_basicsize = 184,
     .frame_basicsize = 120},
    {.minor = 12,
     .chain = GMT_PYTHON_SHIMS_OF,
     .table = GMT_PYTHON_LOCATIONS,
     OBJECT,
     TEXT,
     .thread_interpreter = 16,
     .thread_frame = 56,
     .thread_chunk = 232,
     .cframe_frame = 0,
     .cframe_previous = 8,
     .frame_previous = 8,
     .frame_code = 0,
     .frame_instruction = 56,
     .frame_owner = 70,
     .shim_owner = 3,
     .code_file = 112,
     .code_name = 128,
     .code_first_line = 68,
     .code_lines = 136,
     .code_bytes = 192,
     .code_traceable = 176,
     .code_version = 92,
     .code_basicsize = 192,
     .frame_basicsize = 120},
    {.minor = 13,
     .chain = GMT_PYTHON_SHIMS,
     .table = GMT_PYTHON_LOCATIONS,
     OBJECT,
     TEXT,
     .thread_interpreter = 16,
     .thread_frame = 72,
     .thread_chunk = 232,
     .frame_previous = 8,
     .frame_code = 0,
     .frame_instruction = 56,
     .frame_owner = 70,
     .shim_owner = 3,
     .code_file = 112,
     .code_name = 128,
     .code_first_line = 68,
     .code_lines = 136,
     .code_bytes = 200,
     .code_traceable = 184,
     .code_version = 92,
     .code_basicsize = 200,
     .frame_basicsize = 136},
    {.minor = 14,
     .chain = GMT_PYTHON_SHIMS,
     .table = GMT_PYTHON_LOCATIONS,
     OBJECT,
     TEXT,
     .thread_interpreter = 16,
     .thread_frame = 72,
     .thread_chunk = 232,
     .frame_previous = 8,
     .frame_code = 0,
     .frame_instruction = 56,
     .frame_owner = 74,
     .shim_owner = 3,
     .tag_bits = 3,
     .code_file = 112,
     .code_name = 128,
     .code_first_line = 68,
     .code_lines = 136,
     .code_bytes = 208,
     .code_traceable = 192,
     .code_version = 92,
     .code_basicsize = 208,
     .frame_basicsize = 152},
    /* 3.13t: objects have a longer head. Its 3.14 is left out: threads have copies of the instructions there. */
    {.minor = 13,
     .free_threaded = 1,
     .chain = GMT_PYTHON_SHIMS,
     .table = GMT_PYTHON_LOCATIONS,
     .type = 24,
     .var_size = 32,
     .type_basicsize = 48,
     .bytes_data = 48,
     .kind_shift = 2,
     .text_length = 32,
     .text_hash = 40,
     .text_state = 48,
     .text_ascii = 56,
     .text_compact = 72,
     .thread_interpreter = 16,
     .thread_frame = 72,
     .frame_previous = 8,
     .frame_code = 0,
     .frame_instruction = 56,
     .frame_owner = 70,
     .shim_owner = 3,
     .code_file = 128,
     .code_name = 144,
     .code_first_line = 84,
     .code_lines = 152,
     .code_bytes = 216,
     .code_traceable = 200,
     .code_version = 108,
     .code_basicsize = 216,
     .frame_basicsize = 152},
};
#define LAYOUTS (sizeof(layouts) / sizeof(layouts[0]))

const struct gmt_python_layout *gmt_python_layouts(unsigned *count)
{
    *count = LAYOUTS;
    return layouts;
}

const struct gmt_python_layout *gmt_python_layout_of(unsigned long version, bool free_threaded)
{
    bool released = (version >> 4 & 0xf) >=
                    0xc; /* a candidate, or final: no layout changes any more */
    for (unsigned i = 0; i < LAYOUTS; i++) {
        if (version >> 24 == 3 && (version >> 16 & 0xff) == layouts[i].minor && released &&
            layouts[i].free_threaded == free_threaded) {
            return &layouts[i];
        }
    }
    return NULL;
}

/* ---- what the interpreter publishes ------------------------------------------------------------ */

/* Words of struct _Py_DebugOffsets: 3.14 has a few more than 3.13 in front. */
struct published {
    uint8_t field; /* offsetof in struct gmt_python_layout */
    uint8_t word_13, word_14;
};
#define FIELD(name) offsetof(struct gmt_python_layout, name)
enum { THREAD_13 = 19, THREAD_14 = 22 };

static const struct published words[] = {
    {FIELD(thread_interpreter), THREAD_13 + 3, THREAD_14 + 3},
    {FIELD(thread_frame), THREAD_13 + 4, THREAD_14 + 4},
    {FIELD(frame_previous), THREAD_13 + 10, THREAD_14 + 10},
    {FIELD(frame_code), THREAD_13 + 11, THREAD_14 + 11},
    {FIELD(frame_instruction), THREAD_13 + 12, THREAD_14 + 12},
    {FIELD(frame_owner), THREAD_13 + 14, THREAD_14 + 14},
    {FIELD(code_file), THREAD_13 + 16, THREAD_14 + 18},
    {FIELD(code_name), THREAD_13 + 18, THREAD_14 + 20},
    {FIELD(code_lines), THREAD_13 + 19, THREAD_14 + 21},
    {FIELD(code_first_line), THREAD_13 + 20, THREAD_14 + 22},
    {FIELD(code_bytes), THREAD_13 + 24, THREAD_14 + 26},
    {FIELD(type), THREAD_13 + 26, THREAD_14 + 29},
};

bool gmt_python_layout_publish(struct gmt_python_layout *layout, const uint64_t *published,
                               unsigned long version)
{
    if (memcmp(published, "xdebugpy", 8) != 0 || published[1] != version ||
        published[2] != layout->free_threaded) {
        return false;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        uint64_t offset = published[layout->minor == 13 ? words[i].word_13 : words[i].word_14];
        uint16_t narrow = (uint16_t)offset;
        if (offset >= 4096) {
            return false;
        }
        memcpy((char *)layout + words[i].field, &narrow, sizeof(narrow));
    }
    return true;
}
