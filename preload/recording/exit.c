/* SPDX-License-Identifier: Apache-2.0 */
/* What is done when the program exits: the last records, and a short wait for the recorder. */
#include "preload/recording/exit.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libtrace/record/clock.h"
#include "libtrace/record/proc.h"
#include "libtrace/record/spool.h"
#include "libtrace/sections/section.h"
#include "libtrace/threads/cancellation.h"
#include "preload/driver/coverage.h"
#include "preload/guard/guard.h"
#include "preload/overhead/overhead.h"
#include "preload/session/own_stack.h"
#include "preload/session/session.h"

#define WAIT_NS UINT64_C(2000000000)   /* at a normal exit, for the recorder to catch up */
#define COME_UP_NS UINT64_C(500000000) /* of these, for one that has not come up yet */
#define LOOK_NS 50000000               /* so often is it looked at */

/* Nothing is to be waited for: it is dead, or stopped by a signal or a debugger. It goes on with its work
 * when it is continued. */
static bool is_idle(pid_t recorder)
{
    char state = gmt_proc_state(recorder);
    return (kill(recorder, 0) != 0 && errno == ESRCH) || state == 'T' || state == 't' ||
           state == 'Z';
}

static void wait_for_recorder(struct gmt_control *control)
{
    uint64_t began_ns = gmt_clock_monotonic_ns();
    for (uint64_t waited_ns = 0; waited_ns < WAIT_NS;
         waited_ns = gmt_clock_monotonic_ns() - began_ns) {
        uint32_t state = __atomic_load_n(&control->recorder_state, __ATOMIC_ACQUIRE);
        uint32_t recorder = __atomic_load_n(&control->recorder_pid, __ATOMIC_ACQUIRE);
        if (state >= GMT_RECORDER_DONE || (recorder != 0 && is_idle((pid_t)recorder)) ||
            (recorder == 0 && waited_ns > COME_UP_NS)) {
            return; /* the spool keeps what it has not read */
        }
        struct timespec rest = {.tv_nsec = LOOK_NS};
        (void)syscall(SYS_futex, &control->recorder_state, FUTEX_WAIT, state, &rest, NULL, 0);
    }
}

static void report_missed_calls(void)
{
    uint64_t unrecorded = atomic_exchange_explicit(&gmt_missed_calls, 0, memory_order_relaxed);
    if (unrecorded != 0) {
        gmt_spool_loss("call not recorded", "while another thread was starting the recording",
                       unrecorded);
    }
}

static void finish(void *recorder_started)
{
    uint64_t began_ns = gmt_clock_monotonic_ns(), section = gmt_section_begin(GMT_SECTION_FINISH);
    if (gmt_collector != NULL) {
        gmt_collector->flush();
    }
    gmt_section_end(section);
    gmt_overhead_finish();
    gmt_coverage_finish();
    report_missed_calls();
    gmt_spool_own_time(GMT_OWN_EXIT, began_ns, 0);
    gmt_spool_note_exit();
    struct gmt_control *control = gmt_spool_control();
    if (control != NULL && *(bool *)recorder_started) {
        wait_for_recorder(control);
    }
}

void gmt_exit(bool recorder_started)
{
    gmt_guard_shut();
    struct gmt_cancellation of_program = gmt_cancellation_hold();
    if (gmt_own_stack_run(finish, &recorder_started) != 0) {
        finish(&recorder_started);
    }
    gmt_cancellation_allow(of_program);
    gmt_guard_reopen();
}
