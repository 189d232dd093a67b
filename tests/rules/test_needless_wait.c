/* SPDX-License-Identifier: Apache-2.0 */
/* GM118: what waits that nothing needs cost, and which waits the host does need. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/rules/fixture.h"

static const struct gmt_finding *only(struct gmt_fixture *fixture, const char *sql)
{
    gmt_fixture_load_positive(fixture, "GM118", sql);
    return gmt_fixture_only(fixture, "GM118");
}

static void expect_none(const char *what, const char *sql)
{
    struct gmt_fixture fixture;

    gmt_fixture_load_positive(&fixture, "GM118", sql);
    gmt_fixture_analyze(&fixture, "GM118");
    cr_expect_eq(fixture.report.finding_count + fixture.report.note_count, 0, "%s: %s", what,
                 gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
}

/* Idle are 400 us from the kernel's end on; 2.5 us of that are the recording's. What is idle before it began is the launch's. */
#define IDLE_NS (400e3 - 2500)

/* The kernels take longer than all that the host does: it would be ahead of the device. */
Test(needless_wait, costs_what_the_device_is_idle_for)
{
    struct gmt_fixture fixture;
    const struct gmt_finding *f = only(&fixture, "SELECT 1");

    /* The device time of what follows the last one is not known. */
    cr_expect_eq(gmt_fixture_evidence(f, "waits"), 19);
    cr_expect_str_eq(f->where.label, "app.cu:42");
    cr_expect_float_eq(gmt_fixture_evidence(f, "time_of_the_calls"), 19 * 1024e3, 1);
    cr_expect_float_eq(gmt_fixture_evidence(f, "device_stood_still"), 19 * IDLE_NS, 1);
    cr_expect_float_eq(f->saving.best_ns, 19 * IDLE_NS, 1);
    cr_expect_float_eq(f->saving.high_ns, 19 * IDLE_NS, 1);
    cr_expect_eq(f->saving.low_ns, 0);
    cr_expect_eq(f->confidence, GMT_CONFIDENCE_MODELLED);
    cr_expect_not_null(strstr(f->fix, "Keep it if a clock of the host measures"), "%s", f->fix);
    cr_expect_not_null(strstr(f->fix, "the time between two events is read after it"), "%s",
                       f->fix);
    cr_expect_str_eq(f->headline, "19 times the host waits 1.02 ms for the device and needs "
                                  "nothing of it before the next launch; the device is idle for "
                                  "398 µs after each");
    gmt_fixture_free(&fixture);
}

/* Where the host has more to do than the device the waits are short, and it gains no more than these. */
Test(needless_wait, saves_no_more_than_the_host_leaves)
{
    /* A read-back before the loop and one after it. */
#define BETWEEN_READ_BACKS \
    "INSERT INTO transfer (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, " \
    "result, " \
    "stack_id, capturing, direction, blocking, bytes, dst, src, dst_class, src_class) VALUES " \
    "(100, 2, 1, 1, 1, 9980000, 10000000, 0, 1, 0, 'd2h', 1, 4096, 4096, 1048576, 'pageable', " \
    "'device'), (101, 2, 1, 1, 1, 38000000, 38010000, 0, 1, 0, 'd2h', 1, 4096, 4096, 1048576, " \
    "'pageable', 'device');"
    struct gmt_fixture fixture;
    const struct gmt_finding *f = only(&fixture, BETWEEN_READ_BACKS);

    /* The copy follows the last wait, which the host then does not gain by. */
    cr_expect_eq(gmt_fixture_evidence(f, "waits"), 19);
    cr_expect_float_eq(f->saving.best_ns, 19 * IDLE_NS, 1e3);
    cr_expect_float_eq(f->saving.high_ns, 19 * IDLE_NS, 1e3);
    gmt_fixture_free(&fixture);
    /* Kernels of 100 us: the host needs 376 us of each step itself, and the waits were 124 us. */
    f = only(&fixture, BETWEEN_READ_BACKS
             "UPDATE launch SET device_end_ns = device_start_ns + 100000 WHERE seq > 100;"
             "UPDATE sync SET end_ns = begin_ns + 124000");
    cr_expect_float_eq(f->saving.best_ns, 19 * 124e3, 1e3);
    cr_expect_float_eq(f->saving.high_ns, 19 * 124e3, 1e3);
    cr_expect_float_eq(gmt_fixture_evidence(f, "device_stood_still"), 19 * (IDLE_NS + 900e3), 1);
    gmt_fixture_free(&fixture);
}

/* Kernels of 100 us, and 1.3 ms of the host's after each, but for the first three: these take 1 ms, and waits elsewhere are theirs. */
Test(needless_wait, saves_no_more_than_the_waits_of_its_place)
{
    struct gmt_fixture fixture;
    const struct gmt_finding *f = only(
        &fixture,
        "UPDATE launch SET device_end_ns = device_start_ns + 100000 WHERE seq > 103;"
        "UPDATE sync SET end_ns = begin_ns + 124000 WHERE id > 911003;"
        "INSERT INTO string VALUES (90, '/src/other.cu');"
        "INSERT INTO frame(id, address, module_id, offset, function_id, file_id, line, runtime) "
        "VALUES (90, 16384, 1, 16384, 3, 90, 7, 0); INSERT INTO stack VALUES (90, 2);"
        "INSERT INTO stack_frame VALUES (90, 0, 1), (90, 1, 90);"
        "UPDATE sync SET stack_id = 90 WHERE id <= 911003");

    cr_expect_eq(gmt_fixture_evidence(f, "waits"), 16);
    cr_expect_float_eq(gmt_fixture_evidence(f, "time_of_the_calls"), 16 * 124e3, 1);
    cr_expect_float_eq(f->saving.best_ns, 16 * 124e3, 1);
    cr_expect_float_eq(f->saving.high_ns, 16 * 124e3, 1);
    gmt_fixture_free(&fixture);
}

/* A wait that takes 100 ms, after which the kernel that comes next is there at once: no idle time of it is there to save. */
Test(needless_wait, counts_only_waits_with_idle_time_behind_them)
{
    struct gmt_fixture fixture;
    const struct gmt_finding *f = only(
        &fixture, "UPDATE launch SET device_end_ns = device_start_ns + 100000 WHERE seq > 100;"
                  "UPDATE sync SET end_ns = begin_ns + 124000;"
                  "UPDATE sync SET end_ns = begin_ns + 1300000 WHERE id = 911019;"
                  "UPDATE launch SET device_end_ns = device_start_ns + 1399000 WHERE seq = 119");

    cr_expect_eq(gmt_fixture_evidence(f, "waits"), 18);
    cr_expect_float_eq(f->saving.best_ns, 18 * 124e3, 1);
    cr_expect_float_eq(f->saving.high_ns, 18 * 124e3, 1);
    gmt_fixture_free(&fixture);
}

/* What gmtrace itself did inside of the waits is not the program's. */
Test(needless_wait, leaves_out_gmtraces_own_time)
{
    struct gmt_fixture fixture;
    const struct gmt_finding *f = only(
        &fixture,
        "UPDATE launch SET device_end_ns = device_start_ns + 100000 WHERE seq > 100;"
        "UPDATE sync SET end_ns = begin_ns + 124000;"
        "INSERT INTO own_time (work, thread_id, begin_ns, end_ns, beside) SELECT 'session', 1, "
        "begin_ns + 20000, begin_ns + 60000, 0 FROM sync");

    cr_expect_float_eq(f->saving.high_ns, 19 * 84e3, 1);
    gmt_fixture_free(&fixture);
}

/* It may be a benchmark: no gate is to fail for it. */
Test(needless_wait, is_never_of_high_severity)
{
    struct gmt_fixture fixture;
    const struct gmt_finding *f = only(
        &fixture, "UPDATE launch SET device_end_ns = device_start_ns + 700000 WHERE seq > 100;"
                  "UPDATE sync SET end_ns = begin_ns + 724000");

    cr_expect_gt(f->saving.share, 0.1);
    cr_expect_eq(f->severity, GMT_SEVERITY_MEDIUM);
    gmt_fixture_free(&fixture);
}

Test(needless_wait, of_a_loop_only)
{
    struct gmt_fixture fixture;

    expect_none("15 waits", "DELETE FROM sync WHERE id >= 911016");
    cr_expect_eq(
        gmt_fixture_evidence(only(&fixture, "DELETE FROM sync WHERE id >= 911017"), "waits"), 16);
    gmt_fixture_free(&fixture);
    expect_none("one wait at the end", "DELETE FROM sync WHERE id <> 911020");
    expect_none("nothing is launched after it",
                "DELETE FROM launch WHERE seq > 101; UPDATE sync SET begin_ns = 90000000 + id, "
                "end_ns = 90000100 + id");
}

#define COPY(direction, blocking, dst, src, at) \
    "INSERT INTO transfer (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, " \
    "result, " \
    "stack_id, capturing, direction, blocking, bytes, dst, src, dst_class, src_class) SELECT " \
    "seq, " \
    "2, 1, 1, 1, " at ", " at " + 500, 0, 1, 0, '" direction "', " blocking \
    ", 4096, 4096, 1048576, '" dst "', '" src "' FROM launch WHERE seq > 100;"
#define HOST_ARGUMENT(memory) \
    memory "INSERT INTO launch_argument (set_id, parameter, word_offset, allocation_id, " \
           "allocation_offset) VALUES (7, 0, 0, 700, 0); UPDATE launch SET argument_set_id = 7 " \
           "WHERE seq > 100;"
#define PINNED \
    "INSERT INTO host_allocation (id, kind, address, bytes, context_id, thread_id, api_id, " \
    "begin_ns, end_ns) VALUES (700, 'pinned', 4096, 65536, 1, 1, 4, 1000000, 1060000);"
#define MANAGED \
    "INSERT INTO allocation (id, kind, address, bytes, context_id, thread_id, api_id, begin_ns, " \
    "end_ns) VALUES (700, 'managed', 1048576, 65536, 1, 1, 4, 1000000, 1060000);"

#define HOST_FUNCTION(stream, at) \
    "INSERT INTO api(id, name, runtime_name, family) VALUES (21, 'cuLaunchHostFunc', " \
    "'cudaLaunchHostFunc', 'sync'); INSERT INTO api_call (id, api_id, thread_id, context_id, " \
    "stream_id, begin_ns, end_ns, result, capturing) SELECT id + 5000, 21, 1, 1, " stream ", " at \
    ", " at " + 1000, 0, 0 FROM launch WHERE seq > 100;"

Test(needless_wait, not_where_the_host_needs_it)
{
    expect_none("a read-back before it", COPY("d2h", "0", "pinned", "device", "end_ns + 200"));
    expect_none("a read-back after it",
                COPY("d2h", "1", "pageable", "device", "device_end_ns + 30000"));
    expect_none("a copy within the host before it, of what a kernel wrote to page-locked memory",
                COPY("h2h", "0", "pinned", "pinned", "end_ns + 200"));
    expect_none("a buffer that is filled again",
                COPY("h2d", "0", "device", "pinned", "begin_ns - 1000"));
    expect_none("memory that the kernel may write and the host read", HOST_ARGUMENT(PINNED));
    expect_none("managed memory", HOST_ARGUMENT(MANAGED));
    expect_none("arguments that are not known",
                PINNED "UPDATE launch SET arguments = 'unknown', argument_set_id = NULL");
    expect_none("it is for an event", "UPDATE sync SET kind = 'event'");
    expect_none("memory is released",
                "INSERT INTO allocation (id, kind, address, bytes, context_id, thread_id, api_id, "
                "begin_ns, end_ns, free_begin_ns, free_end_ns, free_api_id) SELECT seq, 'device', "
                "seq * 1048576, 4096, 1, 1, 4, 1000000, 1060000, device_end_ns + 30000, "
                "device_end_ns + 40000, 5 FROM launch WHERE seq > 100");
    expect_none("a function of the host runs in the stream",
                HOST_FUNCTION("1", "device_end_ns + 30000"));
    expect_none("a function of the host that it waits for", HOST_FUNCTION("1", "end_ns + 200"));
    expect_none("one in another stream", HOST_FUNCTION("7", "end_ns + 200"));
}

/* Graph 5 has the nodes `nodes`: of `GRAPH_NODE` rows as many as `count`. */
#define GRAPH(count, nodes) \
    "UPDATE launch SET kind = 'graph', graph = 64, kernel_id = NULL, class_id = NULL, arguments " \
    "= " \
    "'unknown', argument_set_id = NULL WHERE seq > 100; INSERT INTO graph (id, handle, " \
    "context_id, " \
    "nodes, begin_ns, end_ns, made_id) VALUES (5, 64, 1, " count ", 1000, NULL, 5); INSERT INTO " \
    "graph_node (graph_id, position, since_ns, node, kind, direction) VALUES " nodes ";"
#define STILL_NODES \
    "(5, 0, 1000, 1, 'kernel', NULL), (5, 1, 1000, 2, 'memset', NULL), (5, 2, 1000, 3, 'copy', " \
    "'d2d')"

/* What a graph does for the host is seen by its nodes alone. */
Test(needless_wait, after_graphs_that_stay_on_the_device)
{
    struct gmt_fixture fixture;

    cr_expect_eq(gmt_fixture_evidence(only(&fixture, GRAPH("3", STILL_NODES)), "waits"), 19);
    gmt_fixture_free(&fixture);
    expect_none("a function of the host",
                GRAPH("4", STILL_NODES ", (5, 3, 1000, 4, 'host', NULL)"));
    expect_none("a copy to the host", GRAPH("4", STILL_NODES ", (5, 3, 1000, 4, 'copy', 'd2h')"));
    expect_none("a copy of which nothing is known",
                GRAPH("4", STILL_NODES ", (5, 3, 1000, 4, 'copy', NULL)"));
    expect_none("a node of another kind",
                GRAPH("4", STILL_NODES ", (5, 3, 1000, 4, 'other', NULL)"));
    expect_none("a node that became a copy to the host",
                GRAPH("3", STILL_NODES ", (5, NULL, 2000, 3, 'copy', 'd2h')"));
    expect_none("a node that was not read", GRAPH("4", STILL_NODES));
    expect_none("another graph", GRAPH("3", STILL_NODES) "UPDATE graph SET handle = 65");
    expect_none("a graph that was another one by then",
                GRAPH("3", STILL_NODES) "UPDATE graph SET end_ns = 2000");
    expect_none("a graph of which some was not read",
                GRAPH("3", STILL_NODES) "INSERT INTO loss (kind, detail, count) VALUES ('graph "
                                        "nodes not read', 'child graphs', 1)");
    expect_none("a trace that does not say what is in graphs",
                GRAPH("3", STILL_NODES) "DROP TABLE graph_node; DROP TABLE graph");
}

/* ---- waits of libraries --------------------------------------------------------------------------- */

#define PACKAGES "/venv/lib/python3.12/site-packages/"
/*
 * The call comes from `function` (NULL: no symbols) in `module`, that from the interpreter, that from the function `python` of
 * `file`, and that from a line of the user's.
 */
#define FROM(module, function, python, file) \
    "INSERT INTO string SELECT 80, " function " WHERE " function \
    " IS NOT NULL; INSERT INTO string " \
    "VALUES (81, '/home/me/train.py'), (82, 'train'), (83, '" python "'), (84, '" file \
    "'); INSERT " \
    "INTO module (id, path, load_bias, start_address, end_address) VALUES (80, '" module \
    "', 0, 7000000, 8000000), (81, '/usr/bin/python3', 0, 8000000, 9000000); INSERT INTO " \
    "frame(id, address, module_id, offset, function_id, file_id, line, runtime) VALUES (81, " \
    "7000100, 80, 100, 80, NULL, NULL, 0), (82, 8000100, 81, 100, NULL, NULL, NULL, 2), (83, -1, " \
    "NULL, NULL, 83, 84, 9, 0), (84, -2, NULL, NULL, 82, 81, 31, 0); INSERT INTO stack VALUES " \
    "(80, " \
    "5); INSERT INTO stack_frame VALUES (80, 0, 1), (80, 1, 81), (80, 2, 82), (80, 3, 83), (80, " \
    "4, " \
    "84); UPDATE sync SET stack_id = 80;"
#define IN_LIBTORCH(function, python, file) \
    FROM(PACKAGES "torch/lib/libtorch_cuda.so", function, python, PACKAGES file)

static void expect_note(const char *library, const char *sql)
{
    struct gmt_fixture fixture;

    gmt_fixture_load_positive(&fixture, "GM118", sql);
    gmt_fixture_analyze(&fixture, "GM118");
    cr_assert_eq(fixture.report.finding_count, 0, "%s: %s", library,
                 gmt_fixture_found(&fixture.report));
    cr_assert_eq(fixture.report.note_count, 1, "%s", library);
    const struct gmt_finding *note = fixture.report.notes;
    cr_expect_not_null(strstr(note->note_why, library), "%s: %s", library, note->note_why);
    cr_expect_null(strstr(note->fix, "Leave out"), "%s", note->fix);
    cr_expect_eq(note->framework, NULL);
    gmt_fixture_free(&fixture);
}

static void expect_advice(const char *begin, const char *sql)
{
    struct gmt_fixture fixture;
    const struct gmt_finding *f = only(&fixture, sql);

    cr_expect_eq(strncmp(f->fix, begin, strlen(begin)), 0, "%s: %s", begin, f->fix);
    cr_expect_not_null(strstr(f->fix, "the time between two events is read after it"), "%s",
                       f->fix);
    gmt_fixture_free(&fixture);
}

Test(needless_wait, that_a_library_makes_itself_is_a_note)
{
    expect_note("a wait of PyTorch", IN_LIBTORCH("'at::native::linalg_eigh_cusolver'", "step",
                                                 "torch/optim/optimizer.py"));
    expect_note("a wait of PyTorch", IN_LIBTORCH("'void thrust::cuda_cub::synchronize<int>(int&)'",
                                                 "step", "torch/optim/optimizer.py"));
    expect_note("a wait of PyTorch", IN_LIBTORCH("NULL", "step", "torch/optim/optimizer.py"));
    expect_note("a wait of a library", FROM("/usr/lib/x86_64-linux-gnu/libcusolver.so.12", "NULL",
                                            "step", PACKAGES "torch/optim/optimizer.py"));
    expect_note("a wait of CuPy", FROM(PACKAGES "cupy_backends/cuda/libs/cusolver.so", "NULL",
                                       "step", PACKAGES "cupy/linalg/_eigenvalue.py"));
}

Test(needless_wait, that_the_program_asks_a_framework_for_is_its_own)
{
    expect_advice("Leave out torch.cuda.synchronize() here",
                  IN_LIBTORCH("NULL", "synchronize", "torch/cuda/__init__.py"));
    expect_advice("Leave out torch.cuda.synchronize() here",
                  IN_LIBTORCH("'THCPModule_cudaSynchronize(_object*, _object*)'", "step",
                              "torch/optim/optimizer.py"));
    expect_advice("Leave out block_until_ready() here",
                  FROM(PACKAGES "jaxlib/xla_extension.so", "NULL", "block_until_ready",
                       PACKAGES "jax/_src/api.py"));
    expect_advice("Leave out synchronize() here",
                  FROM(PACKAGES "cupy/cuda/stream.cpython-312-x86_64-linux-gnu.so", "NULL", "step",
                       "/home/me/step.py"));
    expect_advice("Leave out this wait",
                  FROM(PACKAGES "cupy_backends/cuda/api/runtime.cpython-312.so", "NULL", "step",
                       "/home/me/step.py"));
    /* Of an extension of the program's own, called by a framework. */
    expect_advice("Leave out this wait",
                  FROM("/home/me/libmine.so", "NULL", "step", PACKAGES "torch/optim/optimizer.py"));
}

/* Memory of the host that no kernel gets changes nothing; nor do uploads whose call has done them. */
Test(needless_wait, whatever_else_the_program_has)
{
    struct gmt_fixture fixture;

    cr_expect_eq(gmt_fixture_evidence(only(&fixture, PINNED), "waits"), 19);
    gmt_fixture_free(&fixture);
    cr_expect_eq(gmt_fixture_evidence(
                     only(&fixture, COPY("d2d", "0", "device", "device", "end_ns + 200")), "waits"),
                 19);
    gmt_fixture_free(&fixture);
}
