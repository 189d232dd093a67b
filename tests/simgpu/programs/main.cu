/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_programs [--software] NAME...|all|list: runs programs and says of each "NAME ok" or what
 * differs. With --software nothing runs unless the device is the software device.
 */
#include "program.cuh"

#include <cstdarg>
#include <cstdio>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#define DIFFERENCES_SHOWN 5

extern char **environ;

struct program {
    const char *name;
    const char *doc;
    void (*run)(sim_check &check);
    bool isolated; /* leaves the device unusable on a GPU: `all` gives it a process of its own */
};

static const program programs[] = {
#define SIM_PROGRAM(name, isolated, doc) {#name, doc, sim_program_##name, isolated},
#include "programs.def"
#undef SIM_PROGRAM
};

void sim_differ(sim_check &check, const char *format, ...)
{
    va_list arguments;

    if (check.wrong++ >= DIFFERENCES_SHOWN)
        return;
    fprintf(stderr, "%s: ", check.program);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

bool sim_succeeded(sim_check &check, cudaError_t status, const char *call, const char *file,
                   int line)
{
    const char *slash = strrchr(file, '/');

    if (status == cudaSuccess)
        return true;
    sim_differ(check, "%s:%d: %s: %s (%s)", slash != nullptr ? slash + 1 : file, line, call,
               cudaGetErrorName(status), cudaGetErrorString(status));
    return false;
}

bool sim_refused(sim_check &check, cudaError_t status, cudaError_t wanted, const char *call,
                 int line)
{
    check.compared++;
    if (status == wanted)
        return true;
    sim_differ(check, "line %d: %s gives %s, not %s", line, call, cudaGetErrorName(status),
               cudaGetErrorName(wanted));
    return false;
}

bool sim_software_device()
{
    cudaDeviceProp properties;

    return cudaGetDeviceProperties(&properties, 0) == cudaSuccess &&
           strstr(properties.name, "software device") != nullptr;
}

static int run_here(const program &program)
{
    sim_check check = {program.name, 0, 0};

    program.run(check);
    if (!program.isolated) {
        SIM_CALL(check, cudaDeviceSynchronize());
        SIM_CALL(check, cudaGetLastError());
    }
    if (check.compared == 0)
        sim_differ(check, "nothing was compared");
    if (check.wrong > 0) {
        printf("%s FAILED: %lu of %lu wrong\n", program.name, check.wrong, check.compared);
        return 1;
    }
    printf("%s ok\n", program.name);
    fflush(stdout);
    return 0;
}

/* In a new process of this program; it prints its own line. */
static int run_apart(const program &program)
{
    char *arguments[] = {(char *)"sim_programs", (char *)program.name, nullptr};
    pid_t child;
    int status = -1;

    fflush(stdout);
    if (posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments, environ) != 0 ||
        waitpid(child, &status, 0) != child) {
        printf("%s FAILED: cannot start a process\n", program.name);
        return 1;
    }
    if (!WIFEXITED(status))
        printf("%s FAILED: ended by signal %d\n", program.name, WTERMSIG(status));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}

static int run_all()
{
    int failed = 0, count = 0;

    for (const program &program : programs) {
        failed += program.isolated ? run_apart(program) : run_here(program);
        count++;
    }
    printf("%d of %d programs ok\n", count - failed, count);
    return failed != 0;
}

static int list()
{
    for (const program &program : programs)
        printf("%-20s %s\n", program.name, program.doc);
    return 0;
}

int main(int argc, char **argv)
{
    int failed = 0;

    if (argc < 2) {
        fputs("usage: sim_programs [--software] NAME...|all|list\n", stderr);
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        bool found = false;

        if (strcmp(argv[i], "list") == 0)
            return list();
        if (strcmp(argv[i], "--software") == 0) {
            if (sim_software_device())
                continue;
            fputs("sim_programs: this is not the software device\n", stderr);
            return 1;
        }
        if (strcmp(argv[i], "all") == 0) {
            failed += run_all();
            continue;
        }
        for (const program &program : programs) {
            if (strcmp(argv[i], program.name) != 0)
                continue;
            found = true;
            failed += run_here(program);
        }
        if (!found) {
            fprintf(stderr, "sim_programs: no program '%s' (see list)\n", argv[i]);
            return 2;
        }
    }
    return failed != 0;
}
