# SPDX-License-Identifier: Apache-2.0
"""Functions and lines of Python in the stack of a call, read from the interpreter."""

import sys

FUNCTIONS = [name if sys.version_info >= (3, 11) else name.rsplit(".", 1)[-1]
             for name in ("upload", "Loader.batch", "main", "<module>")]
CHAIN = """SELECT s.function || CASE WHEN s.line IS NULL THEN ' without line' ELSE '' END
           FROM transfer t JOIN v_stack s ON s.stack_id = t.stack_id
           WHERE s.module IS NULL AND s.file LIKE '%/driver_names.py' ORDER BY s.position"""
INTERPRETER = """SELECT count(*), coalesce(sum(s.runtime = 2), 0) FROM transfer t
                 JOIN v_stack s ON s.stack_id = t.stack_id
                 WHERE s.module LIKE '%libpython3%' OR s.module LIKE '%/bin/python3%'"""


def run(session):
    command = [sys.executable, session.sources / "programs" / "driver_names.py"]
    path = session.same_behaviour("Python with names", command, "python_names", "light")
    with session.open(path) as db:
        frames, hidden = db.execute(INTERPRETER).fetchone()
        named = [function for (function,) in db.execute(CHAIN)]
    session.check("the program's functions, innermost first", named == FUNCTIONS, named)
    session.check("the interpreter's own frames are marked", frames == hidden > 0,
                  f"{hidden} of {frames}")
    session.check("every copy has a stack", session.one(
        path, "SELECT count(*) FROM transfer WHERE stack_id IS NOT NULL") == 1)
