# SPDX-License-Identifier: Apache-2.0
"""Programs as users have them: the trace has exactly the copies and launches that each is known to
make, and the findings are those that it deserves."""

import json
import pathlib
import sys
from typing import NamedTuple

from .models import calibrated

MIB = 1 << 20
STEPS = 60      # of the training loop
LAUNCHES = 200  # of the graph
FRAMES = 32     # of the pipeline over streams
ROUNDS = 20     # of two processes; CuPy's and Triton's scripts have 10


class Fact(NamedTuple):
    """A count that the program is known for: one number, or several."""
    what: str
    sql: str
    expected: tuple


class Client(NamedTuple):
    name: str
    command: list
    facts: list[Fact]
    fires: set[str] = frozenset()  # one of these has to be among the findings
    quiet: str = ""                # no finding's rule may begin with one of these words


def copies(what: str, where: str, expected: int) -> Fact:
    return Fact(what, "SELECT count(*) FROM transfer WHERE result = 0 AND capturing = 0 AND "
                + where, (expected,))


def launches(kernel: str, expected: int) -> Fact:
    return Fact(f"launches of {kernel}", "SELECT count(*) FROM launch l JOIN kernel k ON "
                "k.id = l.kernel_id WHERE l.result = 0 AND l.capturing = 0 AND "
                f"k.name LIKE '{kernel}%'", (expected,))


def training(folder: pathlib.Path, memory: str) -> Client:
    batch = f"direction = 'h2d' AND bytes = {16 * MIB}"
    return Client(
        f"DataLoader, {memory}",
        [sys.executable, folder / "dataloader_torch.py", memory, "--steps", STEPS],
        [copies("batches", f"{batch} AND src_class = '{memory}'", STEPS),
         copies("batches from other memory", f"{batch} AND src_class <> '{memory}'", 0),
         copies("targets", "direction = 'h2d' AND bytes = 4096", STEPS),
         copies("the loss", "direction = 'd2h' AND bytes = 4", 1)],
        {"GM102", "GM103"} if memory == "pageable" else set(),
        "" if memory == "pageable" else "GM102 GM103")


def clients(session) -> list[Client]:
    folder = session.sources / "programs"
    words, odd = 4 * MIB, 4 * 1_000_003
    return [
        training(folder, "pageable"),
        training(folder, "pinned"),
        Client("CuPy", [sys.executable, folder / "cupy_script.py"],
               [copies("uploads", f"direction = 'h2d' AND bytes = {words}", 10),
                copies("read-backs", f"direction = 'd2h' AND bytes = {words}", 10),
                copies("sums", "direction = 'd2h' AND bytes = 8", 10), launches("scale", 20)]),
        Client("Triton", [sys.executable, folder / "triton_script.py"],
               [copies("uploads", f"direction = 'h2d' AND bytes = {odd}", 11),
                copies("read-backs", f"direction = 'd2h' AND bytes = {odd}", 10),
                launches("vector_add", 10)]),
        Client("graph", [session.programs / "graph", LAUNCHES],
               [Fact("launches of the graph", "SELECT count(*) FROM launch WHERE kind = 'graph' "
                     "AND result = 0", (LAUNCHES,)),
                Fact("copies, memsets and kernels of all launches", "SELECT sum(kind = 'copy'), "
                     "sum(kind = 'memset'), sum(kind = 'kernel') FROM v_graph_launch",
                     (2 * LAUNCHES, LAUNCHES, 2 * LAUNCHES)),
                copies("copies outside of it", "1", 1)]),
        Client("pipeline over streams",
               [session.programs / "twins" / "frames", "serial", "--good", "--steps", FRAMES],
               [copies("uploads", f"direction = 'h2d' AND bytes = {8 * MIB}", FRAMES),
                copies("read-backs", f"direction = 'd2h' AND bytes = {8 * MIB}", FRAMES),
                Fact("streams", "SELECT count(DISTINCT stream_id) FROM transfer "
                     "WHERE result = 0", (4,)), launches("k_filter", FRAMES)],
               quiet="GM1 GM2"),
    ]


def hold(session, name: str, path: pathlib.Path, facts: list[Fact]) -> None:
    with session.open(path) as db:
        for fact in facts:
            seen = db.execute(fact.sql).fetchone()
            session.check(f"{name}: {fact.what}", seen == fact.expected,
                          f"{seen}, expected {fact.expected}")
        losses = db.execute("SELECT kind, detail, count FROM loss "
                            "WHERE kind <> 'entry point not covered'").fetchall()
    session.check(f"{name}: nothing was lost", not losses, losses)


def judge(session, client: Client, path: pathlib.Path) -> None:
    done = session.plain([session.build / "bin" / "gmanalyze", *calibrated(session), "--format",
                          "json", path])
    if not session.check(f"{client.name}: analysed", done.returncode == 0, done.stderr[-200:]):
        return
    report = json.loads(done.stdout)
    found = [f"{f['rule']} {f['where']['label']}" for f in report["findings"]]
    rules = {f["rule"] for f in report["findings"]}
    session.note(f"{client.name}: findings", found)
    if client.fires:
        session.check(f"{client.name}: {' or '.join(sorted(client.fires))} is found",
                      bool(client.fires & rules), found)
    if client.quiet:
        spoken = [rule for rule in rules if rule.startswith(tuple(client.quiet.split()))]
        session.check(f"{client.name}: no {client.quiet.replace(' ', ' and no ')}", not spoken,
                      found)


def python_frames(session, path: pathlib.Path, script: str) -> None:
    """The script's functions and lines are on the copies' stacks."""
    frames = session.one(path, "SELECT count(*) FROM transfer t JOIN v_stack s "
                               f"ON s.stack_id = t.stack_id WHERE s.function = 'train' AND s.line > 0 AND "
                               f"s.file LIKE '%/{script}'")
    session.check(f"copies name functions of {script}", frames > 0, frames)


def two_processes(session, handle: str) -> None:
    """Each process has a trace of its own, with its own half of the work."""
    name = f"two processes, {handle}"
    command = [session.programs / "ipc", ROUNDS, handle]
    bare = session.plain(command)
    for old in session.traces("ipc.*.db"):
        old.unlink()
    done, _ = session.traced(f"ipc_{handle}", command, GMTRACE_COUNTERS="off",
                             GMTRACE_OUTPUT=str(session.work / "ipc.%p.db"))
    paths = session.traces("ipc.*.db")
    session.check(f"{name}: output and status unchanged", bare.returncode == 0 and
                  (bare.stdout, bare.returncode) == (done.stdout, done.returncode),
                  f"{bare.stdout.strip()} {bare.stderr[-200:]} -> {done.stderr[-200:]}")
    session.note(f"{name}: handed over by", bare.stdout.split()[-1:])
    if not session.check(f"{name}: two traces", len(paths) == 2, [path.name for path in paths]):
        return
    handles = [session.one(path, "SELECT ifnull(group_concat(DISTINCT kind || ' ' || hash), '') FROM memory_handle")
               for path in paths]
    if "ipc" in bare.stdout.split()[-1:]:
        session.check(f"{name}: one process opened what the other exported",
                      sorted(text.split()[:1] for text in handles) == [["exported"], ["imported"]] and
                      len({text.split()[1] for text in handles}) == 1, handles)
    size = 4 * MIB
    for path in paths:
        owner = session.one(path, "SELECT count(*) FROM kernel WHERE name LIKE 'k_owner%'") > 0
        who = "owner" if owner else "worker"
        hold(session, f"{name}, {who}", path, [
            copies("read-backs", f"direction = 'd2h' AND bytes = {size}", ROUNDS),
            copies("copies on the device", f"direction = 'd2d' AND bytes = {size}",
                   0 if owner else ROUNDS),
            launches("k_owner", ROUNDS if owner else 0),
            launches("k_worker", 0 if owner else ROUNDS)])
        session.joined(f"{name}, {who}", path)


def run(session):
    for client in clients(session):
        name = client.name.replace(" ", "_").replace(",", "")
        path = session.same_behaviour(client.name, client.command, name, GMTRACE_COUNTERS="off")
        if not session.check(f"{client.name}: there is a trace", path.exists(), path.name):
            continue
        hold(session, client.name, path, client.facts)
        session.joined(client.name, path)
        judge(session, client, path)
        if client.name == "DataLoader, pageable":
            python_frames(session, path, "dataloader_torch.py")
    for handle in ("ipc", "fd"):
        two_processes(session, handle)
