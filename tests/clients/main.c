/* SPDX-License-Identifier: Apache-2.0 */
/* driverclient [--via proc|per-thread|dlsym] SCENARIO [N]: a driver-API program to be traced in tests. */
#define _GNU_SOURCE
#include "client.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *client_program;

static const struct {
    const char *name;
    int (*run)(long n);
    const char *help;
} scenarios[] = {
#define SCENARIO(name, function, help) {#name, function, help},
#include CLIENT_SCENARIOS
#undef SCENARIO
};

static const char *const via_names[] = {
    [VIA_PROC] = "proc", [VIA_PER_THREAD] = "per-thread", [VIA_DLSYM] = "dlsym"};

static int usage(void)
{
    fputs("usage: driverclient [--via proc|per-thread|dlsym] SCENARIO [N]\n", stderr);
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        fprintf(stderr, "  %-12s %s\n", scenarios[i].name, scenarios[i].help);
    }
    return 2;
}

void client_check(CUresult result, const char *call)
{
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "driverclient: %s: error %d\n", call, (int)result);
        exit(3);
    }
}

/* CLIENT_HOLD: a FIFO; the program goes on when somebody has opened it to write. */
static void hold(void)
{
    const char *fifo = getenv("CLIENT_HOLD");
    if (fifo != NULL) {
        int fd = open(fifo, O_RDONLY | O_CLOEXEC);
        (void)close(fd);
    }
}

CUcontext client_start(void)
{
    CUdevice device;
    CUcontext context;
    CHECK(cu.cuInit(0));
    CHECK(cu.cuDeviceGet(&device, 0));
    CHECK(cu.cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cu.cuCtxSetCurrent(context));
    hold();
    return context;
}

void client_fill(void *bytes, size_t count, unsigned seed)
{
    unsigned char *out = bytes;
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        out[i] = (unsigned char)(seed >> 24);
    }
}

unsigned client_checksum(const void *bytes, size_t count)
{
    const unsigned char *in = bytes;
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ in[i]) * 16777619u;
    }
    return hash;
}

int client_run(int argc, char **argv)
{
    enum client_via via = VIA_PROC;
    int at = 1;
    client_program = argv[0];
    if (argc > 2 && strcmp(argv[1], "--via") == 0) {
        for (via = VIA_PROC; via != VIA_LINKED && strcmp(argv[2], via_names[via]) != 0;) {
            via++;
        }
        at = 3;
    }
    for (size_t i = 0; at < argc && i < sizeof scenarios / sizeof scenarios[0]; i++) {
        if (strcmp(scenarios[i].name, argv[at]) == 0) {
            if (scenarios[i].run != scenario_nothing) {
                client_load(via);
            }
            return scenarios[i].run(at + 1 < argc ? strtol(argv[at + 1], NULL, 10) : 0);
        }
    }
    return usage();
}

#ifndef CLIENT_PLUGIN
int main(int argc, char **argv)
{
    return client_run(argc, argv);
}
#endif
