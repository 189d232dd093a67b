/* SPDX-License-Identifier: Apache-2.0 */
/* repeatclient: generated programs that show whether a kernel was executed twice (usage below). */
#define _GNU_SOURCE
#include "repeat/repeat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *client_program;

void client_check(CUresult result, const char *call)
{
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "repeatclient: %s: error %d\n", call, (int)result);
        exit(3);
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
    return context;
}

/* A driver does not import its own pools; the software device has neither surfaces nor a heap of kernels'. */
static unsigned device_can(void)
{
    char name[64] = "";
    int count = 0, peers = 0;
    CHECK(cu.cuDeviceGetName(name, sizeof name, 0));
    CHECK(cu.cuDeviceGetCount(&count));
    if (count > 1) {
        CHECK(cu.cuDeviceCanAccessPeer(&peers, 0, 1));
    }
    return (peers != 0 ? CAN_PEER : 0u) |
           (strstr(name, "software") != NULL ? CAN_IMPORT : CAN_ALL_OF_PTX);
}

static void print_shape(const struct program *program)
{
    for (unsigned i = 0; i < program->block_count; i++) {
        const struct block *block = &program->blocks[i];
        printf("%s%s.%s.%s", i == 0 ? "" : "+", block->body->name, reach_names[block->reach],
               place_names[block->places[0]]);
    }
}

/* "SEED SHAPE safe|hazard:NAME LAUNCHES HASH" for each; what kernels print stands before it. */
static int generate(uint64_t first, uint64_t count)
{
    static struct program program;
    CHECK(cu.cuInit(0));
    unsigned can = device_can();
    for (uint64_t seed = first; seed < first + count; seed++) {
        program_draw(&program, seed, can);
        program_run(&program);
        printf("%llu ", (unsigned long long)seed);
        print_shape(&program);
        printf(" %s%s %u %016llx\n", program.hazard != NULL ? "hazard:" : "safe",
               program.hazard != NULL ? program.hazard->name : "", program.launches,
               (unsigned long long)program.hash);
        program_end(&program);
    }
    return fflush(stdout) == 0 ? 0 : 4;
}

static int print_ptx(uint64_t seed, unsigned module)
{
    static struct program program;
    program_draw(&program, seed, ~0u);
    program_write(&program);
    return fputs(program.ptx[module != 0].bytes, stdout) >= 0 ? 0 : 4;
}

static int usage(void)
{
    fputs("usage: repeatclient generate FIRST COUNT   run the programs of these seeds\n"
          "       repeatclient ptx SEED [MODULE]      print the PTX of one, with all hazards\n"
          "       repeatclient threads COUNT          launches and copies in many threads at once\n"
          "       repeatclient slow                   copies beside a kernel that takes seconds\n"
          "       repeatclient numbers                launches beside numbers that could be "
          "addresses\n"
          "       repeatclient waiting                a kernel that waits for what its thread does "
          "next\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    uint64_t numbers[2] = {0};
    client_program = argv[0];
    for (int i = 2; i < argc && i < 4; i++) {
        numbers[i - 2] = strtoull(argv[i], NULL, 10);
    }
    if (argc < 2) {
        return usage();
    }
    if (strcmp(argv[1], "ptx") == 0 && argc > 2) {
        return print_ptx(numbers[0], (unsigned)numbers[1]);
    }
    /* A kernel that is loaded when it is first launched may wait for the device, and that for this thread. */
    (void)setenv("CUDA_MODULE_LOADING", "EAGER", 0);
    client_load(VIA_PROC);
    if (strcmp(argv[1], "generate") == 0 && argc > 3) {
        return generate(numbers[0], numbers[1]);
    }
    if (strcmp(argv[1], "threads") == 0) {
        return repeat_threads(argc > 2 ? (long)numbers[0] : 4);
    }
    if (strcmp(argv[1], "numbers") == 0) {
        return repeat_numbers();
    }
    if (strcmp(argv[1], "waiting") == 0) {
        return repeat_waiting();
    }
    return strcmp(argv[1], "slow") == 0 ? repeat_slow() : usage();
}
