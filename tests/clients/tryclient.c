/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tryclient MODE [STATUS]: a program with pageable copies, for `gmtrace try` and `gmtrace apply`. What it does besides is its MODE:
 *
 *   copies    nothing                     small    its copies are too small for a fix
 *   random    its results vary            noisy    its standard output varies
 *   differs   its results are others when a fix is on
 *   hangs     it does not end when a fix is on, and ignores SIGTERM
 *   managed   it has managed memory       locked   it copies into page-locked memory, and waits for the stream
 *   event     ... and waits for an event  killed   it is ended by SIGKILL
 *   nothing   it makes no CUDA call       forks    a child does it first
 *   mapped    its results are in mapped page-locked memory alone; behind a comma: `silent` without printing what varies
 *   clash     it prints another result where two fixes are on, and takes a second where gmtrace is not there
 *   turns     two threads copy, one after the other, and which one is first changes with each run (a file `turn` remembers it);
 *             behind a comma: `differs` the result of one of them is another when a fix is on, `ranks` they are processes,
 *             `shared` what each of them copies changes, too
 *   many      66 processes copy, the last of which other bytes each time
 *   boxes     it copies rows and boxes to the host; behind a comma: `differs` one byte of the last row of one, when a fix is on
 *   crowd     eight threads copy into page-locked memory at the same time, and wait for their streams
 *   pins      it page-locks memory again and again
 *   protects  ... and protects it before it frees it
 *   barrier   its memory is protected, and a handler of SIGSEGV that needs a large stack lets accesses pass
 *   kernel    it launches kernels, one with shared memory and one without
 *   rows      it copies rows              pieces   it copies small pieces that follow each other
 *             to the device, one by one; behind a comma: `async` in another stream without a wait, `own` with a stream for each
 *             thread, `threads` two at once, `capture` beside a capture,
 *             `shared` after memory was shared, `contexts` with a second context, `child` in a child, too, `locked` from page-locked memory, `combined` from such that
 *             is write-combined
 *   gone      memory that a copy goes to is gone with its context before anybody waits, managed memory is copied to, streams end
 */
#include <cuda.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/clients/tryclient.h"

#define BYTES ((size_t)4 << 20)

static const char *mode;
static const char *how; /* behind the comma, or "" */

void ok(CUresult result, const char *call)
{
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "%s: error %d\n", call, (int)result);
        exit(99);
    }
}

static bool is(const char *name)
{
    return strcmp(mode, name) == 0;
}

bool does(const char *word)
{
    return strcmp(how, word) == 0;
}

/* How many fixes of the plan that the library reads are on? */
static unsigned count_fixes(void)
{
    const char *path = getenv("GMTRACE_APPLY");
    char line[1024];
    unsigned count = 0;
    FILE *file = path != NULL ? fopen(path, "r") : NULL;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        count += strncmp(line, "fix ", 4) == 0 &&
                 (strstr(line, " trying") != NULL || strstr(line, " proven") != NULL);
    }
    if (file != NULL) {
        fclose(file);
    }
    return count;
}

bool sees_fix(void)
{
    return count_fixes() != 0;
}

uint64_t sum_of(const uint8_t *bytes, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum = sum * 31 + bytes[i];
    }
    return sum;
}

_Thread_local unsigned part;

void copy(unsigned turn)
{
    size_t bytes = is("small") || is("many") ? 4096 : BYTES;
    uint8_t *up = malloc(bytes), *down = calloc(1, bytes);
    CUdeviceptr memory;
    memset(up, (int)(turn + 16 * part) + (is("random") ? (int)getpid() : 0), bytes);
    bool is_wrong = is("differs") || (does("differs") && part == 1);
    up[bytes - 1] = is_wrong && turn == 2 && sees_fix() ? 1 : 2;
    OK(cuMemAlloc(&memory, bytes));
    OK(cuMemcpyHtoD(memory, up, bytes));
    memset(up, 0, bytes);
    if (!is("mapped")) {
        OK(cuMemcpyDtoH(down, memory, bytes));
    }
    if (!is("random") && !is("mapped") && !is("turns") && !is("many")) {
        printf("%016llx\n", (unsigned long long)sum_of(down, bytes));
    }
    OK(cuMemFree(memory));
    free(up);
    free(down);
}

CUcontext primary;

void retain(void)
{
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&primary, 0));
    OK(cuCtxSetCurrent(primary));
}

/* ---- page-locked memory ------------------------------------------------------------------------- */

static void copy_locked(void)
{
    void *host;
    CUdeviceptr memory;
    CUstream stream;
    CUevent event;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuMemHostAlloc(&host, 4 * BYTES, 0));
    OK(cuMemAlloc(&memory, 4 * BYTES));
    OK(cuMemsetD8Async(memory, 5, 4 * BYTES, stream));
    OK(cuMemcpyDtoHAsync(host, memory, 4 * BYTES, stream));
    OK(cuEventRecord(event, stream));
    OK(is("locked") ? cuStreamSynchronize(stream) : cuEventSynchronize(event));
    OK(cuMemFreeHost(host));
}

/* A result that reaches the host without a copy. */
static void write_mapped(void)
{
    uint8_t *host;
    CUdeviceptr memory;
    OK(cuMemHostAlloc((void **)&host, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    OK(cuMemHostGetDevicePointer(&memory, host, 0));
    OK(cuMemsetD8(memory, sees_fix() ? 6 : 5, 64));
    OK(cuCtxSynchronize());
    if (strcmp(how, "silent") != 0) {
        printf("%d of %ld\n", host[0], (long)getpid());
    }
}

/* ---- rows and pieces ---------------------------------------------------------------------------- */

#define ROWS 64
#define ROW_BYTES ((size_t)40)

static CUstream upload_stream;

static void upload(CUdeviceptr to, const uint8_t *from)
{
    if (does("async")) {
        OK(cuMemcpyHtoDAsync(to, from, ROW_BYTES, upload_stream));
    } else if (does("own")) {
        OK(cuMemcpyHtoDAsync(to, from, ROW_BYTES, CU_STREAM_PER_THREAD));
    } else {
        OK(cuMemcpyHtoD(to, from, ROW_BYTES));
    }
}

/* Rows that lie apart on the device, or pieces that follow each other. */
static void *upload_rows(void *context)
{
    size_t step = is("rows") ? ROW_BYTES + 24 : ROW_BYTES;
    uint8_t plain[ROWS * ROW_BYTES], down[ROWS * (ROW_BYTES + 24)], *up = plain;
    CUdeviceptr memory;
    OK(cuCtxSetCurrent(context));
    OK(cuMemAlloc(&memory, ROWS * step));
    OK(cuMemsetD8(memory, 0, ROWS * step));
    if (does("async")) { /* its stream waits for nobody */
        OK(cuCtxSynchronize());
    }
    if (does("locked") || does("combined")) {
        OK(cuMemHostAlloc((void **)&up, sizeof plain,
                          does("combined") ? CU_MEMHOSTALLOC_WRITECOMBINED : 0));
    }
    for (size_t i = 0; i < ROWS; i++) {
        memset(up + i * ROW_BYTES, (int)i + 1, ROW_BYTES);
        upload(memory + i * step, up + i * ROW_BYTES);
    }
    memset(up, 0, sizeof plain);
    if (does("async")) {
        OK(cuStreamSynchronize(upload_stream));
    }
    OK(cuMemcpyDtoH(down, memory, ROWS * step));
    printf("%016llx\n", (unsigned long long)sum_of(down, ROWS * step));
    OK(cuMemFree(memory));
    return NULL;
}

static void prepare(CUcontext context)
{
    CUipcMemHandle handle;
    CUdeviceptr memory;
    CUcontext second;
    OK(cuStreamCreate(&upload_stream, CU_STREAM_NON_BLOCKING));
    if (does("capture")) {
        OK(cuStreamBeginCapture(upload_stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    } else if (does("shared")) {
        OK(cuMemAlloc(&memory, 64));
        (void)cuIpcGetMemHandle(&handle,
                                memory); /* the software device has none for so small a block */
    } else if (does("contexts")) {
#if CUDA_VERSION >= 13000
        OK(cuCtxCreate(&second, NULL, 0, 0));
#else
        OK(cuCtxCreate(&second, 0, 0));
#endif
        OK(cuCtxSetCurrent(context));
    } else if (does("child") && fork() == 0) {
        _exit(0);
    }
}

static void gather(CUcontext context)
{
    pthread_t other;
    bool two = does("threads") && pthread_create(&other, NULL, upload_rows, context) == 0;
    prepare(context);
    (void)upload_rows(context);
    if (two) {
        (void)pthread_join(other, NULL);
    }
}

/* ---- others ------------------------------------------------------------------------------------- */

/* The same size and flags, other ones, and by the other function. */
static void pin(void)
{
    void *host;
    for (unsigned turn = 0; turn < 6; turn++) {
        OK(turn < 5 ? cuMemHostAlloc(&host, BYTES, turn == 4 ? CU_MEMHOSTALLOC_PORTABLE : 0)
                    : cuMemAllocHost(&host, BYTES));
        memset(host, 1, BYTES);
        OK(cuMemFreeHost(host));
    }
}

static void pin_and_protect(void)
{
    void *host;
    for (unsigned turn = 0; turn < 3; turn++) {
        OK(cuMemAllocHost(&host, BYTES));
        memset(host, 1, BYTES);
        if (mprotect((uint8_t *)host + BYTES / 2, 4096, PROT_READ) != 0) {
            perror("mprotect");
        }
        OK(cuMemFreeHost(host));
    }
}

static uint8_t *guarded;
static volatile sig_atomic_t passed;

static void let_pass(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    volatile uint8_t large[400000];
    uint8_t *page = (uint8_t *)((uintptr_t)info->si_addr & ~(uintptr_t)4095);
    large[0] = large[sizeof large - 1] = 1;
    if (page < guarded || page >= guarded + BYTES ||
        mprotect(page, 4096, PROT_READ | PROT_WRITE) != 0) {
        _exit(98);
    }
    passed = 1;
}

/* Dirty pages are noted as collectors of garbage do it; read ones, too. */
static void guard(void)
{
    const struct sigaction action = {.sa_sigaction = let_pass, .sa_flags = SA_SIGINFO};
    CUdeviceptr memory;
    OK(cuMemAlloc(&memory, BYTES));
    guarded = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(guarded, 7, BYTES);
    sigaction(SIGSEGV, &action, NULL);
    for (int turn = 0; turn < 4; turn++) {
        mprotect(guarded + 4096, BYTES - 8192, turn % 2 == 0 ? PROT_NONE : PROT_READ);
        passed = 0;
        OK(turn % 2 == 0 ? cuMemcpyHtoD(memory, guarded, BYTES)
                         : cuMemcpyDtoH(guarded, memory, BYTES));
        printf("%d %016llx\n", (int)passed, (unsigned long long)sum_of(guarded, BYTES));
    }
    signal(SIGSEGV, SIG_DFL);
}

/* Nothing of this may be read later. */
static void lose(void)
{
    CUcontext context, before;
    void *host;
    CUdeviceptr memory, managed;
    CUstream stream;
    OK(cuCtxGetCurrent(&before));
#if CUDA_VERSION >= 13000
    OK(cuCtxCreate(&context, NULL, 0, 0));
#else
    OK(cuCtxCreate(&context, 0, 0));
#endif
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&memory, BYTES));
    OK(cuMemsetD8(memory, 6, BYTES));
    OK(cuMemHostAlloc(&host, BYTES, 0));
    OK(cuMemAllocManaged(&managed, BYTES, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemcpyDtoHAsync((void *)(uintptr_t)managed, memory, BYTES, NULL));
    OK(cuMemFree(managed));
    OK(cuMemcpyDtoHAsync(host, memory, BYTES, stream));
    OK(cuStreamDestroy(stream));
    OK(cuMemcpyDtoHAsync(host, memory, BYTES, NULL));
    OK(cuCtxDestroy(context));
    OK(cuCtxSetCurrent(before));
    OK(cuStreamSynchronize(NULL));
    OK(cuCtxSynchronize());
}

static void launch(void)
{
    static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                              ".visible .entry plain()\n{\n ret;\n}\n"
                              ".visible .entry shares()\n{\n .shared .align 4 .b8 tile[1024];\n"
                              " .reg .b32 %r<2>;\n mov.u32 %r1, 1;\n st.shared.u32 [tile], %r1;\n"
                              " ret;\n}\n";
    CUmodule module;
    OK(cuModuleLoadData(&module, ptx));
    for (int i = 0; i < 3; i++) {
        CUfunction kernel;
        OK(cuModuleGetFunction(&kernel, module, i % 2 == 0 ? "plain" : "shares"));
        OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    }
    OK(cuCtxSynchronize());
}

int main(int argc, char **argv)
{
    CUcontext context;
    CUdeviceptr managed;
    char *comma = argc > 1 ? strchr(argv[1], ',') : NULL;
    mode = argc > 1 ? argv[1] : "copies";
    how = comma != NULL ? comma + 1 : "";
    if (comma != NULL) {
        *comma = '\0';
    }
    int status = argc > 2 ? atoi(argv[2]) : 0;
    if (is("nothing")) {
        return status;
    }
    if (is("forks")) {
        pid_t child = fork();
        int ended = 0;
        if (child != 0 && (waitpid(child, &ended, 0) != child || ended != 0)) {
            return 98;
        }
        status = child == 0 ? 0 : status;
    }
    if (is("turns")) {
        take_turns();
        return status;
    }
    if (is("many")) {
        copy_in_many();
        return status;
    }
    if (is("crowd")) {
        crowd();
    }
    retain();
    context = primary;
    if (is("rows") || is("pieces")) {
        gather(context);
    }
    for (unsigned turn = 0; turn < 4 && !is("rows") && !is("pieces"); turn++) {
        copy(turn);
    }
    if (is("noisy")) {
        printf("%ld\n", (long)getpid());
    }
    if (is("clash")) {
        puts(count_fixes() > 1 ? "WRONG" : "right");
        (void)usleep(getenv("GMTRACE_APPLY") == NULL ? 1000000 : 0);
    }
    if (is("mapped")) {
        write_mapped();
    }
    if (is("boxes")) {
        copy_boxes();
    }
    if (is("kernel")) {
        launch();
    }
    if (is("pins")) {
        pin();
    }
    if (is("protects")) {
        pin_and_protect();
    }
    if (is("barrier")) {
        guard();
    }
    if (is("gone")) {
        lose();
    }
    if (is("managed")) {
        OK(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
    }
    if (is("locked") || is("event")) {
        copy_locked();
    }
    if (is("hangs") && sees_fix()) {
        signal(SIGTERM, SIG_IGN);
        for (;;) {
            pause();
        }
    }
    fflush(stdout);
    if (is("killed")) {
        (void)raise(SIGKILL);
    }
    return status;
}
