/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the CPU on which the driver's calls are quickest just now. */
#include "kernels/measure/quickest_cpu.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>

#include "kernels/fit/fit.h"
#include "kernels/fit/rawfile.h"

#define CPUS_MOST 64 /* that many are tried: some 5 ms */
#define PROBES 24
#define PROBES_UNCOUNTED 8
#define PROBE_BYTES 64

/* Median time of a small blocking copy: a call into the driver that ends on the host. */
static int probe(struct gmt_bench *bench, double *median_ns)
{
    double samples[PROBES];
    struct gmt_stat stat;
    int rc = 0;

    for (int i = -PROBES_UNCOUNTED; i < PROBES; i++) {
        uint64_t began = gmt_now_ns();

        GMT_TRY(bench,
                cudaMemcpy(bench->far_to, bench->pageable, PROBE_BYTES, cudaMemcpyHostToDevice));
        if (i >= 0) {
            samples[i] = (double)(gmt_now_ns() - began);
        }
    }
    rc = gmt_stat_of(samples, PROBES, &stat);
    *median_ns = stat.median;
out:
    return rc;
}

static int pin(size_t cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return sched_setaffinity(0, sizeof(one), &one) == 0 ? 0 : -errno;
}

/* What was found on each CPU, beside the samples of the pass. */
static void note_pass(struct gmt_bench *bench, size_t cpu, double quickest_ns, double slowest_ns)
{
    json_t *pass = json_array_get(gmt_raw_array(bench->raw, "passes"), bench->pass);

    json_object_set_new(pass, "cpu", json_integer((json_int_t)cpu));
    json_object_set_new(pass, "quickest_ns", json_integer(llround(quickest_ns)));
    json_object_set_new(pass, "slowest_ns", json_integer(llround(slowest_ns)));
}

int gmt_cpus_take_quickest(struct gmt_bench *bench, struct gmt_cpus *cpus)
{
    double quickest_ns = INFINITY, slowest_ns = 0;
    size_t chosen = CPU_SETSIZE;
    int tried = 0;
    int rc = gmt_bench_host_buffers(bench);

    cpus->moved = false;
    json_array_append_new(gmt_raw_array(bench->raw, "passes"), json_object());
    /* A machine of more CPUs than the set has room for is measured as it is. */
    if (rc != 0 || sched_getaffinity(0, sizeof(cpus->allowed), &cpus->allowed) != 0) {
        return rc;
    }
    int step = (CPU_COUNT(&cpus->allowed) + CPUS_MOST - 1) / CPUS_MOST;
    for (size_t cpu = 0; rc == 0 && cpu < CPU_SETSIZE; cpu++) {
        double median_ns = INFINITY;

        if (!CPU_ISSET(cpu, &cpus->allowed) || tried++ % step != 0 || pin(cpu) != 0) {
            continue;
        }
        cpus->moved = true;
        rc = probe(bench, &median_ns);
        slowest_ns = fmax(slowest_ns, median_ns);
        if (median_ns < quickest_ns) {
            quickest_ns = median_ns;
            chosen = cpu;
        }
    }
    if (rc == 0 && chosen < CPU_SETSIZE && pin(chosen) == 0) {
        note_pass(bench, chosen, quickest_ns, slowest_ns);
    } else {
        gmt_cpus_give_back(cpus);
    }
    return rc;
}

void gmt_cpus_give_back(struct gmt_cpus *cpus)
{
    if (cpus->moved) {
        sched_setaffinity(0, sizeof(cpus->allowed), &cpus->allowed);
    }
    cpus->moved = false;
}
