/* SPDX-License-Identifier: Apache-2.0 */
/* Who else may hold the counters: DCGM, and profilers that run or that would be loaded. */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/doctor.h"

struct other {
    const char *comm; /* as /proc/PID/comm has it: 15 characters at most */
    bool dcgm;
};

static const struct other others[] = {
    {"nv-hostengine", true},
    {"dcgm-exporter", true},
    {"nsys", false},
    {"nsys-launcher", false},
    {"ncu", false},
    {"nv-nsight-cu-cl", false},
    {"nvprof", false},
    {"compute-saniti", false},
    {"compute-sanitiz", false},
    {"cuda-gdb", false},
};

/* Appends "nsys (12)", once per process. */
static void note(char *text, size_t bytes, const char *comm, const char *pid)
{
    size_t used = strlen(text);
    (void)snprintf(text + used, bytes - used, "%s%s (%s)", used != 0 ? ", " : "", comm, pid);
}

/* Running processes of either kind, as text; "" is none that can be seen. */
static void look_at_processes(char *dcgm, char *profilers, size_t bytes)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        char path[300], comm[32] = "";
        if (!isdigit((unsigned char)entry->d_name[0])) {
            continue;
        }
        (void)snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
        FILE *file = fopen(path, "re");
        if (file == NULL) {
            continue; /* it has ended meanwhile */
        }
        if (fgets(comm, sizeof(comm), file) != NULL) {
            comm[strcspn(comm, "\n")] = '\0';
        }
        (void)fclose(file);
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
            if (strcmp(comm, others[i].comm) == 0) {
                note(others[i].dcgm ? dcgm : profilers, bytes, comm, entry->d_name);
            }
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
}

/* Libraries that CUDA or the loader would put into every program beside ours. */
static void look_at_variables(char *text, size_t bytes)
{
    static const char *const names[] = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH",
                                        "LD_PRELOAD", "COMPUTE_PROFILE"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);
        size_t used = strlen(text);
        if (value != NULL && value[0] != '\0' && strstr(value, "libgmtrace.so") == NULL) {
            (void)snprintf(text + used, bytes - used, "%s%s=%s", used != 0 ? ", " : "", names[i],
                           value);
        }
    }
}

void gmt_doctor_others(void)
{
    char dcgm[512] = "", profilers[512] = "", variables[1024] = "";
    look_at_processes(dcgm, profilers, sizeof(dcgm));
    look_at_variables(variables, sizeof(variables));
    if (dcgm[0] != '\0') {
        gmt_doctor_say(GMT_DOCTOR_LIMITED, "dcgm",
                       "dcgmi profile --pause while recording, then dcgmi profile --resume",
                       "%s runs: while it collects profiling metrics it holds the counters", dcgm);
    } else {
        gmt_doctor_say(GMT_DOCTOR_GOOD, "dcgm", NULL, "no process of it found");
    }
    if (profilers[0] != '\0' || variables[0] != '\0') {
        gmt_doctor_say(GMT_DOCTOR_LIMITED, "profilers",
                       "end them, or unset the variables: CUPTI serves one profiler at a time",
                       "%s%s%s", profilers,
                       profilers[0] != '\0' && variables[0] != '\0' ? "; " : "", variables);
    } else {
        gmt_doctor_say(GMT_DOCTOR_GOOD, "profilers", NULL, "no other profiler found");
    }
}
