# SPDX-License-Identifier: Apache-2.0
"""Programs that use CUPTI themselves: they get what they get without us, and the trace says when."""

import json
import pathlib
import sys

from .session import differing

IN_GAP = ("EXISTS (SELECT 1 FROM device_gap g WHERE c.begin_ns >= g.begin_ns "
          "AND (g.end_ns IS NULL OR c.end_ns <= g.end_ns))")


def profiles(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def counted(seen):
    """Kernels, copies and memsets of a profile."""
    kinds = {"transfer": 0, "memset": 0, "launch": 0}
    for name, number in seen.items():
        kinds["transfer" if name.startswith("Memcpy") else
              "memset" if name.startswith("Memset") else "launch"] += number
    return kinds


def check_gaps(session, what, path, number, client):
    """There may be more, short ones: setting an attribute takes CUPTI for a moment."""
    with session.open(path) as db:
        gaps = db.execute("SELECT client, request, end_ns - begin_ns FROM device_gap").fetchall()
    session.check(f"{what}: {number} or more times without device times, all ended, of {client}",
                  len(gaps) >= number and all(client in who and length is not None and length > 0
                                              for who, _, length in gaps), gaps)


def check_rest(session, what, path):
    """Outside of the gaps everything has device times, before, between and after."""
    with session.open(path) as db:
        loose = db.execute("SELECT count(*) FROM device_op WHERE call_id IS NULL").fetchone()[0]
        missing, last = {}, {}
        for table, good in (("transfer", "bytes > 0"), ("memset", "bytes > 0"),
                            ("launch", "measured IS NULL AND no_activity = 0")):
            missing[table] = db.execute(
                f"SELECT count(*) FROM {table} c WHERE result = 0 AND capturing = 0 AND {good} "
                f"AND device_start_ns IS NULL AND NOT {IN_GAP}").fetchone()[0]
            last[table] = db.execute(
                f"SELECT count(device_start_ns) FROM {table} WHERE begin_ns > "
                "(SELECT max(end_ns) FROM device_gap)").fetchone()[0]
        losses = db.execute("SELECT kind, detail, count FROM loss "
                            "WHERE kind NOT LIKE 'kernel class%'").fetchall()
    session.check(f"{what}: outside of them every call has its record, and every record its call",
                  loose == 0 and not any(missing.values()),
                  f"without call {loose}, without record {missing}, losses {losses}")
    session.check(f"{what}: device times again after the last one", all(last.values()), last)


def inside(session, path):
    """Calls in each gap that has any."""
    with session.open(path) as db:
        gaps = db.execute("SELECT id FROM device_gap ORDER BY id").fetchall()
        found = [{table: db.execute(
            f"SELECT count(*) FROM {table} c, device_gap g WHERE g.id = ? AND result = 0 AND "
            "c.begin_ns >= g.begin_ns AND c.end_ns <= g.end_ns", gap).fetchone()[0]
                  for table in ("transfer", "memset", "launch")} for gap in gaps]
    return [calls for calls in found if any(calls.values())]


def torch(session, collect, **more):
    what = f"torch.profiler, {collect}{' without counters' if more else ''}"
    command = [sys.executable, session.sources / "programs" / "profiled_torch.py", "--steps", "20"]
    bare = session.plain(command)
    traced, path = session.traced(f"torch_profiler_{collect}{len(more)}", command, collect, **more)
    theirs, ours = profiles(bare.stdout), profiles(traced.stdout)
    session.check(f"{what}: two profiles, with kernels, copies and memsets",
                  bare.returncode == 0 and len(theirs) == 2
                  and all(all(counted(seen).values()) for seen in theirs),
                  bare.stderr[-300:] if bare.returncode != 0 else
                  [counted(seen) for seen in theirs])
    session.check(f"{what}: the same events by name and number as untraced",
                  theirs == ours and len(ours) == 2,
                  "" if theirs == ours else
                  f"differing: {[set(a.items()) ^ set(b.items()) for a, b in zip(theirs, ours)]}")
    session.check(f"{what}: output and status unchanged",
                  (bare.stdout, bare.returncode) == (traced.stdout, traced.returncode),
                  traced.stderr[-200:] + differing(bare.stdout, traced.stdout)
                  if bare.stdout != traced.stdout else "")
    for name, done in (("alone", bare), ("traced", traced)):
        session.note(f"{what}: ms to switch it on and off, {name}",
                     [[round(t["on_ms"]), round(t["off_ms"])] for t in profiles(done.stderr)])
    if collect == "light":
        session.check(f"{what}: no device times, so none are missing",
                      session.one(path, "SELECT count(*) FROM device_gap") == 0)
        return path
    check_gaps(session, what, path, 2, "torch")
    session.check(f"{what}: the host side has what the profiler saw",
                  inside(session, path) == [counted(seen) for seen in theirs],
                  f"{inside(session, path)} in the gaps, {[counted(seen) for seen in theirs]} seen")
    check_rest(session, what, path)
    return path


def used_by_gmtrace(session, path):
    detail = session.one(path, "SELECT detail FROM capability WHERE name = 'cupti'")
    return pathlib.Path(detail.rsplit(" from ", 1)[-1])


def check_copy(session, what, path, library, first):
    """The driver serves one copy: gmtrace's, which is the program's if that was there first."""
    ours = used_by_gmtrace(session, path)
    same = ours.samefile(library)
    with session.open(path) as db:
        said = db.execute("SELECT state, detail FROM capability WHERE name = 'cupti.program'").fetchall()
    right = (said == [] if same else
             len(said) == 1 and said[0][0] == "ok" and str(library) in said[0][1])
    session.check(f"{what}: the trace says which copy was used", right and (same or not first),
                  f"gmtrace {ours}, {said}")


def by_hand(session, number, library, *options):
    what = f"own calls of CUPTI ({library}{''.join(f' {word}' for word in options)})"
    finalize = "--finalize" in options
    command = [sys.executable, session.sources / "programs" / "cupti_script.py", library, *options]
    bare = session.plain(command)
    session.check(f"{what}: the program works alone",
                  bare.returncode == 0 and bare.stdout.count("'copies': 25") == 1
                  and bare.stdout.count("'copies': 50") == 1, bare.stdout[-300:])
    path = session.same_behaviour(what, command, f"cupti_{number}{''.join(options)}")
    session.check(f"{what}: every call of the host",
                  session.one(path, "SELECT count(*) FROM transfer") == 125
                  and session.one(path, "SELECT count(*) FROM launch") == 125)
    check_copy(session, what, path, library, "--first" in options)
    if finalize:
        requests = session.open(path).execute("SELECT request, end_ns FROM device_gap").fetchall()
        session.check(f"{what}: the times without device times are noted",
                      any(request == "cuptiFinalize" for request, _ in requests), requests)
        return path
    # ctypes calls through libffi.
    check_gaps(session, what, path, 2, "")
    check_rest(session, what, path)
    return path


def other_copies(library):
    """Files of the same name as `library`, where toolkits and Python packages have theirs."""
    places = [*pathlib.Path("/usr/local").glob("cuda*/lib64"),
              *pathlib.Path("/usr/local").glob("cuda*/extras/CUPTI/lib64"),
              *(place for folder in sys.path for place in pathlib.Path(folder).glob("nvidia/*/lib"))]
    found = [library]
    for place in places:
        path = place / library.name
        if path.exists() and not any(path.samefile(known) for known in found):
            found.append(path)
    return found[1:]


def run(session):
    path = torch(session, "standard")
    torch(session, "standard", GMTRACE_COUNTERS="off")
    torch(session, "light")
    # The copy that PyTorch has, the one that gmtrace takes for a program without any, and what else there is.
    library = used_by_gmtrace(session, path)
    ours = used_by_gmtrace(session, by_hand(session, 0, library))
    others = other_copies(library)
    if not any(ours.samefile(known) for known in [library, *others]):
        others.append(ours)
    copies = [library, *others]
    session.note("own calls of CUPTI: copies of it on this machine", [str(known) for known in copies])
    for number, known in enumerate(copies):
        if number != 0:
            by_hand(session, number, known)
        by_hand(session, number, known, "--finalize")
        by_hand(session, number, known, "--first")
