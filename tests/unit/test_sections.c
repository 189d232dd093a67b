/* SPDX-License-Identifier: Apache-2.0 */
/* What threads are in, as others see it in the control page. Links gmt_store. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libtrace/record/clock.h"
#include "libtrace/record/spool.h"
#include "libtrace/sections/section.h"
#include "libtrace/store/spool/spool_files.h"
#include "libtrace/store/spool/spool_reader.h"

static char folder[64], output[96];

static void setup(void)
{
    (void)snprintf(folder, sizeof(folder), "/tmp/gmtrace-sections.XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    (void)snprintf(output, sizeof(output), "%s/t.db", folder);
    gmt_clock_init();
    cr_assert_eq(gmt_spool_open(&(struct gmt_spool_config){.output = output,
                                                           .bytes_limit = UINT64_C(1) << 30}),
                 0);
}

static void teardown(void)
{
    char spool[128];
    (void)snprintf(spool, sizeof(spool), "%s.spool", output);
    gmt_spool_remove(spool);
    (void)rmdir(folder);
}

TestSuite(sections, .init = setup, .fini = teardown, .timeout = 60);

static unsigned shown(void)
{
    struct gmt_section_seen seen;
    unsigned count = 0;
    for (unsigned at = 0; at < GMT_SECTION_WORDS; at++) {
        count += gmt_section_see(gmt_spool_control(), at, &seen);
    }
    return count;
}

/* The only one. */
static void expect_text(const char *text)
{
    struct gmt_section_seen seen;
    cr_assert_eq(shown(), 1u);
    cr_assert(gmt_section_see(gmt_spool_control(), 0, &seen));
    cr_expect_str_eq(seen.text, text);
    cr_expect_eq(seen.tid, (uint32_t)syscall(SYS_gettid));
}

Test(sections, nest)
{
    struct gmt_section_seen outer, again;
    uint64_t before_ns = gmt_clock_monotonic_ns();
    uint64_t first = gmt_section_begin(GMT_SECTION_LAUNCH);
    expect_text("the launch of a kernel that is measured");
    (void)gmt_section_see(gmt_spool_control(), 0, &outer);
    cr_expect_geq(outer.since_ns + 1000000, before_ns);
    cr_expect_leq(outer.since_ns, gmt_clock_monotonic_ns());
    (void)usleep(5000);
    uint64_t second = gmt_section_begin(GMT_SECTION_MODULE);
    expect_text("putting device code aside while it is loaded");
    gmt_section_end(second);
    expect_text("the launch of a kernel that is measured");
    (void)gmt_section_see(gmt_spool_control(), 0, &again);
    cr_expect_eq(again.since_ns, outer.since_ns, "since it began");
    gmt_section_end(first);
    cr_expect_eq(shown(), 0u);
}

Test(sections, are_long_after_five_seconds)
{
    struct gmt_section_seen seen = {.since_ns = UINT64_C(1000000000)};
    cr_expect_not(gmt_section_is_long(&seen, 0));
    cr_expect_not(gmt_section_is_long(&seen, seen.since_ns + GMT_SECTION_LONG_NS - 1));
    cr_expect(gmt_section_is_long(&seen, seen.since_ns + GMT_SECTION_LONG_NS));
}

enum { MORE = GMT_SECTION_WORDS + 3 };
static sem_t inside, may_end;

static void *stay(void *unused)
{
    uint64_t first = gmt_section_begin(GMT_SECTION_HELD);
    uint64_t second = gmt_section_begin(GMT_SECTION_IDLE);
    (void)sem_post(&inside);
    (void)sem_wait(&may_end);
    gmt_section_end(second);
    gmt_section_end(first);
    return unused;
}

Test(sections, of_more_threads_than_words_are_not_mixed_up)
{
    pthread_t threads[MORE];
    (void)sem_init(&inside, 0, 0);
    (void)sem_init(&may_end, 0, 0);
    for (unsigned i = 0; i < MORE; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, stay, NULL), 0);
    }
    for (unsigned i = 0; i < MORE; i++) {
        (void)sem_wait(&inside);
    }
    cr_expect_eq(shown(), GMT_SECTION_WORDS);
    for (unsigned i = 0; i < MORE; i++) {
        (void)sem_post(&may_end);
    }
    for (unsigned i = 0; i < MORE; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    cr_expect_eq(shown(), 0u);
    uint64_t before = gmt_section_begin(GMT_SECTION_POP);
    expect_text("cuptiRangeProfilerPopRange");
    gmt_section_end(before);
}

Test(sections, that_were_left_by_longjmp_are_forgotten)
{
    (void)gmt_section_begin(GMT_SECTION_LAUNCH);
    (void)gmt_section_begin(GMT_SECTION_IDLE);
    gmt_section_forget();
    cr_expect_eq(shown(), 0u);
    uint64_t before = gmt_section_begin(GMT_SECTION_POP);
    expect_text("cuptiRangeProfilerPopRange");
    gmt_section_end(before);
    cr_expect_eq(shown(), 0u);
}

/* The page is the parent's. */
Test(sections, of_a_forked_child_are_not_the_parent_s)
{
    int status = -1;
    uint64_t before = gmt_section_begin(GMT_SECTION_LAUNCH);
    pid_t child = fork();
    if (child == 0) {
        (void)gmt_section_begin(GMT_SECTION_IDLE);
        gmt_section_forget();
        gmt_spool_abandon();
        (void)gmt_section_begin(GMT_SECTION_IDLE);
        gmt_section_end(0);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
    expect_text("the launch of a kernel that is measured");
    gmt_section_end(before);
    cr_expect_eq(shown(), 0u);
}
