/* SPDX-License-Identifier: Apache-2.0 */
/* What every measurement asks: did the call work, what time is it, is there time for more? */
#include "kernels/bench/bench.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "kernels/fit/rawfile.h"

#define SAMPLES_LEAST 10
#define HURRY_AFTER_SHARE 0.85

int gmt_bench_check(struct gmt_bench *bench, cudaError_t status, const char *what)
{
    if (status == cudaSuccess) {
        return 0;
    }
    /* The call as it stands in the source, without its arguments. */
    snprintf(bench->error, sizeof(bench->error), "%.*s: %s", (int)strcspn(what, "("), what,
             cudaGetErrorString(status));
    cudaGetLastError();
    return -EIO;
}

uint64_t gmt_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

void gmt_bench_note(struct gmt_bench *bench, const char *text)
{
    gmt_raw_note(bench->raw, text);
}

unsigned gmt_bench_samples(struct gmt_bench *bench)
{
    double spent_ns = (double)(gmt_now_ns() - bench->began_ns);

    if (!bench->hurried && spent_ns > HURRY_AFTER_SHARE * (double)bench->budget_ns) {
        bench->hurried = true;
        gmt_bench_note(bench,
                       "slow machine or busy device: the later measurements have fewer samples");
    }
    return bench->hurried ? SAMPLES_LEAST : bench->sample_count;
}

bool gmt_bench_too_late(const struct gmt_bench *bench, double work_ns)
{
    return (double)(gmt_now_ns() - bench->began_ns) + work_ns > (double)bench->budget_ns;
}
