# SPDX-License-Identifier: Apache-2.0
"""What traces say of their own coverage (table coverage), against what is known of the programs."""

# Of `graph 20`: five nodes, one of them a memset, two of them kernels.
GRAPH = {"graph launches": 20, "kernels in graphs": 40, "copies in graphs": 40, "memsets in graphs": 20}
# A program linked with cudart makes some 400 requests before its first call; one of gmtrace's own makes none.
FEWEST_REQUESTS = 100


def rows(session, path, kind):
    with session.open(path) as db:
        return db.execute("SELECT what, class, requests, expected, seen, extra, detail FROM coverage "
                          "WHERE kind = ?", (kind,)).fetchall()


def agrees(session, what, path):
    """Hooks and CUPTI report the same of every kind of work, and the table covers all that there is."""
    records = rows(session, path, "records")
    differ = [row for row in records if row[3] != row[4] or row[5] != 0]
    with session.open(path) as db:
        examples = db.execute("SELECT what, side, detail FROM coverage_example").fetchall()
        joined = sum(db.execute(f"SELECT count(*) FROM {table} WHERE device_end_ns IS NOT NULL"
                                ).fetchone()[0] for table in ("transfer", "memset", "launch"))
    seen = sum(row[4] for row in records if not row[0].endswith("in graphs"))
    session.check(f"{what}: the trace's own check finds all that was joined, and no residual",
                  records and not differ and seen == joined,
                  f"{seen} of {joined}, {differ or [row[:1] + row[3:6] for row in records]} {examples}")


def lookup_paths(session, what, path, fewest=FEWEST_REQUESTS):
    found = {row[0]: row[2] for row in rows(session, path, "lookup_path")}
    session.check(f"{what}: lookup paths are counted", sum(found.values()) >= fewest, found)
    with session.open(path) as db:
        uncounted = db.execute(
            "SELECT what, expected FROM coverage WHERE kind = 'entry point' AND class <> 'other' AND "
            "(expected IS NULL OR (expected > 0 AND what NOT IN (SELECT detail FROM loss)))").fetchall()
    session.check(f"{what}: calls of functions without a hook are counted", not uncounted, uncounted)


def runtime(session, what, path, file, form):
    """`form` of the runtime that the module with that file name has."""
    found = [(row[1], row[6]) for row in rows(session, path, "runtime")
             if row[0].rsplit("/", 1)[-1] == file]
    session.check(f"{what}: {form} runtime in {file}", [row[0] for row in found] == [form]
                  and "version" in (found[0][1] or ""), found)


def graphs(session, path):
    found = {row[0]: row[4] for row in rows(session, path, "records")}
    session.check("graph: every node of every launch is reported by CUPTI",
                  all(found.get(what) == number for what, number in GRAPH.items()), found)


def uncovered(session):
    """A function without a hook is counted through every lookup path, and known after SIGKILL."""
    program = session.programs / "lookup_paths"
    name = "cuMemRetainAllocationHandle"
    for via, by in (("dlsym", "dlsym"), ("proc", "cuGetProcAddress"), ("proc_v2", "cuGetProcAddress_v2")):
        for end in ("exit", "kill"):
            _, path = session.traced(f"paths_{via}_{end}", [program, via, end])
            found = [row[1:5] + row[6:] for row in rows(session, path, "entry point") if row[0] == name]
            session.check(f"lookup paths, {via}, {end}: five calls past the hooks are counted",
                          found == [("map", 1, 5, 0, by)], found)
