/* SPDX-License-Identifier: Apache-2.0 */
/* Finds CPython in the process, reads what a thread runs, and puts it into native stacks. */
#include "preload/python/interpreter.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/cupti/base/real_dlsym.h"
#include "libtrace/record/spool.h"
#include "preload/python/frames.h"
#include "preload/python/memory.h"
#include "preload/python/outer.h"
#include "preload/session/options.h"
#include "preload/session/table.h"

#define LINE_SLOTS 65536u /* a power of two; half of them are used */
#define MOST_BROKEN 64u   /* stacks that cannot be read, until none is tried any more */

/* Where frames begin on the stack is known on x86-64 only. */
#if defined(__x86_64__)
#define HAS_BOTTOMS true
#else
#define HAS_BOTTOMS false
#endif

#define PRIME UINT64_C(0x9e3779b97f4a7c15)

static struct gmt_python python;
static uintptr_t loop_start,
    loop_end; /* code of the interpreter's loop, as far as its symbol goes */
/* None needs the GIL: they read a thread-specific value and variables. */
static int (*is_initialized)(void);
static void *(*this_thread)(void);
static void *(*main_interpreter)(void);
static _Atomic bool is_active;
static _Atomic uint32_t broken;
static _Atomic bool is_decided;
static _Atomic unsigned long long loads_looked_at = ULLONG_MAX;

/* (content of a code object, line) -> number of the record that names it. One thread at a time. */
struct line_entry {
    uint64_t key;
    uint32_t id;
};
static gmt_table_pointer lines; /* to LINE_SLOTS of them */
#define LINES_BYTES (LINE_SLOTS * sizeof(struct line_entry))
static uint32_t line_count;

static inline uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * PRIME;
    return hash ^ hash >> 29;
}

/* ---- which interpreter ------------------------------------------------------------------------- */

static uintptr_t symbol(const char *name)
{
    return (uintptr_t)gmt_dlsym_past_us(RTLD_DEFAULT, name);
}

/* As sys.hexversion. From 3.11 on it is a variable; a text says the rest. */
static unsigned long version_of_interpreter(void)
{
    uintptr_t variable = symbol("Py_Version"), function = symbol("Py_GetVersion");
    if (variable != 0) {
        return (unsigned long)gmt_python_load(variable);
    }
    const char *(*text_of)(void);
    if (function == 0) {
        return 0;
    }
    memcpy(&text_of, &function, sizeof(text_of));
    char *at;
    const char *text = text_of();
    unsigned long major = strtoul(text, &at, 10), minor = *at == '.' ? strtoul(at + 1, &at, 10) : 0;
    unsigned long micro = *at == '.' ? strtoul(at + 1, &at, 10) : 0;
    return *at == ' ' || *at == '+' ? major << 24 | minor << 16 | micro << 8 | 0xf0 : 0;
}

static bool choose_layout(unsigned long version)
{
    uintptr_t runtime = symbol("_PyRuntime");
    bool publishes = version >= 0x030d0000 && runtime != 0 &&
                     gmt_python_readable(runtime, GMT_PYTHON_PUBLISHED_WORDS * sizeof(uint64_t));
    const uint64_t *published = (const uint64_t *)runtime; // NOLINT(performance-no-int-to-ptr)
    const struct gmt_python_layout *known = gmt_python_layout_of(version,
                                                                 publishes && published[2] != 0);
    if (known == NULL) {
        return false;
    }
    python.layout = *known;
    python.code_type = symbol("PyCode_Type");
    python.text_type = symbol("PyUnicode_Type");
    python.bytes_type = symbol("PyBytes_Type");
    return (version < 0x030d0000 ||
            (publishes && gmt_python_layout_publish(&python.layout, published, version))) &&
           gmt_python_fits(&python, symbol("PyType_Type"), symbol("PyFrame_Type"));
}

static void find_loop(void)
{
    Dl_info info;
    const ElfW(Sym) *entry = NULL;
    uintptr_t loop = symbol("_PyEval_EvalFrameDefault");
    if (loop != 0 && dladdr1((void *)loop, &info, (void **)&entry, RTLD_DL_SYMENT) != 0 && // NOLINT
        entry != NULL) {
        loop_start = loop;
        loop_end = loop + entry->st_size;
    }
}

/* Its functions are called from now on: the library stays. */
static void keep_loaded(uintptr_t function)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (dladdr1((void *)function, &info, (void **)&map, RTLD_DL_LINKMAP) != 0 && // NOLINT
        map != NULL && map->l_name[0] != '\0') {
        (void)dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    }
}

static void say(enum gmt_capability_state state, unsigned long version)
{
    char detail[128];
    (void)snprintf(detail, sizeof(detail), "CPython %lu.%lu.%lu%s", version >> 24,
                   version >> 16 & 0xff, version >> 8 & 0xff,
                   state == GMT_CAP_OK ? "" : ": no build whose frames can be read");
    gmt_spool_capability("python.lines", state, 0, detail,
                         state == GMT_CAP_OK ? "" : "PYTHONPERFSUPPORT=1 names functions");
}

static void decide(uintptr_t function)
{
    uintptr_t interpreter = symbol("PyInterpreterState_Main");
    uintptr_t initialized = symbol("Py_IsInitialized");
    unsigned long version = version_of_interpreter();
    bool can = HAS_BOTTOMS && interpreter != 0 && initialized != 0 && choose_layout(version);
    if (can) {
        keep_loaded(function);
        find_loop();
        can = python.layout.chain != GMT_PYTHON_OBJECTS || loop_start != 0;
        memcpy(&is_initialized, &initialized, sizeof(is_initialized));
        memcpy(&this_thread, &function, sizeof(this_thread));
        memcpy(&main_interpreter, &interpreter, sizeof(main_interpreter));
    }
    say(can ? GMT_CAP_OK : GMT_CAP_MISSING, version);
    atomic_store_explicit(&is_active, can, memory_order_release);
}

void gmt_python_look(unsigned long long loads)
{
    if (atomic_load_explicit(&is_decided, memory_order_relaxed) || !gmt_options.python ||
        atomic_exchange_explicit(&loads_looked_at, loads, memory_order_relaxed) == loads) {
        return;
    }
    uintptr_t function = symbol("PyGILState_GetThisThreadState");
    if (function != 0 && !atomic_exchange(&is_decided, true)) {
        decide(function);
    }
}

/* ---- what a thread runs ------------------------------------------------------------------------ */

/* An interpreter that ends says so before it frees the states of threads that are still inside of their functions. */
static uintptr_t thread_here(void)
{
    uintptr_t thread = is_initialized() != 0 ? (uintptr_t)this_thread() : 0;
    return thread != 0 && (thread & 7) == 0 && gmt_python_readable(thread, 128) &&
                   gmt_python_load(thread + python.layout.thread_interpreter) ==
                       (uintptr_t)main_interpreter()
               ? thread
               : 0;
}

static bool start(struct gmt_python_walk *walk)
{
    uintptr_t thread = thread_here();
    return thread != 0 && gmt_python_walk_start(walk, &python, thread);
}

static uint64_t give_up(void)
{
    if (atomic_fetch_add_explicit(&broken, 1, memory_order_relaxed) == MOST_BROKEN) {
        atomic_store_explicit(&is_active, false, memory_order_relaxed);
        gmt_spool_capability("python.lines", GMT_CAP_PARTIAL, 0,
                             "frames of the interpreter that cannot be read", "");
    }
    return 0;
}

uint64_t gmt_python_here(void)
{
    struct gmt_python_walk walk;
    uint64_t hash = PRIME;
    uint32_t count = 0;
    if (!atomic_load_explicit(&is_active, memory_order_acquire) || !start(&walk)) {
        return 0;
    }
    while (count < GMT_PYTHON_FRAMES) {
        enum gmt_python_step step = gmt_python_walk_step(&walk);
        if (step == GMT_PYTHON_END) {
            break;
        }
        if (step == GMT_PYTHON_BROKEN) {
            return give_up();
        }
        if (step == GMT_PYTHON_FRAME) {
            uint64_t identity = gmt_python_code_identity(&python, walk.code);
            if (identity == 0) {
                return give_up();
            }
            hash = mix(hash, identity ^ (uint32_t)walk.offset);
            count++;
        } else {
            hash = mix(hash, 1);
        }
    }
    return count != 0 ? hash | 1 : 0;
}

uint64_t gmt_python_outer(uint64_t hint)
{
    if (!atomic_load_explicit(&is_active, memory_order_acquire) || is_initialized() == 0) {
        return 0;
    }
    uint64_t hash = gmt_python_outer_known(&python, (uintptr_t)this_thread(), hint);
    if (__builtin_expect(hash == 0, 0)) {
        uintptr_t thread = thread_here();
        hash = thread != 0 ? gmt_python_outer_of(&python, thread, hint) : 0;
    }
    return hash;
}

/* ---- merged stacks, one thread at a time -------------------------------------------------------- */

/* The word of a function's line, 0: it cannot be named. */
static uint64_t word_of(const struct gmt_python_walk *walk)
{
    static struct gmt_python_place place;
    struct line_entry *table = gmt_table_need(&lines, LINES_BYTES);
    uint64_t identity = gmt_python_code_identity(&python, walk->code);
    if (table == NULL || identity == 0 ||
        !gmt_python_code_place(&python, walk->code, walk->offset, &place)) {
        return 0;
    }
    uint64_t key = mix(identity, (uint32_t)place.line) | 1;
    unsigned slot = (unsigned)(key >> 40) % LINE_SLOTS;
    while (table[slot].key != 0 && table[slot].key != key) {
        slot = (slot + 1) % LINE_SLOTS;
    }
    if (table[slot].key == key) {
        return GMT_STACK_PYTHON | table[slot].id;
    }
    struct gmt_python_line record = {.id = line_count + 1, .line = (uint32_t)place.line};
    if (line_count >= LINE_SLOTS / 2 ||
        gmt_spool_side(GMT_REC_PYTHON_LINE, &record, sizeof(record),
                       (const char *[]){place.function, place.file}, 2) != 0) {
        return 0;
    }
    table[slot] = (struct line_entry){.key = key, .id = ++line_count};
    return GMT_STACK_PYTHON | line_count;
}

struct loop {
    uintptr_t at;
    uint32_t first, end; /* of its functions */
};
static struct {
    uint64_t word[GMT_PYTHON_FRAMES];
    struct loop loop[GMT_PYTHON_FRAMES + 1];
    uint32_t words, loops;
    bool is_cut; /* there are more functions further out */
} here;

/* False: they cannot be read. */
static bool read_here(void)
{
    struct gmt_python_walk walk;
    enum gmt_python_step step;
    here.words = here.loops = 0;
    here.is_cut = false;
    if (!start(&walk)) {
        return false;
    }
    uint32_t first = 0;
    while ((step = gmt_python_walk_step(&walk)) != GMT_PYTHON_END) {
        if (step == GMT_PYTHON_BROKEN) {
            return false;
        }
        if (step == GMT_PYTHON_LOOP) {
            if (here.loops == GMT_PYTHON_FRAMES) {
                here.is_cut = true;
                return true;
            }
            here.loop[here.loops++] = (struct loop){walk.loop, first, here.words};
            first = here.words;
            if (here.is_cut) {
                return true;
            }
        } else if (here.words == GMT_PYTHON_FRAMES) {
            here.is_cut = true;
        } else if ((here.word[here.words++] = word_of(&walk)) == 0) {
            return false;
        }
    }
    return first == here.words; /* every function is run by some loop */
}

/* Which loop the i-th native frame is: `next` or none; -1: what is on the stack contradicts the chain of functions, as in a
 * sub-interpreter, or where something switches stacks. */
static int loop_at(const struct gmt_python_native *native, uint32_t i, uint32_t next)
{
    bool is_loop = native->address[i] - 1 >= loop_start && native->address[i] - 1 < loop_end;
    bool has_next = next < here.loops;
    if (python.layout.chain == GMT_PYTHON_OBJECTS) {
        return is_loop ? (has_next ? 1 : -!here.is_cut) : 0;
    }
    uintptr_t at = has_next ? here.loop[next].at : UINTPTR_MAX;
    if (native->bottom[i + 1] == 0) {
        return is_loop && has_next && at >= native->bottom[i] ? 1 : 0; /* the walk was lost in it */
    }
    if (at < native->bottom[i]) {
        return -1;
    }
    return at < native->bottom[i + 1] ? 1 : (is_loop && !here.is_cut ? -1 : 0);
}

static uint32_t put_loop(const struct loop *loop, uint64_t *words, uint32_t count)
{
    for (uint32_t i = loop->first; i < loop->end; i++) {
        words[count++] = here.word[i];
    }
    return count;
}

uint32_t gmt_python_merge(const struct gmt_python_native *native, uint64_t *words)
{
    uint32_t count = 0, next = 0;
    if (!read_here()) {
        return 0;
    }
    for (uint32_t i = 0; i < native->depth; i++) {
        int found = loop_at(native, i, next);
        if (found < 0) {
            return 0;
        }
        if (found > 0) {
            count = put_loop(&here.loop[next++], words, count);
        } else {
            words[count++] = native->address[i];
        }
    }
    if (native->is_complete && next < here.loops) {
        return 0;
    }
    /* The walk of the native stack did not get so far. */
    while (next < here.loops) {
        count = put_loop(&here.loop[next++], words, count);
    }
    return count;
}

void gmt_python_reset(void)
{
    if (gmt_table(&lines) != NULL) {
        memset(gmt_table(&lines), 0, LINES_BYTES);
    }
    line_count = 0;
}
