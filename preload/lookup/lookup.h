/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program finds when it looks a name up with dlsym: what it would find without us, and the hook
 * in place of what has one.
 *
 * The hooks of the driver are exported with a version that is hidden (GMT_EXPORT_DRIVER in hooks/hook.h). The
 * loader binds programs that are linked with the driver to them, but dlsym does not return them: a
 * program that asks whether CUDA is there gets the loader's own answer. CUPTI's names and the ways in
 * for the driver and NVTX are plain exports, since programs ask for CUPTI's with a version of its own;
 * there the look-up has to be repeated as if they were not.
 */
#ifndef GMT_PRELOAD_LOOKUP_LOOKUP_H
#define GMT_PRELOAD_LOOKUP_LOOKUP_H

/* What dlsym.S does: return `answer`; GMT_LOOKUP_NOTHING: return NULL, dlerror() says why; NULL: let
 * the real dlsym answer, for `handle`. */
struct gmt_lookup {
    void *answer;
    void *handle;
};
#define GMT_LOOKUP_NOTHING ((void *)1)

/* Called by dlsym.S for cu[A-Z]*, cupti* and In*. `caller`: the address that asks. */
__attribute__((visibility("hidden"))) struct gmt_lookup
gmt_dlsym_filter(void *handle, const char *name, const void *caller);

#endif
