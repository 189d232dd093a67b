/* SPDX-License-Identifier: Apache-2.0 */
/* `gmtrace doctor`: what recording here would get, and what to do about the rest. */
#include <cuda.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "libtrace/cupti/locate.h"
#include "libtrace/record/chunk.h"
#include "libtrace/record/clock.h"
#include "preload/launcher/launcher.h"

enum verdict { GOOD, LIMITED, BAD };

static int worst;

__attribute__((format(printf, 3, 4))) static void say(enum verdict verdict, const char *what,
                                                      const char *format, ...)
{
    static const char *const marks[] = {"ok     ", "limited", "missing"};
    char text[1024];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof(text), format, list); // NOLINT: clang 14 misses va_start
    va_end(list);
    (void)printf("%s  %-12s %s\n", marks[verdict], what, text);
    worst = (int)verdict > worst ? (int)verdict : worst;
}

static void *symbol(void *library, const char *name)
{
    return library != NULL ? dlsym(library, name) : NULL;
}

static void check_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == NULL) {
        say(BAD, "driver",
            "libcuda.so.1 cannot be loaded (%s); install the NVIDIA driver, or run "
            "where there is one",
            dlerror());
        return;
    }
    CUresult (*init)(unsigned);
    CUresult (*version)(int *);
    CUresult (*count)(int *);
    CUresult (*name)(char *, int, CUdevice);
    CUresult (*attribute)(int *, CUdevice_attribute, CUdevice);
    *(void **)&init = symbol(library, "cuInit");
    *(void **)&version = symbol(library, "cuDriverGetVersion");
    *(void **)&count = symbol(library, "cuDeviceGetCount");
    *(void **)&name = symbol(library, "cuDeviceGetName");
    *(void **)&attribute = symbol(library, "cuDeviceGetAttribute");
    if (init == NULL || version == NULL || count == NULL || name == NULL || attribute == NULL) {
        say(BAD, "driver", "libcuda.so.1 is no CUDA driver library");
        return;
    }
    int number = 0, devices = 0;
    CUresult result = init(0);
    if (result != CUDA_SUCCESS || version(&number) != CUDA_SUCCESS ||
        count(&devices) != CUDA_SUCCESS) {
        say(BAD, "driver", "cuInit returned %d: the driver is installed but finds no usable GPU",
            (int)result);
        return;
    }
    say(devices > 0 ? GOOD : BAD, "driver", "supports CUDA %d.%d, %d device%s", number / 1000,
        number % 1000 / 10, devices, devices == 1 ? "" : "s");
    for (int device = 0; device < devices; device++) {
        char text[128] = "?";
        int major = 0, minor = 0;
        (void)name(text, sizeof(text), device);
        (void)attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
        (void)attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
        say(GOOD, "device", "%d: %s, compute capability %d.%d", device, text, major, minor);
    }
}

static void check_counter_permission(void)
{
    FILE *file = fopen("/proc/driver/nvidia/params", "re");
    char line[256];
    bool admin_only = false, known = false;
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "RmProfilingAdminOnly:", 21) == 0) {
            known = true;
            admin_only = strtol(line + 21, NULL, 10) != 0;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    if (!known) {
        say(LIMITED, "counters",
            "cannot tell whether this user may read hardware counters (no "
            "/proc/driver/nvidia/params); recording tries and notes it");
    } else if (admin_only && geteuid() != 0) {
        say(LIMITED, "counters",
            "reading them is reserved for root: set the module option "
            "NVreg_RestrictProfilingToAdminUsers=0, or run as root");
    } else {
        say(GOOD, "counters", "this user may read them");
    }
}

static void check_cupti(void)
{
    char path[PATH_MAX] = "";
    uint32_t version = 0;
    if (gmt_cupti_locate(getenv("GMTRACE_CUPTI"), path, sizeof(path), &version) == 0) {
        say(GOOD, "cupti", "version %u, %s", version, path);
    } else {
        say(LIMITED, "cupti",
            "libcupti.so is not found: no device timestamps and no counters; "
            "install the CUDA toolkit's CUPTI or set GMTRACE_CUPTI to its path");
    }
}

static void check_parts(void)
{
    static const struct {
        const char *what, *relative;
        enum verdict without;
        const char *consequence;
    } parts[] = {
        {"library", "../lib/libgmtrace.so", BAD, "nothing can be recorded; install again"},
        {"recorder", "../libexec/gmtrace/gmtrace-recorder", BAD,
         "the records stay in a spool until gmanalyze reads it; install again"},
        {"gmanalyze", "gmanalyze", LIMITED, "traces cannot be analysed here"},
        {"gmcalibrate", "gmcalibrate", LIMITED,
         "this device cannot be calibrated; build with the CUDA compiler"},
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        char path[PATH_MAX];
        if (gmt_launcher_part(parts[i].relative, path, sizeof(path)) == 0) {
            say(GOOD, parts[i].what, "%s", path);
        } else {
            say(parts[i].without, parts[i].what, "not found: %s", parts[i].consequence);
        }
    }
}

static void check_software_device(void)
{
    char folder[PATH_MAX];
    if (gmt_launcher_software_device(folder, sizeof(folder)) == 0) {
        say(GOOD, "no GPU?",
            "gmtrace --device sim ./app executes PTX on the CPU and counts exactly (%s)", folder);
    } else {
        say(LIMITED, "no GPU?", "the software device is not installed: nothing runs without a GPU");
    }
}

/* Traces go to the working folder unless told otherwise: can a spool live there? */
static void check_folder(void)
{
    char path[64];
    void *mapping;
    (void)snprintf(path, sizeof(path), ".gmtrace-doctor-%ld", (long)getpid());
    int error = gmt_spool_file_create(path, 4096, &mapping, NULL);
    if (error == 0) {
        munmap(mapping, 4096);
        unlink(path);
    }
    struct statvfs space;
    unsigned long long free_mib = statvfs(".", &space) == 0
                                      ? (unsigned long long)space.f_bavail * space.f_frsize >> 20
                                      : 0;
    if (error == -ENODEV || error == -EINVAL) {
        say(GOOD, "folder", "no shared mappings here; the spool will lie in /dev/shm");
    } else if (error != 0) {
        say(BAD, "folder", "cannot write here: %s; name another place with -o", strerror(-error));
    } else {
        say(free_mib >= 1024 ? GOOD : LIMITED, "folder", "writable, %llu MiB free", free_mib);
    }
}

int gmt_launcher_doctor(void)
{
    gmt_clock_init();
    check_driver();
    check_cupti();
    check_counter_permission();
    check_parts();
    check_software_device();
    check_folder();
    say(GOOD, "clock", "%s",
        gmt_clock_uses_tsc ? "invariant TSC"
                           : "clock_gettime (no invariant TSC): about 40 ns "
                             "more per recorded call");
    return worst == BAD ? 1 : 0;
}
