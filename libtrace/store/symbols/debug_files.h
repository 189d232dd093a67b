/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the file of a module, and the debug information that was split off from it.
 *
 * A file counts only when its build id is the module's, or, for what .gnu_debuglink names, when its
 * checksum is the one written there. Nothing is fetched from the network.
 */
#ifndef GMT_STORE_SYMBOLS_DEBUG_FILES_H
#define GMT_STORE_SYMBOLS_DEBUG_FILES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>

/* Folders to look in besides the module's own, its .debug and /usr/lib/debug. In each of them: by
 * build id (.build-id/ab/cdef.debug, or ab/cdef.debug where the folder is a .build-id itself), by the
 * module's whole path below it, and by the module's file name in it. */
struct gmt_debug_dirs {
    const char *const *dirs; /* absolute */
    size_t count;
};

/* libdwfl's callback. Its user data, `*userdata`, is a `const struct gmt_debug_dirs *` or NULL. */
int gmt_debug_files_find(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
                         const char *file, const char *debuglink, GElf_Word checksum,
                         char **found_path);

/* A file of build id `build_id` (hex) for the module that was mapped from `path`: malloc'ed, or NULL
 * when there is none. Never `path` itself. */
char *gmt_debug_files_main(const struct gmt_debug_dirs *dirs, const char *path,
                           const char *build_id);

/* Does the module have that build id? True when either has none. */
bool gmt_debug_files_match(Dwfl_Module *module, const char *build_id);

#endif
