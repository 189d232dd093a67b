/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entry and exit callbacks of a hook, for calls that CUPTI reports instead of us intercepting them
 * (lookup/injection.c).
 *
 * A hook is what happens before the real call, the call, and what happens after it. With
 * CUDA_INJECTION64_PATH the program calls the driver itself, and CUPTI reports entry and
 * exit: then GMT_DEFINE_CALLBACKS runs the same two pieces of code. Parameters come as CUPTI's structure
 * of them, which has the members of the parameter list in their order.
 */
#ifndef GMT_PRELOAD_HOOKS_CALLBACK_H
#define GMT_PRELOAD_HOOKS_CALLBACK_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/hooks/each.h"

#define GMT_SAVED_BYTES 1536u

/* One call in progress in a thread. */
struct gmt_callback {
    bool entering; /* entry or exit */
    struct gmt_hook_call call;
    /* What entry saves for exit, as in the hook's own frame. */
    _Alignas(16) uint8_t saved[GMT_SAVED_BYTES];
};

/* Entry and exit of one hook. */
struct gmt_hook_callbacks {
    void (*run)(struct gmt_callback *reported, const void *parameters);
    size_t parameter_bytes; /* of the structure that it reads, 0: none */
};

#define GMT_DECLARE_MEMBER(parameter) parameter;
#define GMT_MEMBER(name) params->name
static inline void gmt_use(int unused, ...)
{
    (void)unused;
}

#define GMT_ENTRY_OR_EXIT(SYMBOL, SAVED, STREAM, FLAGS, BEFORE, AFTER) \
    enum { GMT_IS_INTERCEPTED = 0 }; \
    SAVED *saved = (void *)reported->saved; \
    struct gmt_hook_call call = reported->call; \
    static_assert(sizeof(SAVED) <= GMT_SAVED_BYTES, "gmt_callback holds it"); \
    (void)saved; \
    if (reported->entering) { \
        call.id = GMT_HOOK_##SYMBOL; \
        call.flags = (FLAGS); \
        call.stream = (STREAM); \
        gmt_hook_call_note_capture(&call); \
        BEFORE; \
    } else { \
        AFTER; \
    } \
    reported->call = call

#define GMT_DEFINE_CALLBACKS(SYMBOL, SAVED, PARAMETERS, ARGUMENTS, STREAM, FLAGS, BEFORE, AFTER) \
    struct gmt_params_##SYMBOL { \
        GMT_EACH(GMT_DECLARE_MEMBER, GMT_NOTHING, GMT_STRIP PARAMETERS) \
    }; \
    static void gmt_callback_##SYMBOL(struct gmt_callback *reported, GMT_STRIP PARAMETERS) \
    { \
        gmt_use(0, GMT_STRIP ARGUMENTS); \
        GMT_ENTRY_OR_EXIT(SYMBOL, SAVED, STREAM, FLAGS, BEFORE, AFTER); \
    } \
    static void gmt_run_##SYMBOL(struct gmt_callback *reported, const void *parameters) \
    { \
        const struct gmt_params_##SYMBOL *params = parameters; \
        gmt_callback_##SYMBOL(reported, GMT_EACH(GMT_MEMBER, GMT_COMMA, GMT_STRIP ARGUMENTS)); \
    } \
    extern const struct gmt_hook_callbacks gmt_callbacks_of_##SYMBOL; \
    const struct gmt_hook_callbacks gmt_callbacks_of_##SYMBOL = { \
        gmt_run_##SYMBOL, sizeof(struct gmt_params_##SYMBOL)};

#define GMT_DEFINE_CALLBACKS_VOID(SYMBOL, FLAGS, BEFORE, AFTER) \
    static void gmt_run_##SYMBOL(struct gmt_callback *reported, const void *parameters) \
    { \
        (void)parameters; \
        GMT_ENTRY_OR_EXIT(SYMBOL, char, NULL, FLAGS, BEFORE, AFTER); \
    } \
    extern const struct gmt_hook_callbacks gmt_callbacks_of_##SYMBOL; \
    const struct gmt_hook_callbacks gmt_callbacks_of_##SYMBOL = {gmt_run_##SYMBOL, 0};

#endif
