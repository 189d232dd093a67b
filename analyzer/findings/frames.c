/* SPDX-License-Identifier: Apache-2.0 */
/* Whose the frames of a stack are. */
#include <string.h>

#include "analyzer/findings/where.h"
#include "libtrace/base/base_name.h"
#include "libtrace/base/prefix.h"

/* Loader and C library: they call, but nobody can change a line there. */
static bool is_system_module(const char *path)
{
    static const char *const names[] = {"libc.so", "libpthread.so", "ld-linux", "libdl.so"};

    for (size_t i = 0; path != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
        if (gmt_starts_with(gmt_base_name(path), names[i])) {
            return true;
        }
    }
    return false;
}

bool gmt_frame_is_beyond_runtime(const struct gmt_report_frame *frame)
{
    /* Launch stubs that nvcc generates for kernels are skipped, whatever module they lie in. */
    bool stub = frame->function != NULL && strstr(frame->function, "__device_stub__") != NULL;

    return !frame->runtime && !stub && !is_system_module(frame->module);
}

/* Packages that are installed beside the program, and what Python itself brings. */
static bool is_library_file(const char *path)
{
    static const char *const marks[] = {"/site-packages/", "/dist-packages/", "/lib/python3",
                                        "<frozen "};

    for (size_t i = 0; path != NULL && i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (strstr(path, marks[i]) != NULL) {
            return true;
        }
    }
    return false;
}

bool gmt_frame_is_users(const struct gmt_report_frame *frame)
{
    return gmt_frame_is_beyond_runtime(frame) && !gmt_frame_is_nameless(frame);
}

bool gmt_frame_is_own(const struct gmt_report_frame *frame)
{
    return frame->file != NULL && !is_library_file(frame->file) && !is_library_file(frame->module);
}
