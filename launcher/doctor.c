/* SPDX-License-Identifier: Apache-2.0 */
/* `gmtrace doctor`: what recording here would get, and what to do about the rest. */
#include "launcher/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "launcher/launcher.h"
#include "libtrace/base/printable.h"
#include "libtrace/record/chunk.h"
#include "libtrace/record/clock.h"

static void check_parts(void)
{
    static const struct {
        const char *check, *relative;
        enum gmt_doctor_state without;
        const char *consequence, *remedy;
    } parts[] = {
        {"library", "../lib/libgmtrace.so", GMT_DOCTOR_BAD, "nothing can be recorded",
         "install again"},
        {"recorder", "../libexec/gmtrace/gmtrace-recorder", GMT_DOCTOR_BAD,
         "the records stay in a spool until gmanalyze reads it", "install again"},
        {"gmanalyze", "gmanalyze", GMT_DOCTOR_LIMITED, "traces cannot be analysed here",
         "install it, or copy traces to where it is"},
        {"gmcalibrate", "gmcalibrate", GMT_DOCTOR_LIMITED, "this device cannot be calibrated",
         "build with the CUDA compiler"},
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        char path[PATH_MAX];
        if (gmt_launcher_part(parts[i].relative, path, sizeof(path)) == 0) {
            gmt_doctor_say(GMT_DOCTOR_GOOD, parts[i].check, NULL, "%s", path);
        } else {
            gmt_doctor_say(parts[i].without, parts[i].check, parts[i].remedy, "not found: %s",
                           parts[i].consequence);
        }
    }
}

static void check_software_device(void)
{
    char folder[PATH_MAX];
    if (gmt_launcher_software_device(folder, sizeof(folder)) == 0) {
        gmt_doctor_say(GMT_DOCTOR_GOOD, "no GPU?", NULL,
                       "gmtrace --device sim ./app executes PTX on the CPU and counts exactly (%s)",
                       folder);
    } else {
        gmt_doctor_say(GMT_DOCTOR_LIMITED, "no GPU?", "install again",
                       "the software device is not installed: nothing runs without a GPU");
    }
}

/* Traces go to the working folder by default: can a spool live there? */
static void check_folder(void)
{
    enum { SPOOL_MIB = 1024 }; /* what a spool may take, unless --spool-limit says otherwise */
    char path[64];
    void *mapping;
    (void)snprintf(path, sizeof(path), ".gmtrace-doctor-%ld", (long)getpid());
    int error = gmt_spool_file_create(AT_FDCWD, path, 4096, &mapping, NULL);
    if (error == 0) {
        munmap(mapping, 4096);
        unlink(path);
    }
    struct statvfs space;
    if (error == -ENODEV || error == -EINVAL) {
        gmt_doctor_say(GMT_DOCTOR_GOOD, "folder", NULL,
                       "no shared mappings here; the spool will lie in /dev/shm");
    } else if (error != 0) {
        gmt_doctor_say(GMT_DOCTOR_BAD, "folder", "name another place with -o",
                       "cannot write here: %s", strerror(-error));
    } else if (statvfs(".", &space) != 0) {
        gmt_doctor_say(GMT_DOCTOR_LIMITED, "folder", NULL, "writable; free space is not known: %s",
                       strerror(errno));
    } else {
        unsigned long long mib = (unsigned long long)space.f_bavail * space.f_frsize >> 20;
        bool enough = mib >= SPOOL_MIB;
        gmt_doctor_say(enough ? GMT_DOCTOR_GOOD : GMT_DOCTOR_LIMITED, "folder",
                       enough ? NULL : "free some space, or name another place with -o",
                       "writable, %llu MiB free", mib);
    }
}

static void check_clock(void)
{
    gmt_clock_init();
    gmt_doctor_say(GMT_DOCTOR_GOOD, "clock", NULL, "%s",
                   gmt_clock_uses_tsc ? "invariant TSC"
                                      : "clock_gettime (no invariant TSC): about 40 ns more per "
                                        "recorded call");
}

int gmt_launcher_doctor(char *const argv[])
{
    bool json = false;
    const char *program = NULL;
    for (size_t i = 1; argv[i] != NULL; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            json = true;
        } else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            gmt_say(stdout, "Usage: gmtrace [--device sim] doctor [--json] [PROGRAM]\n");
            gmt_say(stdout,
                    "Reports what can be recorded here, of PROGRAM if it is named, and how to fix "
                    "the rest; after --device sim: on the software device. Returns 1 when nothing "
                    "could be recorded.\n");
            return 0;
        } else if (strcmp(argv[i], "--version") == 0 || strcmp(argv[i], "-V") == 0) {
            gmt_say(stdout, "gmtrace " GMT_VERSION "\n");
            return 0;
        } else if (argv[i][0] != '-' && program == NULL) {
            program = argv[i];
        } else {
            gmt_say(stderr, "gmtrace: usage: gmtrace doctor [--json] [PROGRAM]\n");
            return GMT_EXIT_FAILED;
        }
    }
    gmt_doctor_begin(json);
    if (gmt_launcher_wants_software_device()) {
        gmt_doctor_software_device();
        check_parts();
    } else {
        gmt_doctor_gpu();
        gmt_doctor_counters();
        gmt_doctor_others();
        check_parts();
        gmt_doctor_preload();
        check_software_device();
    }
    check_folder();
    check_clock();
    if (program != NULL) {
        gmt_doctor_program(program);
    }
    enum gmt_doctor_state worst;
    if (gmt_doctor_end(&worst) != 0) {
        return GMT_EXIT_FAILED;
    }
    return worst == GMT_DOCTOR_BAD ? 1 : 0;
}
