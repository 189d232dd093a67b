/* SPDX-License-Identifier: Apache-2.0 */
/* A program, before it is run: can it be recorded, and where does its CUDA runtime come from? */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "launcher/doctor.h"
#include "launcher/launcher.h"
#include "launcher/program.h"
#include "launcher/rebuild.h"

/* The loader ignores LD_PRELOAD for programs that gain rights; NULL: it gains none. */
static const char *gains_rights(const char *path)
{
    struct stat status;
    char capability[64];
    if (geteuid() != 0 && stat(path, &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID)) != 0) {
        return "it is set-user-ID or set-group-ID";
    }
    if (geteuid() != 0 &&
        getxattr(path, "security.capability", capability, sizeof(capability)) > 0) {
        return "its file has capabilities";
    }
    return NULL;
}

/* What says how far the software device can run it; NULL: nothing to say. */
static const char *sim_remedy(const struct gmt_program *program, char *text, size_t bytes)
{
    const struct gmt_program_cuda *cuda = &program->cuda;
    if (cuda->static_runtime || (cuda->has_code && cuda->ptx_target == 0)) {
        char command[PATH_MAX];
        bool builds = gmt_rebuild_command(program, command, sizeof(command));
        (void)snprintf(text, bytes, "for --device sim build it %s: %s",
                       builds ? "by" : "as before, after", command);
        return text;
    }
    return NULL;
}

/* After --device sim what cannot run there is said first. */
static bool is_refused(const struct gmt_program *program)
{
    char text[PATH_MAX + 256];
    const char *why = gmt_launcher_wants_software_device()
                          ? gmt_launcher_software_device_obstacle(program, text, sizeof(text))
                          : NULL;
    if (why != NULL) {
        const char *remedy = strstr(why, ": ");
        gmt_doctor_say(GMT_DOCTOR_BAD, "program", remedy != NULL ? remedy + 2 : NULL,
                       "%s cannot run on the software device: %.*s", program->path,
                       remedy != NULL ? (int)(remedy - why) : (int)strlen(why), why);
    }
    return why != NULL;
}

static void say_runtime(const struct gmt_program *program)
{
    const struct gmt_program_cuda *cuda = &program->cuda;
    char text[PATH_MAX + 64];
    const char *remedy = sim_remedy(program, text, sizeof(text));
    if (is_refused(program)) {
        return;
    }
    if (cuda->static_runtime) {
        gmt_doctor_say(GMT_DOCTOR_GOOD, "program", remedy,
                       "%s: the CUDA runtime is linked statically, and is recorded all the same",
                       program->path);
    } else if (cuda->runtime[0] != '\0') {
        gmt_doctor_say(GMT_DOCTOR_GOOD, "program", remedy, "%s: shared CUDA runtime %s",
                       program->path, cuda->runtime);
    } else {
        gmt_doctor_say(GMT_DOCTOR_GOOD, "program", remedy,
                       "%s: %s; libraries that it loads are recorded", program->path,
                       cuda->has_code ? "CUDA code without a runtime of its own"
                                      : "no CUDA code of its own");
    }
    if (program->asan[0] != '\0') {
        gmt_doctor_say(GMT_DOCTOR_LIMITED, "program",
                       "use gmtrace, or preload both, the runtime first; or set "
                       "ASAN_OPTIONS=verify_asan_link_order=0",
                       "%s needs %s, which does not start when libgmtrace.so alone is preloaded",
                       program->path, program->asan);
    }
    if (cuda->unhooked[0] != '\0') {
        gmt_doctor_say(GMT_DOCTOR_LIMITED, "program",
                       "if the program calls it, the counts in the trace are lower bounds",
                       "%s is linked with %s, of which calls are neither recorded nor counted",
                       program->path, cuda->unhooked);
    }
}

void gmt_doctor_program(const char *name)
{
    struct gmt_program program = gmt_program_look(name);
    const char *rights;
    if (program.path[0] == '\0' || access(program.path, F_OK) != 0) {
        gmt_doctor_say(GMT_DOCTOR_BAD, "program", "check its name, and PATH", "%s is not found",
                       name);
    } else if (access(program.path, X_OK) != 0) {
        gmt_doctor_say(GMT_DOCTOR_BAD, "program", "chmod +x", "%s cannot be executed",
                       program.path);
    } else if (!program.is_elf) {
        gmt_doctor_say(GMT_DOCTOR_GOOD, "program", NULL,
                       "%s is a script: what its interpreter loads is recorded", program.path);
    } else if (program.is_musl) {
        gmt_doctor_say(GMT_DOCTOR_BAD, "program", "link it with glibc",
                       "%s is linked with musl, which no driver works with: it would run untraced",
                       program.path);
    } else if (program.is_static) {
        gmt_doctor_say(
            GMT_DOCTOR_LIMITED, "program", "link it dynamically",
            "%s is linked statically, so nothing can be preloaded into it: its calls are "
            "recorded without stacks, through CUPTI, if the driver works in it",
            program.path);
    } else if ((rights = gains_rights(program.path)) != NULL) {
        gmt_doctor_say(GMT_DOCTOR_BAD, "program", "run a copy of it without, or run as root",
                       "%s: %s, so the loader ignores what is preloaded", program.path, rights);
    } else {
        say_runtime(&program);
    }
}
