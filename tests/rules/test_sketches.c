/* SPDX-License-Identifier: Apache-2.0 */
/* Sketches of transfer and allocation rules have the program's own sizes, counts and kernels. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/run/rules.h"
#include "tests/rules/fixture.h"

static const struct {
    const char *rule, *sql, *parts[2];
} cases[] = {
    {"GM101", "", {"i < 1000", "cudaMemcpy(device, staging, 64000,"}},
    {"GM101",
     "UPDATE transfer SET direction = 'd2h', blocking = 0, bytes = bytes + id % 3, dst_class = "
     "src_class, src_class = 'device'",
     {"cudaMemcpyAsync(staging, device, 65000,", "memcpy(piece[i], staging + offset[i], size[i])"}},
    {"GM102", "", {"cudaHostRegister(buffer, 16777216,", "20 times"}},
    {"GM103", "", {"cudaHostRegister(buffer, 16777216,", ""}},
    {"GM104", "", {"cudaMemcpy2D(dst, 4096, src, 8000, 4000, 512,", ""}},
    {"GM105", "", {"cudaMemcpy(device, host, 16777216,", "work<<<"}},
    {"GM106", "", {"work<<<", "16777216"}},
    {"GM107", "", {"1048576", ""}},
    {"GM108", "", {"16777216", "work<<<"}},
    {"GM109", "", {"work<<<", "&flag, device_flag, 4,"}},
    {"GM110", "", {"67108864", ""}},
    {"GM111", "", {"cudaHostAlloc(&host, 16777216,", "work<<<"}},
    {"GM112", "", {"16777216", "work<<<100000, 256"}},
    {"GM114", "", {"cudaMemPrefetchAsync(data, 16777216, device", "work<<<100000, 256"}},
    {"GM115", "", {"4194304", ""}},
    {"GM116", "", {"4004, 512,", "pitch is 4096"}},
    {"GM117", "", {"cudaMemcpy(host, device, 16777216,", "10 times"}},
    {"GM118", "", {"work<<<", "19 times"}},
    {"GM201", "", {"cudaMallocAsync(&p, 1048576", ""}},
    {"GM202", "", {"4 -> 256", ""}},
    {"GM203", "", {"cudaMallocPitch(&base, &pitch, 4004, 65536)", ""}},
    {"GM204", "", {"cudaMalloc(&p, 16777216)", "8 times"}},
    {"GM205", "", {"cudaMalloc(&p, 536870912)", "app.cu:42"}},
    {"GM206", "", {"1073741824", "app.cu:42"}},
    {"GM207", "", {"cudaMallocHost(&p, 4194304)", "app.cu:42"}},
    {"GM208", "", {"malloc(67108864)", "app.cu:42"}},
};

Test(sketches, have_the_programs_own_numbers)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;

        gmt_fixture_load_positive(&fixture, cases[i].rule, cases[i].sql);
        const char *sketch = gmt_fixture_only(&fixture, cases[i].rule)->sketch;
        cr_assert_not_null(sketch, "%s", cases[i].rule);
        for (int k = 0; k < 2; k++) {
            cr_expect_not_null(strstr(sketch, cases[i].parts[k]), "%s without %s: %s",
                               cases[i].rule, cases[i].parts[k], sketch);
        }
        gmt_fixture_free(&fixture);
    }
}

/* Each rule of the two families has a case above. */
Test(sketches, are_checked_of_every_rule)
{
    for (size_t i = 0; i < gmt_rule_count; i++) {
        bool found = strncmp(gmt_rules[i]->id, "GM1", 3) != 0 &&
                     strncmp(gmt_rules[i]->id, "GM2", 3) != 0;

        for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
            found |= strcmp(cases[k].rule, gmt_rules[i]->id) == 0;
        }
        cr_expect(found, "%s", gmt_rules[i]->id);
    }
}
