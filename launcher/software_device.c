/* SPDX-License-Identifier: Apache-2.0 */
/* `gmtrace --device sim`: can the program run on the software device, and does it find it? */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/launcher.h"
#include "launcher/program.h"
#include "launcher/rebuild.h"
#include "libtrace/base/printable.h"

#define FOLDER "../libexec/gmtrace/simgpu"
#define RUNTIME "libcudart.so.13"

bool gmt_launcher_wants_software_device(void)
{
    const char *device = getenv("GMTRACE_DEVICE");
    return device != NULL && strcmp(device, "sim") == 0;
}

int gmt_launcher_software_device(char *folder, size_t bytes)
{
    char driver[PATH_MAX];
    return gmt_launcher_part(FOLDER "/libcuda.so.1", driver, sizeof(driver)) == 0
               ? gmt_launcher_part(FOLDER, folder, bytes)
               : -ENOENT;
}

/* what: stands in its way, and a build with other options remedies it. */
static const char *say_rebuild(const struct gmt_program *program, const char *what, char *text,
                               size_t bytes)
{
    char command[PATH_MAX];
    bool builds = gmt_rebuild_command(program, command, sizeof(command));
    (void)snprintf(text, bytes, "%s: %s: %s", what,
                   builds ? "build it for the software device by" : "build it as before, after",
                   command);
    return text;
}

const char *gmt_launcher_software_device_obstacle(const struct gmt_program *program, char *text,
                                                  size_t bytes)
{
    const struct gmt_program_cuda *cuda = &program->cuda;
    if (cuda->static_runtime) {
        return say_rebuild(program, "static CUDA runtime", text, bytes);
    }
    if (cuda->has_code && cuda->ptx_target == 0) {
        return say_rebuild(program, "no PTX", text, bytes);
    }
    if (cuda->ptx_target > GMT_SOFTWARE_DEVICE_CAPABILITY) {
        char what[40];
        (void)snprintf(what, sizeof(what), "PTX for compute_%u only", cuda->ptx_target);
        return say_rebuild(program, what, text, bytes);
    }
    if (cuda->runtime[0] != '\0' && strcmp(cuda->runtime, RUNTIME) != 0) {
        (void)snprintf(text, bytes,
                       "needs %s, the software device has " RUNTIME ": rebuild with CUDA 13",
                       cuda->runtime);
        return text;
    }
    return NULL;
}

/* Time is of no account there, so that every byte is looked at, unless the user says otherwise. */
static int hash_everything(void)
{
    const char *mode = getenv("GMTRACE_FINGERPRINTS"), *collect = getenv("GMTRACE_COLLECT");
    bool is_auto = mode == NULL || mode[0] == '\0' || strcmp(mode, "auto") == 0;
    const char *budget = getenv("GMTRACE_FINGERPRINT_BUDGET");
    if (is_auto && (collect == NULL || strcmp(collect, "light") != 0) &&
        setenv("GMTRACE_FINGERPRINTS", "whole", 1) != 0) {
        return -errno;
    }
    return (budget == NULL || budget[0] == '\0') &&
                   setenv("GMTRACE_FINGERPRINT_BUDGET", "100", 1) != 0
               ? -errno
               : 0;
}

int gmt_launcher_use_software_device(const char *name, const struct gmt_program *program,
                                     char *preload, size_t bytes)
{
    char folder[PATH_MAX], text[PATH_MAX + 160];
    if (gmt_launcher_software_device(folder, sizeof(folder)) != 0) {
        gmt_say(stderr, "gmtrace: the software device is missing: it belongs in " FOLDER
                        " beside gmtrace; install again\n");
        return -ENOENT;
    }
    const char *why = gmt_launcher_software_device_obstacle(program, text, sizeof(text));
    if (why != NULL) {
        gmt_say(stderr, "gmtrace: %s: %s\n", name, why);
        return -ENOEXEC;
    }
    int error = hash_everything();
    if (error != 0) {
        return error;
    }
    /* What is loaded already under a name is not searched for, wherever DT_RPATH leads. */
    if (program->cuda.finds_other) {
        if (!gmt_launcher_can_preload(folder)) {
            gmt_say(
                stderr,
                "gmtrace: %s: its DT_RPATH leads to another CUDA runtime, and LD_PRELOAD cannot "
                "name that of the software device: move gmtrace to a folder without spaces\n",
                name);
            return -EINVAL;
        }
        (void)snprintf(preload, bytes, "%s/libcuda.so.1:%s/" RUNTIME, folder, folder);
    }
    return gmt_launcher_search_first(folder);
}
