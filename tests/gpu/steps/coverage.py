# SPDX-License-Identifier: Apache-2.0
"""Every copy, allocation and launch is in the trace: static, shared and ctypes builds."""

import sys

from . import self_check

MIB2 = 2 << 20

# What the trace must say of a scenario of tests/clients: (what, SQL, expected). As tests/e2e does on the
# software device; the order of a graph's nodes is the driver's.
SCENARIOS = {
    "mapped 3": (
        ("mappings", "SELECT count(*), sum(bytes) FROM allocation WHERE kind = 'mapped'", (3, 3 * MIB2)),
        ("unmapped by one call", "SELECT count(DISTINCT free_begin_ns) FROM allocation "
         "WHERE kind = 'mapped' AND free_end_ns IS NOT NULL", (1,)),
        ("physical memory", "SELECT count(*), sum(bytes) FROM api_call c JOIN api a ON a.id = c.api_id "
         "WHERE a.name = 'cuMemCreate'", (3, 3 * MIB2)),
        ("copies into it", "SELECT count(*) FROM transfer t JOIN allocation a ON a.id = "
         "coalesce(t.dst_allocation_id, t.src_allocation_id) WHERE a.kind = 'mapped'", (2,)),
    ),
    "memory": (
        ("arrays", "SELECT count(*), sum(bytes), count(free_end_ns) FROM allocation "
         "WHERE kind = 'array'", (2, 3072, 2)),
        ("copies of a 3-D batch", "SELECT count(*), sum(bytes), count(DISTINCT begin_ns) FROM transfer t "
         "JOIN api a ON a.id = t.api_id WHERE a.name LIKE 'cuMemcpy3DBatchAsync%'", (2, 3072, 1)),
        ("hints", "SELECT count(*), sum(bytes) FROM api_call c JOIN api a ON a.id = c.api_id "
         "WHERE a.name LIKE 'cuMemPrefetch%' OR a.name LIKE 'cuMemAdvise%' "
         "OR a.name LIKE 'cuStreamAttach%'", (4, 4 * 8192)),
        ("trim and threshold", "SELECT count(*), sum(bytes) FROM api_call c JOIN api a ON a.id = c.api_id "
         "WHERE a.name IN ('cuMemPoolTrimTo', 'cuMemPoolSetAttribute')", (3, 4096 + (1 << 20) + (1 << 57))),
        ("stream priority", "SELECT count(*) FROM stream WHERE priority = -1", (1,)),
    ),
    "copies_named_otherwise": (
        ("directions", "SELECT group_concat(direction, ' ') FROM (SELECT direction FROM transfer ORDER BY begin_ns)",
         ("h2h h2d d2h h2h",)),
        ("CUPTI's records are theirs", "SELECT count(*), sum(call_id IS NULL) FROM device_op WHERE kind = 'copy'", (4, 0)),
    ),
    "graphs 4": (
        ("graphs", "SELECT count(*), count(end_ns), sum(nodes) FROM graph", (3, 3, 9)),
        ("copies of all launches", "SELECT count(*), sum(bytes), count(DISTINCT direction) "
         "FROM v_graph_launch WHERE kind = 'copy' AND direction = 'h2d'", (10, 10240, 1)),
        ("memsets of all launches", "SELECT count(*), sum(bytes) FROM v_graph_launch "
         "WHERE kind = 'memset'", (10, 4 * 1024 + 256 + 5 * 512)),
        ("kernels of all launches", "SELECT count(*), sum(kernel = 'vector_add') FROM v_graph_launch "
         "WHERE kind = 'kernel'", (10, 10)),
        ("CUPTI saw as many copies and memsets", "SELECT sum(kind = 'copy'), sum(kind = 'memset') "
         "FROM device_op WHERE graph IS NOT NULL", (10, 10)),
    ),
    "graph_switches": (
        ("copies that are not switched off", "SELECT count(*), sum(bytes) FROM v_graph_launch "
         "WHERE kind = 'copy'", (6, 6144)),
        ("memsets that are not switched off", "SELECT count(*), sum(bytes) FROM v_graph_launch "
         "WHERE kind = 'memset'", (4, 2 * 1024 + 2 * 256)),
        ("CUPTI saw the same copies and memsets", "SELECT sum(kind = 'copy'), sum(kind = 'memset'), "
         "sum(CASE WHEN kind = 'memset' THEN bytes END) FROM device_op WHERE graph IS NOT NULL",
         (6, 4, 2 * 1024 + 2 * 256)),
    ),
}

CONTEXTS = (
    ("memory and what ended it", "SELECT group_concat(bytes || ':' || name, ' ') FROM (SELECT m.bytes, "
     "a.name FROM allocation m JOIN api a ON a.id = m.free_api_id ORDER BY m.id)",
     ("64:cuMemFree_v2 128:cuDevicePrimaryCtxReset_v2 256:cuDevicePrimaryCtxRelease_v2",)),
    ("contexts", "SELECT count(*) FROM context", (3,)),
)
# On two devices.
STREAMS = (
    ("streams of the first device, by priority", "SELECT group_concat(s.priority || ':' || "
     "iif(s.end_ns > 0, 'ended', 'open'), ' ') FROM (SELECT * FROM stream WHERE handle > 2 "
     "ORDER BY priority) s JOIN context c ON c.id = s.context_id WHERE c.device_id = 0", ("-1:ended 0:ended",)),
    ("streams of the second device", "SELECT count(*) FROM stream s JOIN context c ON c.id = s.context_id "
     "WHERE c.device_id = 1 AND s.handle > 2", (0,)),
    ("copies with device times", "SELECT count(*), count(device_start_ns) FROM transfer", (3, 3)),
)

# Where the builds of the sample program have the CUDA runtime, by file name of the module.
RUNTIMES = {
    "static": {"pipeline_slow": "static"},
    "shared": {"pipeline_slow_shared": "shared"},
    "ctypes": {"libpipeline_slow.so": "static"},
}


def scenario(session, program, words, facts):
    name = words.split()[0]
    path = session.same_behaviour(f"driver calls, {name}", [session.programs / program, *words.split()],
                                  f"{program}_{name}")
    session.joined(f"driver calls, {name}", path)
    with session.open(path) as db:
        for what, sql, expected in facts:
            seen = db.execute(sql).fetchone()
            session.check(f"{name}: {what}", seen == expected, f"{seen}, expected {expected}")
        uncovered = db.execute("SELECT detail FROM loss WHERE kind = 'entry point not covered'").fetchall()
    session.check(f"{name}: every driver call is covered", not uncovered, uncovered)


def run(session):
    for words, facts in SCENARIOS.items():
        scenario(session, "driver_calls", words, facts)
    scenario(session, "driver_regressions", "contexts", CONTEXTS)
    pipeline = session.build / "bin"
    small = ["--size", "512", "--frames", "4"]
    builds = {
        "static": [pipeline / "pipeline_slow", *small],
        "shared": [pipeline / "pipeline_slow_shared", *small],
        "ctypes": [sys.executable,
                   session.sources.parents[1] / "examples" / "pipeline" / "run_ctypes.py",
                   session.build / "lib" / "libpipeline_slow.so", *small],
    }
    seen = {}
    for build, command in builds.items():
        path = session.same_behaviour(f"pipeline, {build}", command, f"pipeline_{build}")
        session.joined(f"pipeline, {build}", path)
        self_check.lookup_paths(session, f"pipeline, {build}", path)
        for file, form in RUNTIMES[build].items():
            self_check.runtime(session, f"pipeline, {build}", path, file, form)
        with session.open(path) as db:
            seen[build] = tuple(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                                for table in ("transfer", "memset", "launch", "allocation"))
    session.check("the three builds give the same counts of copies, memsets, launches, allocations",
                  len(set(seen.values())) == 1, seen)
    for name in ("every_api", "every_api_shared", "graph", "copies 2000 64 async"):
        words = name.split()
        # CUPTI's records of whole graphs are what is asked about; the step `graphs` looks at those launched by steps.
        path = session.same_behaviour(words[0], [session.programs / words[0], *words[1:]],
                                      words[0], GMTRACE_GRAPH_STEPS="off")
        session.joined(words[0], path)
        if words[0] == "graph":
            self_check.graphs(session, path)
    path = session.same_behaviour("driver API", [session.programs / "driver_api", "--strict"],
                                  "driver_api")
    session.joined("driver API", path)
    self_check.uncovered(session)
