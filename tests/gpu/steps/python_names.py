# SPDX-License-Identifier: Apache-2.0
"""Functions of Python 3.12 and newer in the stack of a call, by the maps of its perf trampoline."""

import pathlib
import shutil
import sys

FUNCTIONS = ["upload", "Loader.batch", "main", "<module>"]
CHAIN = """SELECT s.function FROM transfer t JOIN v_stack s ON s.stack_id = t.stack_id
           WHERE s.module IS NULL AND s.file LIKE '%/driver_names.py' ORDER BY s.position"""
INTERPRETER = """SELECT count(*), coalesce(sum(s.runtime = 2), 0) FROM transfer t
                 JOIN v_stack s ON s.stack_id = t.stack_id
                 WHERE s.module LIKE '%libpython3%' OR s.module LIKE '%/bin/python3%'"""


# As deep as a program may recurse that changes nothing.
DEEP = """import sys
def down(levels):
    return down(levels - 1) + 1 if levels else 0
print(down(sys.getrecursionlimit() - 20))"""


def interpreter():
    if sys.version_info >= (3, 12):
        return sys.executable
    return next(filter(None, map(shutil.which, ("python3.12", "python3.13", "python3.14"))), None)


def remove_map(pid):
    pathlib.Path(f"/tmp/perf-{pid}.map").unlink(missing_ok=True)


def launched(session, command, name):
    """Under gmtrace, which sets the variable by itself where Python recurses no less for it."""
    path = session.trace_path(name)
    done = session.plain([session.build / "bin" / "gmtrace", "--collect", "light", "-o", path,
                          *command])
    session.wait(path)
    return done, path


def named(session, path):
    """The functions of the program that the copies' stacks name."""
    with session.open(path) as db:
        return [function for (function,) in db.execute(CHAIN)]


def by_itself(session, python, command):
    plain = session.plain(command)
    done, path = launched(session, command, "python_launched")
    remove_map(session.one(path, "SELECT pid FROM process"))
    session.check("gmtrace python: output and status unchanged", (plain.stdout, plain.returncode) ==
                  (done.stdout, done.returncode), done.stderr[-200:])
    version = session.plain([python, "-V"]).stdout.split()[1]
    harmless = tuple(map(int, version.split(".")[:2])) >= (3, 13) or (
        version.startswith("3.12.") and int(version.split(".")[2]) >= 3)
    session.check(f"gmtrace python: functions of {version} have names by themselves"
                  if harmless else f"gmtrace python: {version} is left as it is",
                  named(session, path) == (FUNCTIONS if harmless else []), named(session, path))
    deep = [python, "-c", DEEP]
    plain = session.plain(deep)
    done, _ = launched(session, deep, "python_deep")
    # The program makes no CUDA call: 125 says that the trace that was asked for was not made.
    session.check("gmtrace python: recurses as deep as before",
                  plain.returncode == 0 and plain.stdout == done.stdout and done.returncode == 125,
                  f"{plain.stdout.strip()} levels {done.stderr[-200:]}")


def run(session):
    python = interpreter()
    if not session.check("an interpreter of Python 3.12 or newer", python is not None, python):
        return
    command = [python, session.sources / "programs" / "driver_names.py"]
    path = session.same_behaviour("Python with names", command, "python_names", "light",
                                  PYTHONPERFSUPPORT="1")
    remove_map(session.one(path, "SELECT pid FROM process"))
    with session.open(path) as db:
        frames, hidden = db.execute(INTERPRETER).fetchone()
    session.check("the program's functions, innermost first", named(session, path) == FUNCTIONS,
                  named(session, path))
    session.check("the interpreter's own frames are marked", frames == hidden > 0,
                  f"{hidden} of {frames}")
    session.check("every copy has a stack", session.one(
        path, "SELECT count(*) FROM transfer WHERE stack_id IS NOT NULL") == 1)
    by_itself(session, python, command)
