/* SPDX-License-Identifier: Apache-2.0 */
/* Several cases of one problem in one place become one finding. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/rules/fixture.h"

/* The class of the fixture a second time, with a grid of another size and ten launches of its own. */
static const char second_class[] =
    "INSERT INTO kernel_class (id, kernel_id, grid_x, grid_y, grid_z, block_x, block_y, block_z, "
    "dynamic_shared_bytes, max_blocks_per_sm, theoretical_occupancy) "
    "SELECT 2, kernel_id, 200000, 1, 1, block_x, 1, 1, 0, max_blocks_per_sm, theoretical_occupancy "
    "FROM kernel_class WHERE id = 1;"
    "INSERT INTO launch (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, result, "
    "stack_id, capturing, kind, seq, kernel_id, class_id, measured, no_activity, arguments, "
    "device_start_ns, device_end_ns) "
    "SELECT id + 100, api_id, thread_id, context_id, stream_id, begin_ns - 40000000, "
    "end_ns - 40000000, result, stack_id, capturing, kind, seq + 100, kernel_id, 2, measured, "
    "no_activity, arguments, device_start_ns - 40000000, device_end_ns - 40500000 FROM launch;"
    "INSERT INTO kernel_counters (launch_seq, class_id, metric_id, value, source, grp, samples) "
    "SELECT 101, 2, metric_id, value, source, grp, samples FROM kernel_counters";

Test(merge, launch_shapes_of_one_kernel)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_sql(&fixture, second_class);
    gmt_fixture_analyze(&fixture, "GM301");
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    const struct gmt_finding *f = &fixture.report.findings[0];
    cr_assert_eq(f->part_count, 2);
    cr_assert_float_eq(f->cost_ns, 15e6, 1); /* 10 x 1 ms and 10 x 0.5 ms */
    cr_assert_float_eq(f->saving.best_ns, f->parts[0].best_ns + f->parts[1].best_ns, 1);
    cr_assert_geq(f->parts[0].best_ns, f->parts[1].best_ns);
    cr_assert_str_eq(f->parts[0].label, "100000x1x1 blocks of 256x1x1 threads");
    cr_assert_not_null(strstr(f->headline, "2 launch shapes"));
    gmt_fixture_sql(&fixture, f->sql);
    gmt_fixture_free(&fixture);
}

Test(merge, buffers_of_one_line)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM201_positive");
    gmt_fixture_sql(&fixture,
                    "INSERT INTO allocation (id, kind, address, bytes, context_id, thread_id, "
                    "api_id, stack_id, begin_ns, end_ns, free_api_id, free_thread_id, "
                    "free_begin_ns, free_end_ns) SELECT id + 1000, kind, address + 4194304, "
                    "2 * bytes, context_id, thread_id, api_id, stack_id, begin_ns + 100000, "
                    "end_ns + 100000, free_api_id, free_thread_id, free_begin_ns + 100000, "
                    "free_end_ns + 100000 FROM allocation");
    gmt_fixture_analyze(&fixture, "GM201");
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_eq(fixture.report.findings[0].part_count, 2);
    cr_assert_not_null(strstr(fixture.report.findings[0].headline, "2 cases here"));
    gmt_fixture_free(&fixture);
}

Test(merge, keeps_kernels_apart)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_sql(&fixture, second_class);
    gmt_fixture_sql(&fixture,
                    "INSERT INTO kernel (id, name, mangled) VALUES (2, 'other(int)', '_Z5otheri');"
                    "UPDATE kernel_class SET kernel_id = 2 WHERE id = 2");
    gmt_fixture_analyze(&fixture, "GM301");
    cr_assert_eq(fixture.report.finding_count, 2, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_eq(fixture.report.findings[0].part_count, 0);
    gmt_fixture_free(&fixture);
}

/* Modules may have kernels of one name each: two kernels, if what they do stands in different lines. */
static size_t findings_of_two_modules(const char *second_file)
{
    struct gmt_fixture fixture;
    char sql[1200];

    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_sql(&fixture, second_class);
    gmt_fixture_sql(&fixture, "INSERT INTO kernel (id, name, mangled) SELECT 2, name, mangled "
                              "FROM kernel WHERE id = 1;"
                              "UPDATE kernel_class SET kernel_id = 2 WHERE id = 2;"
                              "INSERT INTO string VALUES (50, '/src/a.cu'), (51, '/src/b.cu')");
    snprintf(sql, sizeof(sql),
             "INSERT INTO instruction (launch_seq, class_id, site, file_id, line, kind, executed, "
             "lanes, requests, sectors, ideal_sectors, source) VALUES "
             "(1, 1, 1, 50, 7, 'global_load', 9, 9, 9, 900, 100, 'sass'),"
             "(101, 2, 1, %s, 7, 'global_load', 9, 9, 9, 900, 100, 'sass')",
             second_file);
    gmt_fixture_sql(&fixture, sql);
    gmt_fixture_analyze(&fixture, "GM301");
    size_t count = fixture.report.finding_count;
    gmt_fixture_free(&fixture);
    return count;
}

Test(merge, keeps_kernels_of_one_name_in_two_modules_apart)
{
    cr_expect_eq(findings_of_two_modules("51"), 2u);
    cr_expect_eq(findings_of_two_modules("50"), 1u, "one kernel, loaded twice");
    cr_expect_eq(findings_of_two_modules("NULL"), 1u, "nobody could distinguish them");
}

Test(merge, prices_loads_and_stores_of_one_mapping_once)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_sql(&fixture, "UPDATE kernel_counters SET value = 123750000 WHERE metric_id = 4");
    gmt_fixture_analyze(&fixture, NULL);
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_str_eq(fixture.report.findings[0].rule, "GM301");
    cr_assert_not_null(strstr(fixture.report.findings[0].headline, "stores 12.5 %"));
    gmt_fixture_free(&fixture);
}

/* Two loops of a library, called from one line of Python; they launch by different functions. */
static const char two_loops[] =
    "INSERT INTO string VALUES (90, 'step'), (91, '/home/me/train.py'), (92, 'op'), "
    "(93, 'attend'), (94, 'norm'), (95, '/venv/site-packages/transformers/model.py');"
    "INSERT INTO module (id, path, load_bias, start_address, end_address) VALUES "
    "(90, '/venv/site-packages/torch/lib/libtorch_cuda.so', 0, 7000000, 8000000);"
    "INSERT INTO frame (id, address, module_id, offset, function_id, file_id, line, runtime) "
    "VALUES (90, 7000100, 90, 100, 92, NULL, NULL, 0), (91, -9, NULL, NULL, 90, 91, 7, 0), "
    "(93, -10, NULL, NULL, 93, 95, 11, 0), (94, -11, NULL, NULL, 94, 95, 22, 0);"
    "INSERT INTO stack VALUES (90, 3), (91, 3);"
    "INSERT INTO stack_frame VALUES (90, 0, 90), (90, 1, 93), (90, 2, 91), (91, 0, 90), "
    "(91, 1, 94), (91, 2, 91);"
    "INSERT INTO api (id, name, runtime_name, family) VALUES (99, 'cuLaunchKernelEx', "
    "'cudaLaunchKernelExC', 'launch');"
    "UPDATE launch SET stack_id = 90 WHERE class_id = 2;"
    "INSERT INTO launch (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, result, "
    "stack_id, capturing, kind, seq, kernel_id, class_id, grid_x, grid_y, grid_z, block_x, "
    "block_y, block_z, dynamic_shared_bytes, no_activity, arguments, argument_set_id, "
    "device_start_ns, device_end_ns) SELECT id + 5000, 99, thread_id, context_id, stream_id, "
    "begin_ns + 40000000, end_ns + 40000000, result, 91, capturing, kind, seq + 5000, kernel_id, "
    "class_id, grid_x, grid_y, grid_z, block_x, block_y, block_z, dynamic_shared_bytes, "
    "no_activity, arguments, argument_set_id, device_start_ns + 40000000, "
    "device_end_ns + 40000000 FROM launch WHERE class_id = 2";

Test(merge, launches_of_one_line_by_two_functions)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM512_positive");
    gmt_fixture_sql(&fixture, two_loops);
    gmt_fixture_analyze(&fixture, "GM512");
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    cr_expect_eq(fixture.report.findings[0].part_count, 2);
    cr_expect_str_eq(fixture.report.findings[0].where.label, "train.py:7");
    gmt_fixture_free(&fixture);
}
