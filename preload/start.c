/* SPDX-License-Identifier: Apache-2.0 */
/* Recording begins at the first CUDA call and ends with the process, however that ends. */
#include "preload/start.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libtrace/record/spawn.h"
#include "preload/allocmap.h"
#include "preload/collect.h"
#include "preload/context.h"
#include "preload/fingerprint.h"
#include "preload/hazards.h"
#include "preload/hook.h"
#include "preload/injection.h"
#include "preload/kernels.h"
#include "preload/options.h"
#include "preload/output.h"
#include "preload/resolve.h"
#include "preload/stack.h"
#include "preload/user_ranges.h"
#include "preload/version.h"

#define START_WAIT_MS 500
#define EXIT_WAIT_NS UINT64_C(2000000000) /* at a normal exit, for the recorder to catch up */

const struct gmt_collector_ops *gmt_collector;
_Atomic bool gmt_started;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool refused; /* recording cannot be had in this process */
static bool handlers_installed;
static bool tables_are_stale; /* copied from the parent of a fork: reset before recording begins */
static bool recorder_started;
static _Atomic uint64_t missed; /* calls while another thread was starting, and would not finish  */
static bool inherited_cupti;    /* forked from a process that used CUPTI: never touch it here */

static void write_names(void)
{
    static const struct {
        const char *symbol, *runtime;
        enum gmt_family family;
    } apis[] = {
#define GMT_HOOK(symbol, family, runtime) {#symbol, runtime, GMT_FAMILY_##family},
#include "preload/hooks.def"
#undef GMT_HOOK
    };
    for (size_t i = 0; i < sizeof(apis) / sizeof(apis[0]); i++) {
        struct gmt_api record = {.id = (uint16_t)(i + 1), .family = (uint16_t)apis[i].family};
        (void)gmt_spool_side(GMT_REC_API, &record, sizeof(record),
                             (const char *[]){apis[i].symbol, apis[i].runtime}, 2);
    }
}

/* The command line as the kernel has it, arguments joined by \x1f. */
static void read_command_line(char *text, size_t bytes)
{
    text[0] = '\0';
    FILE *file = fopen("/proc/self/cmdline", "re");
    if (file == NULL) {
        return;
    }
    size_t got = fread(text, 1, bytes - 1, file);
    (void)fclose(file);
    for (size_t i = 0; i + 1 < got; i++) {
        text[i] = text[i] == '\0' ? '\x1f' : text[i];
    }
    text[got] = '\0';
}

static void write_process(void)
{
    char cwd[PATH_MAX] = "", host[256] = "", command[8192], options[1024];
    unsigned ranks;
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (getcwd(cwd, sizeof(cwd)) == NULL) {
        cwd[0] = '\0';
    }
    (void)gethostname(host, sizeof(host) - 1);
    read_command_line(command, sizeof(command));
    gmt_options_describe(options, sizeof(options));
    struct gmt_process record = {
        .pid = (uint32_t)getpid(),
        .parent_pid = (uint32_t)getppid(),
        .realtime_ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec,
    };
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

/* Runs among the program's exit handlers: those registered before the first CUDA call run later and
 * may still free memory, which the hooks go on recording. */
static void at_exit(void)
{
    if (!gmt_started) {
        return;
    }
    gmt_hook_depth++;
    if (gmt_collector != NULL) {
        gmt_collector->flush();
    }
    gmt_coverage_finish();
    uint64_t unrecorded = atomic_exchange_explicit(&missed, 0, memory_order_relaxed);
    if (unrecorded != 0) {
        gmt_spool_loss("call not recorded", "while another thread was starting the recording",
                       unrecorded);
    }
    gmt_spool_note_exit();
    struct gmt_control *control = gmt_spool_control();
    uint64_t until_ns = gmt_clock_monotonic_ns() + EXIT_WAIT_NS;
    for (uint64_t now_ns; control != NULL && (now_ns = gmt_clock_monotonic_ns()) < until_ns;) {
        uint32_t state = __atomic_load_n(&control->recorder_state, __ATOMIC_ACQUIRE);
        uint32_t recorder = __atomic_load_n(&control->recorder_pid, __ATOMIC_ACQUIRE);
        if (state >= GMT_RECORDER_DONE || !recorder_started ||
            (recorder != 0 && kill((pid_t)recorder, 0) != 0 && errno == ESRCH)) {
            break;
        }
        struct timespec rest = {.tv_nsec = 50000000};
        if (control->recorder_pid == 0 && state == GMT_RECORDER_NONE &&
            now_ns + EXIT_WAIT_NS - UINT64_C(500000000) > until_ns) {
            break; /* it never came up: the spool keeps everything */
        }
        (void)syscall(SYS_futex, &control->recorder_state, FUTEX_WAIT, state, &rest, NULL, 0);
    }
    gmt_hook_depth--;
}

static void in_forked_child(void)
{
    inherited_cupti = inherited_cupti || (gmt_collector != NULL && !gmt_collector->survives_fork);
    if (gmt_collector != NULL) {
        gmt_collector->abandon();
        gmt_collector = NULL;
    }
    pthread_mutex_init(&mutex, NULL);
    gmt_resolve_reset();
    gmt_coverage_reset();
    gmt_spool_abandon();
    tables_are_stale = true; /* most children never use CUDA: they need not touch these pages */
    gmt_started = false;
    refused = false;
    gmt_hook_depth = 0;
    gmt_launches = 0;
    gmt_launches_done = 0;
}

/* Nothing else could say why there is no trace: one line. */
static void explain_refusal(const char *path, int error)
{
    char line[PATH_MAX + 256];
    int length = snprintf(line, sizeof(line),
                          "gmtrace: no trace: cannot write '%s': %s; the program runs unrecorded\n",
                          path[0] != '\0' ? path : gmt_options.output, strerror(-error));
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
    gmt_kernel_reset();
    gmt_stack_reset();
    tables_are_stale = false;
}

/* Take the lock, unless the thread that has it cannot go on: it may be waiting for the loader's lock,
 * which the caller holds (a library's constructor that calls CUDA). */
static bool lock_start(void)
{
    const struct timespec rest = {.tv_nsec = 1000000};
    for (int tries = 0; pthread_mutex_trylock(&mutex) != 0; tries++) {
        if (tries == START_WAIT_MS) {
            atomic_fetch_add_explicit(&missed, 1, memory_order_relaxed);
            return false;
        }
        (void)nanosleep(&rest, NULL);
    }
    return true;
}

static bool start_locked(void)
{
    if (!gmt_started && !refused) {
        if (tables_are_stale) {
            reset_tables();
        }
        static char path[PATH_MAX];
        int saved_errno = errno;
        path[0] = '\0';
        gmt_clock_init();
        gmt_options_load();
        int error = gmt_libcuda() != NULL
                        ? gmt_output_open(gmt_options.output, gmt_options.spool_limit_bytes, path)
                        : -ENOSYS;
        if (error == 0) {
            gmt_coverage_start(gmt_spool_directory());
            gmt_driver_load();
            write_process();
            write_names();
            gmt_options_report();
            gmt_injection_report();
            gmt_user_ranges_start();
            gmt_hazards_start();
            gmt_fingerprint_start();
            gmt_stack_start();
            start_recorder();
            if (!handlers_installed) {
                handlers_installed = true;
                pthread_atfork(NULL, NULL, in_forked_child);
                atexit(at_exit);
            }
            gmt_collector = gmt_collect_start(inherited_cupti);
            atomic_store_explicit(&gmt_started, true, memory_order_release);
        } else {
            refused = true;
            if (error != -ENOSYS) {
                explain_refusal(path, error);
            }
        }
        errno = saved_errno;
    }
    return gmt_started;
}

bool gmt_start(void)
{
    if (refused) {
        return false;
    }
    /* A thread that is being cancelled must not end in here with the lock. */
    int cancel_state;
    bool started = false;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    if (lock_start()) {
        started = start_locked();
        pthread_mutex_unlock(&mutex);
    }
    (void)pthread_setcancelstate(cancel_state, NULL);
    return started;
}

GMT_EXPORT CUresult cuInit(unsigned flags)
{
    CUresult (*real)(unsigned) = gmt_hook_find_real(GMT_HOOK_cuInit);
    if (real == NULL) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (gmt_hook_depth != 0) {
        return real(flags);
    }
    /* A driver that looks itself up while it starts must not find us (resolve.c). */
    gmt_hook_depth = 1;
    if (!gmt_started) {
        gmt_clock_init();
    }
    struct gmt_site site = {
        .id = GMT_HOOK_cuInit,
        .caller = (uint64_t)(uintptr_t)__builtin_return_address(0),
        .frame = __builtin_frame_address(0),
        .begin_ticks = gmt_clock_ticks(),
    };
    site.result = real(flags);
    site.end_ticks = gmt_clock_ticks();
    if (site.result == CUDA_SUCCESS && gmt_start()) {
        gmt_site_record(GMT_REC_CALL, &site, 0);
    }
    gmt_hook_depth = 0;
    return site.result;
}
