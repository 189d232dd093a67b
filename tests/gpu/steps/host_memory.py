# SPDX-License-Identifier: Apache-2.0
"""Kernels that are given memory of the host: those that do not wait for it are measured, those that do are not kept from
it, and whoever measures beside another thread's captures and modules disturbs neither."""

import os
import re
import sys

ROUNDS = 5
COMPLETE = ("SELECT k.name, count(DISTINCT c.grp) FROM kernel_class s JOIN kernel k ON k.id = s.kernel_id LEFT JOIN "
            "kernel_counters c ON c.class_id = s.id AND c.value IS NOT NULL AND c.grp IN ('hardware', 'patched') "
            "GROUP BY s.id")


def messages(text):
    """What a program says on stderr, without numbers (times, addresses, processes) and gmtrace's own lines. XLA warns by
    chance, by what its timers see."""
    return {re.sub(r"[0-9]+", "N", line) for line in text.splitlines() if not line.startswith("gmtrace: ")}


def run(session):
    program = session.programs / "host_memory"
    for memory in ("managed", "pinned"):
        path = session.same_behaviour(memory, [program, memory, "8"], f"host_{memory}")
        classes = dict(session.rows(path, COMPLETE))
        reasons = session.rows(path, "SELECT detail FROM loss WHERE kind LIKE 'kernel class%'")
        session.check(f"{memory}: both kernels have hardware counters and counts",
                      len(classes) == 2 and set(classes.values()) == {2}, (classes, reasons))
    for mode in ("late", "failed"):
        path = session.same_behaviour(mode, [program, mode, "3"], f"host_{mode}")
        said = session.plain([program, mode, "3"]).stdout
        session.check(f"{mode}: the host came in time", "waited too long" not in said, said)
    for mode in ("capture", "module"):
        for turn in range(ROUNDS):
            path = session.same_behaviour(f"{mode}, turn {turn + 1}", [program, mode, "200"], f"host_{mode}")
            session.joined(f"{mode}, turn {turn + 1}", path)
    command = [sys.executable, session.sources / "programs" / "conv_jax.py"]
    turns = [session.run_in(command, {**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}) for _ in range(ROUNDS)]
    plain, known = turns[0], set().union(*(messages(turn.stderr) for turn in turns))
    for turn in range(ROUNDS):
        done, path = session.traced("host_jax", command, XLA_PYTHON_CLIENT_PREALLOCATE="false")
        new = messages(done.stderr) - known
        session.check(f"JAX, turn {turn + 1}: output, status and what it says are unchanged",
                      (done.stdout, done.returncode) == (plain.stdout, plain.returncode) and not new,
                      (done.returncode, done.stdout, sorted(new)[:3]))
        session.joined(f"JAX, turn {turn + 1}", path)
        classes = session.rows(path, COMPLETE)
        session.note(f"JAX, turn {turn + 1}: classes, complete",
                     (len(classes), sum(groups == 2 for _, groups in classes)))
