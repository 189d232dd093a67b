/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the software device's libcuda.so.1 exports beside the driver API: a symbol by which gmtrace
 * knows the device and gets the counts of launches, and one for stand-ins of CUPTI. Looked up with dlsym, never linked.
 */
#ifndef SIMGPU_SIMGPU_H
#define SIMGPU_SIMGPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simgpu/counts.h"

#define SIMGPU_INTERFACE_SYMBOL "simgpu_interface"
#define SIMGPU_INTERFACE_VERSION 5u

/* A call of the driver that is reported, once when it begins and once when it has ended. */
struct simgpu_call {
    const char *symbol; /* exported name */
    const void
        *parameters; /* a structure of them, as CUPTI's generated_cuda_meta.h has it; or NULL */
    int *result;     /* CUresult, NULL at the beginning */
    uint32_t number; /* counts up */
};
typedef void simgpu_watcher(const struct simgpu_call *call);

struct simgpu_interface {
    uint32_t version; /* SIMGPU_INTERFACE_VERSION: anything else is not to be used */
    uint32_t bytes;   /* sizeof(struct simgpu_interface) */

    /* Count launches made from now on (off at first: nothing is paid by those who do not ask). */
    void (*count)(int on);

    /*
     * Counts of the last kernel launch that the calling thread made and that ran to its end; NULL if
     * it has made none since the last call of this function (a refused launch, a capture, a fault).
     * Valid until the thread's next launch. A graph launch gives no counts: it is several kernels. Under
     * SIMGPU_ORDER the launch is waited for, a second at most.
     */
    const struct sim_counts *(*last_launch)(void);

    /* The counts of the calling thread's last launch are not asked for any more; does not wait. */
    void (*forget_launch)(void);

    /* The sites of that launch, in the order of sim_counts.sites; belongs to the module. */
    const struct sim_inst_info *(*last_sites)(size_t *count);

    /* Report all calls from now on, to one watcher (NULL: to nobody): for a stand-in of CUPTI. */
    void (*watch)(simgpu_watcher *watcher);

    /*
     * What a kernel (CUfunction or CUkernel) reaches without being given its address: calls `variable`
     * with the name of each variable in global or constant memory of the kernel's module, managed ones too; names
     * are the module's. Returns 0; -EPERM: the kernel, or a function that it can call, prints, asserts,
     * allocates or frees memory, or launches kernels; -ENOENT: no kernel, or one that calls a function
     * which has no body and is none of these. After an error `variable` has not been called. Any thread.
     */
    int (*code_reach)(void *function, void (*variable)(void *data, const char *name), void *data);

    /* Has any module been loaded so far that declares malloc? Any thread. */
    bool (*code_allocates)(void);
};

/* const struct simgpu_interface *simgpu_interface(void); */
typedef const struct simgpu_interface *(*simgpu_interface_function)(void);

/* simgpu_interface.watch, also where SIMGPU_INTERFACE=0 hides the interface. */
#define SIMGPU_WATCH_SYMBOL "simgpu_watch"
void simgpu_watch(simgpu_watcher *watcher);
typedef void (*simgpu_watch_function)(simgpu_watcher *watcher);

#endif
