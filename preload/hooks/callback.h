/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The halves of a hook, for calls that are told of rather than intercepted (lookup/injection.c).
 *
 * A hook is what happens before the real call, the call, and what happens after it. Behind the door
 * CUDA_INJECTION64_PATH the call is made by somebody else, and CUPTI reports its beginning and its
 * end: then GMT_DEFINE_HALVES runs the same two pieces of code. Parameters come as CUPTI's structure
 * of them, which has the members of the parameter list in their order.
 */
#ifndef GMT_PRELOAD_HOOKS_CALLBACK_H
#define GMT_PRELOAD_HOOKS_CALLBACK_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/hooks/each.h"

#define GMT_KEPT_BYTES 1536u

/* One call under way in a thread. */
struct gmt_callback {
    bool entering; /* which half to run */
    struct gmt_site site;
    /* What the first half leaves to the second one, as in the hook's own frame. */
    _Alignas(16) uint8_t kept[GMT_KEPT_BYTES];
};

/* One half of a hook. */
struct gmt_halves {
    void (*run)(struct gmt_callback *told, const void *parameters);
    size_t parameter_bytes; /* of the structure that it reads, 0: none */
};

#define GMT_DECLARE_MEMBER(parameter) parameter;
#define GMT_MEMBER(name) given->name
static inline void gmt_use(int unused, ...)
{
    (void)unused;
}

#define GMT_HALVES(SYMBOL, KEPT, STREAM, FLAGS, BEFORE, AFTER) \
    enum { GMT_IS_INTERCEPTED = 0 }; \
    KEPT *kept = (void *)told->kept; \
    struct gmt_site site = told->site; \
    static_assert(sizeof(KEPT) <= GMT_KEPT_BYTES, "it has its place in gmt_callback"); \
    (void)kept; \
    if (told->entering) { \
        site.id = GMT_HOOK_##SYMBOL; \
        site.flags = (FLAGS); \
        site.stream = (STREAM); \
        gmt_site_note_capture(&site); \
        BEFORE; \
    } else { \
        AFTER; \
    } \
    told->site = site

#define GMT_DEFINE_HALVES(SYMBOL, KEPT, PARAMETERS, ARGUMENTS, STREAM, FLAGS, BEFORE, AFTER) \
    struct gmt_given_##SYMBOL { \
        GMT_EACH(GMT_DECLARE_MEMBER, GMT_NOTHING, GMT_STRIP PARAMETERS) \
    }; \
    static void gmt_halves_##SYMBOL(struct gmt_callback *told, GMT_STRIP PARAMETERS) \
    { \
        gmt_use(0, GMT_STRIP ARGUMENTS); \
        GMT_HALVES(SYMBOL, KEPT, STREAM, FLAGS, BEFORE, AFTER); \
    } \
    static void gmt_run_##SYMBOL(struct gmt_callback *told, const void *parameters) \
    { \
        const struct gmt_given_##SYMBOL *given = parameters; \
        gmt_halves_##SYMBOL(told, GMT_EACH(GMT_MEMBER, GMT_COMMA, GMT_STRIP ARGUMENTS)); \
    } \
    extern const struct gmt_halves gmt_halves_of_##SYMBOL; \
    const struct gmt_halves gmt_halves_of_##SYMBOL = {gmt_run_##SYMBOL, \
                                                      sizeof(struct gmt_given_##SYMBOL)};

#define GMT_DEFINE_HALVES_VOID(SYMBOL, FLAGS, BEFORE, AFTER) \
    static void gmt_run_##SYMBOL(struct gmt_callback *told, const void *parameters) \
    { \
        (void)parameters; \
        GMT_HALVES(SYMBOL, char, NULL, FLAGS, BEFORE, AFTER); \
    } \
    extern const struct gmt_halves gmt_halves_of_##SYMBOL; \
    const struct gmt_halves gmt_halves_of_##SYMBOL = {gmt_run_##SYMBOL, 0};

#endif
