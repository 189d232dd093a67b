# SPDX-License-Identifier: Apache-2.0
"""read_back.py LIBDUCKDB FOLDER MESSAGES TRACE.db...: every table, row and value that was exported, read by DuckDB, against SQLite's."""
import ctypes, re, sqlite3, struct, sys, tempfile

lib = ctypes.CDLL(sys.argv[1])
database, connection = ctypes.c_void_p(), ctypes.c_void_p()
assert lib.duckdb_open(None, ctypes.byref(database)) == 0
assert lib.duckdb_connect(database, ctypes.byref(connection)) == 0
lib.duckdb_result_error.restype = ctypes.c_char_p


def query(sql):
    """Rows of a query whose cells are numbers, 'x' and hex digits, or NULL."""
    result = (ctypes.c_uint64 * 32)()
    with tempfile.NamedTemporaryFile() as file:
        copy = f"COPY ({sql}) TO '{file.name}' (FORMAT csv, HEADER false, NULLSTR 'NULL', DELIMITER ',')"
        assert lib.duckdb_query(connection, copy.encode(), ctypes.byref(result)) == 0, lib.duckdb_result_error(ctypes.byref(result))
        return [line.rstrip("\n").split(",") for line in open(file.name)]


def cell(value):
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return "x" + value.hex().upper()
    return struct.pack("<d", value) if isinstance(value, float) else str(value)


folder, values, steps = sys.argv[2], 0, {}
for trace in sys.argv[4:]:
    db = sqlite3.connect(trace)
    db.text_factory = bytes
    start, wall = db.execute("SELECT start_ns, realtime_ns FROM process").fetchone()
    offset = wall - start if wall is not None else 0
    trace_id = re.search(re.escape(trace) + r": wrote .*trace_id (\d+)", open(sys.argv[3]).read()).group(1)
    tables = [name.decode() for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'")]
    for table in tables:
        files = f"read_parquet('{folder}/{table}/**/*.parquet', hive_partitioning = false)"
        names = [row[1].decode() if isinstance(row[1], bytes) else row[1] for row in db.execute(f'PRAGMA table_info("{table}")')]
        kinds = [row[2].decode() if isinstance(row[2], bytes) else row[2] for row in db.execute(f'PRAGMA table_info("{table}")')]
        chosen, exported = [], {name for (name, *_) in query(f"SELECT column_name FROM (DESCRIBE SELECT * FROM {files})")}
        for name, kind in zip(names, kinds):
            there = f"{table}_{name}" if name in ("run", "host", "rank") else name
            whole = f'coalesce("{there}_raw", encode("{there}"))' if f"{there}_raw" in exported else f'"{there}"'
            chosen.append(f"'x' || hex({whole})" if kind in ("TEXT", "BLOB") else f'"{there}"')
        keys = query(f"SELECT DISTINCT decode(key)[6:] FROM parquet_kv_metadata('{folder}/{table}/**/*.parquet') WHERE decode(key) LIKE 'unit.%'")
        assert {key for (key,) in keys} == exported, (table, exported)
        got = query(f"SELECT {', '.join(chosen)} FROM {files} WHERE trace_id = {trace_id}")
        # Steps are made of the calls, with names of their own; a trace of sums has them itself.
        aggregated = db.execute("SELECT count(*) FROM meta WHERE key = 'aggregate'").fetchone()[0]
        if not aggregated and (table == "step" or table.startswith("step_")):
            steps[table] = steps.get(table, 0) + len(got)
            continue
        if not aggregated and table == "string":
            known = max((row[0] for row in db.execute("SELECT id FROM string")), default=0)
            got = [row for row in got if int(row[names.index("id")]) <= known]
        wanted = db.execute("SELECT " + ", ".join(f'"{name}"' for name in names) + f' FROM "{table}"').fetchall()
        assert len(got) == len(wanted), (trace, table, len(got), len(wanted))
        for row, (mine, theirs) in enumerate(zip(got, wanted)):
            for name, kind, a, b in zip(names, kinds, mine, theirs):
                is_time = name.endswith(("begin_ns", "start_ns", "end_ns")) or name == "since_ns"
                b = b + offset if is_time and b is not None else b
                a = struct.pack("<d", float(a)) if kind == "REAL" and a != "NULL" else a
                assert a == cell(b), (trace, table, row, name, a, b)
                values += 1
print(values, "values")
assert steps.get("step", 1) > 0 and steps.get("step_call", 1) > 0, steps
assert values > 1000
