/* SPDX-License-Identifier: Apache-2.0 */
/* Recording begins at the first CUDA call and ends with the process, however that ends. */
#include "preload/recording/start.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libtrace/record/clock.h"
#include "libtrace/record/spawn.h"
#include "libtrace/record/spool.h"
#include "libtrace/sections/section.h"
#include "libtrace/threads/cancellation.h"
#include "libtrace/threads/mutex.h"
#include "preload/apply/apply.h"
#include "preload/driver/coverage.h"
#include "preload/driver/resolve.h"
#include "preload/fingerprint/fingerprint.h"
#include "preload/guard/hold.h"
#include "preload/guard/threads.h"
#include "preload/overhead/govern.h"
#include "preload/overhead/overhead.h"
#include "preload/recording/collect.h"
#include "preload/recording/exit.h"
#include "preload/repeat/scan.h"
#include "preload/repeat/snapshot.h"
#include "preload/session/asked.h"
#include "preload/session/command_line.h"
#include "preload/session/injection_report.h"
#include "preload/session/options.h"
#include "preload/session/output.h"
#include "preload/session/own_stack.h"
#include "preload/session/run_note.h"
#include "preload/session/session.h"
#include "preload/session/version.h"
#include "preload/state/allocmap.h"
#include "preload/state/context.h"
#include "preload/state/graphs.h"
#include "preload/state/hazards.h"
#include "preload/state/kernels.h"
#include "preload/state/nvtx.h"
#include "preload/state/regions.h"
#include "preload/state/tensor_maps.h"
#include "preload/state/user_ranges.h"
#include "preload/state/waits.h"
#include "preload/unwind/stack.h"

/* Starting takes 20 ms, but a second and more on a machine with many times as much to do as it has cores. */
#define START_WAIT_NS UINT64_C(2000000000)
#define START_WAIT_AGAIN_NS UINT64_C(100000000) /* where that was in vain */
#define LONGEST_REST_NS \
    16000000 /* hundreds of threads that look every ms would keep the starting one from it */

static struct gmt_mutex mutex = GMT_MUTEX(START);
static _Atomic bool refused; /* recording cannot be had in this process */
static bool handlers_installed;
static bool tables_are_stale; /* copied from the parent of a fork: reset before recording begins */
static bool recorder_started;
static pid_t recording_pid;
static bool inherited_cupti; /* forked from a process that used CUPTI: never touch it here */

static void write_names(void)
{
    static const struct {
        const char *symbol, *runtime;
        enum gmt_call_family family;
    } apis[] = {
#define GMT_HOOK_UNRECORDED(symbol, family, runtime, traits, \
                            ...) /* the last ones: the others keep their numbers */
#define GMT_HOOK(symbol, family, runtime, traits, ...) {#symbol, runtime, GMT_FAMILY_##family},
#include "preload/driver/hooks.def"
#undef GMT_HOOK
    };
    for (size_t i = 0; i < sizeof(apis) / sizeof(apis[0]); i++) {
        struct gmt_api record = {.id = (uint16_t)(i + 1), .family = (uint16_t)apis[i].family};
        (void)gmt_spool_side(GMT_REC_API, &record, sizeof(record),
                             (const char *[]){apis[i].symbol, apis[i].runtime}, 2);
    }
}

static void write_process(void)
{
    char cwd[PATH_MAX] = "", host[256] = "", command[8192], options[2048];
    unsigned ranks;
    if (getcwd(cwd, sizeof(cwd)) == NULL) {
        cwd[0] = '\0';
    }
    (void)gethostname(host, sizeof(host) - 1);
    gmt_command_line_read(command, sizeof(command));
    gmt_options_describe(options, sizeof(options));
    struct gmt_process record = {
        .pid = (uint32_t)getpid(),
        .parent_pid = (uint32_t)getppid(),
    };
    /* Ranks of a host are compared by this: nothing may come between both clocks. */
    record.realtime_ns = gmt_clock_read_wall(&record.head.ticks);
    (void)gmt_spool_side(GMT_REC_PROCESS, &record, sizeof(record),
                         (const char *[]){gmt_options_exe(), cwd, host, command, options,
                                          GMT_VERSION, gmt_options_rank(&ranks)},
                         7);
}

/* The recorder lies beside this library, or in ../libexec/gmtrace or ../bin of its folder. */
static int find_recorder(char *path, size_t bytes)
{
    static const char *const places[] = {
        "%.*s/gmtrace-recorder", "%.*s/../libexec/gmtrace/gmtrace-recorder",
        "%.*s/../../libexec/gmtrace/gmtrace-recorder", "%.*s/../bin/gmtrace-recorder"};
    Dl_info here;
    if (dladdr(&gmt_started, &here) == 0 || here.dli_fname == NULL) {
        return -ENOENT;
    }
    const char *slash = strrchr(here.dli_fname, '/');
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        (void)snprintf(path, bytes, places[i],
                       slash != NULL ? (int)(slash - here.dli_fname) : 1, // NOLINT
                       slash != NULL ? here.dli_fname : ".");
        if (access(path, X_OK) == 0) {
            return 0;
        }
    }
    return -ENOENT;
}

/* Who names what a part may cost, and nothing for all of them, has that: the default for all is for the others. */
static void start_overhead(void)
{
    const bool is_named[GMT_OVERHEAD_PARTS] = {
        [GMT_OVERHEAD_HASHING] = gmt_options.fingerprint_budget_given,
        [GMT_OVERHEAD_COUNTERS] = gmt_options.counter_budget_given,
    };
    bool has_limit = gmt_options.overhead_given || !gmt_driver_is_software;
    unsigned apart = 0;
    for (int part = 0; part < GMT_OVERHEAD_PARTS && !gmt_options.overhead_given; part++) {
        apart |= is_named[part] ? 1u << part : 0;
    }
    gmt_overhead_start(has_limit ? gmt_options.overhead : 0, apart);
}

static void start_recorder(void)
{
    char path[PATH_MAX + 64];
    int error = find_recorder(path, sizeof(path));
    if (getpid() == 1) {
        error =
            -ECHILD; /* would become our child, and die with us: the first process of a container */
    }
    if (error == 0) {
        error = gmt_spawn_detached(
            path, (char *const[]){"gmtrace-recorder", (char *)gmt_spool_directory(), NULL});
    }
    recorder_started = error == 0;
    if (error != 0) {
        gmt_spool_capability("recorder", GMT_CAP_MISSING, -error,
                             "gmtrace-recorder could not be started; the records stay in the spool",
                             "gmanalyze on the output ingests the spool");
    }
}

static void at_exit(void)
{
    if (gmt_epoch() == GMT_EPOCH_FORKED) {
        gmt_forked();
    }
    if (gmt_started && gmt_epoch() != GMT_EPOCH_SETTLING) {
        gmt_exit(recorder_started);
    }
}

void gmt_forked(void)
{
    if (!gmt_epoch_settle()) {
        return;
    }
    gmt_user_ranges_forked();
    gmt_nvtx_forked();
    gmt_regions_forked();
    inherited_cupti = inherited_cupti || (gmt_collector != NULL && !gmt_collector->survives_fork);
    if (gmt_collector != NULL) {
        gmt_collector->abandon();
        gmt_collector = NULL;
    }
    gmt_mutex_renew(&mutex);
    gmt_resolve_reset();
    gmt_coverage_reset();
    tables_are_stale = true; /* most children never use CUDA: they need not touch these pages */
    gmt_started = false;
    refused = false;
    recorder_started = false;
    gmt_missed_calls = 0;
    gmt_guard_forked();
    gmt_launches = 0;
    gmt_launches_done = 0;
    gmt_spool_abandon(); /* the last: it lets other threads go on */
}

static void before_fork(void)
{
    if (gmt_started && recording_pid == getpid() && gmt_collector != NULL &&
        gmt_collector->forking != NULL) {
        gmt_collector->forking();
    }
}

/* Another handler may have used CUDA in the child already: that recording is the child's own. */
static void in_forked_child(void)
{
    if (!gmt_started || recording_pid != getpid()) {
        gmt_forked();
    }
}

/* Nothing else could say why there is no trace: one line. */
static void explain_refusal(const char *path, int error)
{
    char line[PATH_MAX + 256];
    if (gmt_run_note_write(path[0] != '\0' ? path : gmt_options.output, error)) {
        return; /* the launcher says it */
    }
    int length = snprintf(line, sizeof(line),
                          "gmtrace: no trace: cannot write '%s': %s; the program runs unrecorded\n",
                          path[0] != '\0' ? path : gmt_options.output, gmt_output_explain(error));
    /* A full file or a closed pipe behind stderr must not kill the program. */
    sigset_t deadly, before, pending;
    sigemptyset(&deadly);
    sigaddset(&deadly, SIGXFSZ);
    sigaddset(&deadly, SIGPIPE);
    (void)sigpending(&pending);
    if (pthread_sigmask(SIG_BLOCK, &deadly, &before) != 0) {
        return;
    }
    if (write(STDERR_FILENO, line, length > 0 ? (size_t)length : 0) < 0 &&
        !sigismember(&pending, SIGXFSZ) && !sigismember(&pending, SIGPIPE)) {
        (void)sigtimedwait(&deadly, NULL, &(struct timespec){0});
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void reset_tables(void)
{
    gmt_allocmap_reset();
    gmt_context_reset();
    gmt_graph_reset();
    gmt_waits_forget(NULL);
    gmt_scan_forget(NULL);
    gmt_snapshot_forget(NULL);
    gmt_kernel_reset();
    gmt_stack_reset();
    gmt_tensor_map_reset();
    tables_are_stale = false;
}

/* Take the lock, unless the thread that has it cannot go on: it may be waiting for the loader's lock,
 * which the caller holds (a library's constructor that calls CUDA). */
static bool lock_start(void)
{
    static _Atomic bool in_vain;
    struct timespec rest = {.tv_nsec = 1000000};
    uint64_t limit_ns = atomic_load(&in_vain) ? START_WAIT_AGAIN_NS : START_WAIT_NS;
    uint64_t began_ns = gmt_clock_monotonic_ns();
    int saved_errno = errno;
    while (!gmt_mutex_try(&mutex)) {
        if (gmt_clock_monotonic_ns() - began_ns >= limit_ns) {
            atomic_store(&in_vain, true);
            atomic_fetch_add_explicit(&gmt_missed_calls, 1, memory_order_relaxed);
            return false;
        }
        (void)nanosleep(&rest, NULL);
        rest.tv_nsec += rest.tv_nsec < LONGEST_REST_NS ? rest.tv_nsec : 0;
        errno = saved_errno;
    }
    return true;
}

static void start_locked(void *unused)
{
    (void)unused;
    if (gmt_apply_is_wanted()) {
        gmt_apply_start();
        refused = true;
    }
    if (!gmt_started && !refused) {
        if (tables_are_stale) {
            reset_tables();
        }
        static char path[PATH_MAX];
        int saved_errno = errno;
        path[0] = '\0';
        gmt_clock_init();
        uint64_t began_ns = gmt_clock_monotonic_ns();
        gmt_options_load();
        gmt_hold_set_limit(gmt_options.hold_limit_ns);
        int error = gmt_libcuda() != NULL
                        ? gmt_output_open(gmt_options.output, gmt_options.spool_limit_bytes, path)
                        : -ENOSYS;
        uint64_t section = gmt_section_begin(GMT_SECTION_START);
        if (error == 0) {
            gmt_asked_write(gmt_output_is_one_of_several());
            gmt_coverage_start();
            gmt_driver_load();
            write_process();
            write_names();
            gmt_options_report();
            gmt_injection_report();
            gmt_user_ranges_start();
            gmt_regions_start();
            gmt_hazards_start();
            gmt_fingerprint_start();
            gmt_stack_start();
            gmt_guard_start();
            start_recorder();
            if (!handlers_installed) {
                handlers_installed = true;
                pthread_atfork(before_fork, NULL, in_forked_child);
                atexit(at_exit);
            }
            (void)gmt_run_note_write(path, 0);
            gmt_collector = gmt_collect_start(inherited_cupti);
            recording_pid = getpid();
            gmt_spool_own_time(GMT_OWN_SETUP, began_ns, 0);
            gmt_collect_govern();
            start_overhead();
            atomic_store_explicit(&gmt_started, true, memory_order_release);
        } else {
            refused = true;
            if (error != -ENOSYS) {
                explain_refusal(path, error);
            }
        }
        gmt_section_end(section);
        errno = saved_errno;
    }
}

bool gmt_start(void)
{
    if (refused) {
        return false;
    }
    /* A thread that is being cancelled must not end in here with the lock. */
    bool started = false;
    struct gmt_cancellation of_program = gmt_cancellation_hold();
    if (lock_start()) {
        /* start_locked refuses by itself: that must stay. */
        int error = gmt_started || refused ? 0 : gmt_own_stack_run(start_locked, NULL);
        if (error != 0) {
            refused = true;
            (void)gmt_run_note_write("", error);
        }
        started = gmt_started;
        gmt_mutex_unlock(&mutex);
    }
    gmt_cancellation_allow(of_program);
    return started;
}
