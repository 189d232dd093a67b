# SPDX-License-Identifier: Apache-2.0
"""Traces of the software device in a file that git can carry: column by column, whole numbers as differences.

One JSON object per trace, in one .xz. Left out is what prices do not read and what is of the machine that recorded: text of
sources, fingerprints of copies, its name and folders. Times of the CPU, which mean nothing, become numbers
in the same order.
"""

import json
import lzma
import pathlib
import sqlite3

LEFT_OUT = ("source_file", "fingerprint")


def quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def tables_of(db: sqlite3.Connection) -> list[str]:
    return [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]


def columns_of(db: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in db.execute(f"PRAGMA table_info({quote(table)})")]


def neutral(db: sqlite3.Connection, folders: list[str]) -> None:
    times = [(table, column) for table in tables_of(db) for column in columns_of(db, table) if column.endswith("_ns")]
    found: set[int] = set()
    for table, column in times:
        found |= {value for (value,) in db.execute(f"SELECT DISTINCT {quote(column)} FROM {quote(table)}")
                  if isinstance(value, int) and value > 0}
    order = {value: number for number, value in enumerate(sorted(found), 1)}
    db.create_function("number_of", 1, lambda value: order.get(value, value))
    for table, column in times:
        db.execute(f"UPDATE {quote(table)} SET {quote(column)} = number_of({quote(column)})")
    for table in tables_of(db):
        for column in columns_of(db, table):
            for folder in folders:
                db.execute(f"UPDATE {quote(table)} SET {quote(column)} = replace({quote(column)}, ?, '/src/gmtrace') "
                           f"WHERE typeof({quote(column)}) = 'text' AND instr({quote(column)}, ?) > 0", (folder, folder))
    db.execute("UPDATE process SET hostname = 'host', pid = 1")
    for table in LEFT_OUT:
        db.execute(f"DELETE FROM {quote(table)}")


def pack_column(values: list) -> dict:
    if any(isinstance(value, bytes) for value in values):
        return {"hex": [value.hex() if isinstance(value, bytes) else value for value in values]}
    if all(isinstance(value, int) for value in values):
        return {"steps": [values[0]] + [b - a for a, b in zip(values, values[1:])]}
    return {"values": values}


def unpack_column(packed: dict) -> list:
    if "hex" in packed:
        return [bytes.fromhex(value) if isinstance(value, str) else value for value in packed["hex"]]
    if "steps" not in packed:
        return packed["values"]
    sums, total = [], 0
    for step in packed["steps"]:
        total += step
        sums.append(total)
    return sums


def pack_trace(path: pathlib.Path, folders: list[str]) -> dict:
    with sqlite3.connect(":memory:") as db:
        with sqlite3.connect(path) as trace:
            trace.backup(db)
        neutral(db, folders)
        schema = [sql for (sql,) in db.execute(
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' "
            "ORDER BY CASE type WHEN 'table' THEN 0 WHEN 'view' THEN 1 ELSE 2 END, rowid")]
        rows = {}
        for table in tables_of(db):
            values = db.execute(f"SELECT * FROM {quote(table)}").fetchall()
            if values:
                rows[table] = {column: pack_column(list(of)) for column, of in zip(columns_of(db, table), zip(*values))}
        return {"application_id": db.execute("PRAGMA application_id").fetchone()[0],
                "user_version": db.execute("PRAGMA user_version").fetchone()[0], "schema": schema, "tables": rows}


def unpack_trace(packed: dict, path: pathlib.Path) -> None:
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA application_id = {int(packed['application_id'])}")
    db.execute(f"PRAGMA user_version = {int(packed['user_version'])}")
    for sql in packed["schema"]:
        db.execute(sql)
    for table, columns in packed["tables"].items():
        names = ", ".join(quote(column) for column in columns)
        places = ", ".join("?" for _ in columns)
        db.executemany(f"INSERT INTO {quote(table)} ({names}) VALUES ({places})",
                       zip(*(unpack_column(column) for column in columns.values())))
    db.commit()
    db.close()


def pack(traces: dict[str, pathlib.Path], folders: list[str], out: pathlib.Path) -> None:
    text = json.dumps({name: pack_trace(path, folders) for name, path in traces.items()}, separators=(",", ":"))
    out.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def unpack(packed: pathlib.Path, folder: pathlib.Path) -> None:
    """NAME.db in the folder for each."""
    for name, trace in json.loads(lzma.decompress(packed.read_bytes())).items():
        unpack_trace(trace, folder / f"{name}.db")
