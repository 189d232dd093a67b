/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nvcc's stubs register when a program or a library of it is loaded: fat binaries, kernels and
 * variables. Nothing is handed to the driver here: programs that never use CUDA pay nothing.
 */
#include "simgpu/cancel.h"
#include "simgpu/runtime/runtime.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sim_binary *binaries;

/* Symbols in the order of registration, and a hash table of their numbers plus 1, 0 = free. */
static struct sim_symbol *symbols;
static size_t symbol_count, symbol_capacity;
static uint32_t *slots;
static size_t slot_count; /* a power of two, at least twice symbol_capacity */

void sim_symbols_lock(void)
{
    pthread_mutex_lock(&lock);
}

void sim_symbols_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

/* A child forked while another thread loads kernels must find the lock free. */
__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(sim_symbols_lock, sim_symbols_unlock, sim_symbols_unlock);
}

static size_t slot_of(const void *host)
{
    return (size_t)(((uintptr_t)host * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (slot_count - 1);
}

/* Several binaries may register one address (a template's kernel): the first of them is found. */
static void place(size_t index)
{
    size_t at = slot_of(symbols[index].host);
    while (slots[at] != 0) {
        at = (at + 1) & (slot_count - 1);
    }
    slots[at] = (uint32_t)(index + 1);
}

static void place_all(void)
{
    for (size_t i = 0; i < slot_count; i++) {
        slots[i] = 0;
    }
    for (size_t i = 0; i < symbol_count; i++) {
        place(i);
    }
}

static bool reserve(void)
{
    if (symbol_count < symbol_capacity) {
        return true;
    }
    size_t capacity = symbol_capacity != 0 ? symbol_capacity * 2 : 64;
    struct sim_symbol *more = realloc(symbols, capacity * sizeof *more);
    if (more == NULL) {
        return false;
    }
    symbols = more;
    uint32_t *table = calloc(capacity * 2, sizeof *table);
    if (table == NULL) {
        return false;
    }
    free(slots);
    slots = table;
    slot_count = capacity * 2;
    symbol_capacity = capacity;
    place_all();
    return true;
}

struct sim_symbol *sim_symbol_at(size_t index)
{
    return index < symbol_count ? &symbols[index] : NULL;
}

/* Host code names a managed variable by its address, which it keeps in a pointer of its own. */
static struct sim_symbol *find_managed(const void *address)
{
    for (size_t i = 0; i < symbol_count; i++) {
        const void *const *pointer = symbols[i].host;
        if (symbols[i].kind == SIM_MANAGED_SYMBOL && *pointer == address) {
            return &symbols[i];
        }
    }
    return NULL;
}

struct sim_symbol *sim_symbol_find(const void *host)
{
    if (host == NULL || slot_count == 0) {
        return NULL;
    }
    for (size_t at = slot_of(host); slots[at] != 0; at = (at + 1) & (slot_count - 1)) {
        if (symbols[slots[at] - 1].host == host) {
            return &symbols[slots[at] - 1];
        }
    }
    return find_managed(host);
}

static void add(void **handle, struct sim_symbol symbol)
{
    symbol.binary = (struct sim_binary *)handle;
    if (handle == NULL || symbol.host == NULL || symbol.name == NULL) {
        return;
    }
    SIM_UNCANCELLABLE;
    sim_symbols_lock();
    if (reserve()) {
        symbols[symbol_count] = symbol;
        place(symbol_count++);
    } else {
        fprintf(stderr, "gmtrace software device: no memory to register %s\n", symbol.name);
    }
    sim_symbols_unlock();
}

static void forget(const struct sim_binary *binary)
{
    size_t kept = 0;
    for (size_t i = 0; i < symbol_count; i++) {
        if (symbols[i].binary != binary) {
            symbols[kept++] = symbols[i];
        }
    }
    symbol_count = kept;
    place_all();
}

/* ---- what the stubs call -------------------------------------------------------------------- */

SIM_EXPORT void **__cudaRegisterFatBinary(void *fatCubin)
{
    SIM_UNCANCELLABLE;
    struct sim_binary *binary = calloc(1, sizeof *binary);
    if (binary == NULL) {
        fprintf(stderr, "gmtrace software device: no memory to register the program's kernels\n");
        return NULL;
    }
    binary->image = fatCubin;
    sim_symbols_lock();
    binary->next = binaries;
    binaries = binary;
    sim_symbols_unlock();
    return (void **)binary;
}

SIM_EXPORT void __cudaRegisterFatBinaryEnd(void **fatCubinHandle)
{
    (void)fatCubinHandle;
}

/* At the end of the process, or when a library of the program is closed. */
SIM_EXPORT void __cudaUnregisterFatBinary(void **fatCubinHandle)
{
    SIM_UNCANCELLABLE;
    struct sim_binary *binary = (struct sim_binary *)fatCubinHandle;
    sim_symbols_lock();
    struct sim_binary **link = &binaries;
    while (*link != NULL && *link != binary) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        *link = binary->next;
        forget(binary);
        sim_binary_unload(binary);
        free(binary);
    }
    sim_symbols_unlock();
}

SIM_EXPORT void __cudaRegisterFunction(void **fatCubinHandle, const char *hostFun, char *deviceFun,
                                       const char *deviceName, int thread_limit, uint3 *tid,
                                       uint3 *bid, dim3 *bDim, dim3 *gDim, int *wSize)
{
    (void)deviceFun, (void)thread_limit, (void)tid, (void)bid, (void)bDim, (void)gDim, (void)wSize;
    add(fatCubinHandle,
        (struct sim_symbol){.host = hostFun, .kind = SIM_KERNEL_SYMBOL, .name = deviceName});
}

SIM_EXPORT void __cudaRegisterVar(void **fatCubinHandle, char *hostVar, char *deviceAddress,
                                  const char *deviceName, int ext, size_t size, int constant,
                                  int global)
{
    (void)deviceAddress, (void)ext, (void)constant, (void)global;
    add(fatCubinHandle,
        (struct sim_symbol){
            .host = hostVar, .kind = SIM_VARIABLE_SYMBOL, .name = deviceName, .bytes = size});
}

SIM_EXPORT void __cudaRegisterManagedVar(void **fatCubinHandle, void **hostVarPtrAddress,
                                         char *deviceAddress, const char *deviceName, int ext,
                                         size_t size, int constant, int global)
{
    (void)deviceAddress, (void)ext, (void)constant, (void)global;
    add(fatCubinHandle, (struct sim_symbol){.host = hostVarPtrAddress,
                                            .kind = SIM_MANAGED_SYMBOL,
                                            .name = deviceName,
                                            .bytes = size});
}

/* Called before host code first touches a managed variable: its pointer must be set afterwards. */
SIM_EXPORT char __cudaInitModule(void **fatCubinHandle)
{
    SIM_UNCANCELLABLE;
    struct sim_binary *binary = (struct sim_binary *)fatCubinHandle;
    cudaError_t error = sim_enter(SIM_NEED_CONTEXT, false);
    bool ready = false;
    if (binary != NULL) {
        sim_symbols_lock();
        if (error == cudaSuccess) {
            sim_binary_load(binary);
            error = binary->library_count == 0 ? binary->error : cudaSuccess;
        }
        ready = binary->library_count != 0; /* loaded, though the device may have faulted since */
        sim_symbols_unlock();
    }
    if (!ready) { /* the program is about to follow a NULL pointer */
        fprintf(stderr, "gmtrace software device: managed variables cannot be set up: %s\n",
                cudaGetErrorString(error));
    }
    (void)sim_leave(error);
    return ready;
}
