# SPDX-License-Identifier: Apache-2.0
"""Functions of Python 3.12 and newer in the stack of a call, by the maps of its perf trampoline."""

import pathlib
import shutil
import sys

CHAIN = """SELECT s.function FROM transfer t JOIN v_stack s ON s.stack_id = t.stack_id
           WHERE s.module IS NULL AND s.file LIKE '%/driver_names.py' ORDER BY s.position"""
INTERPRETER = """SELECT count(*), coalesce(sum(s.runtime = 2), 0) FROM transfer t
                 JOIN v_stack s ON s.stack_id = t.stack_id
                 WHERE s.module LIKE '%libpython3%' OR s.module LIKE '%/bin/python3%'"""


def interpreter():
    if sys.version_info >= (3, 12):
        return sys.executable
    return next(filter(None, map(shutil.which, ("python3.12", "python3.13", "python3.14"))), None)


def run(session):
    python = interpreter()
    if not session.check("an interpreter of Python 3.12 or newer", python is not None, python):
        return
    command = [python, session.sources / "programs" / "driver_names.py"]
    path = session.same_behaviour("Python with names", command, "python_names", "light",
                                  PYTHONPERFSUPPORT="1")
    pathlib.Path(f"/tmp/perf-{session.one(path, 'SELECT pid FROM process')}.map").unlink(
        missing_ok=True)
    with session.open(path) as db:
        chain = [function for (function,) in db.execute(CHAIN)]
        frames, hidden = db.execute(INTERPRETER).fetchone()
    session.check("the program's functions, innermost first",
                  chain == ["upload", "Loader.batch", "main", "<module>"], chain)
    session.check("the interpreter's own frames are marked", frames == hidden > 0,
                  f"{hidden} of {frames}")
    session.check("every copy has a stack", session.one(
        path, "SELECT count(*) FROM transfer WHERE stack_id IS NOT NULL") == 1)
