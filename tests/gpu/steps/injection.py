# SPDX-License-Identifier: Apache-2.0
"""CUDA_INJECTION64_PATH: CUPTI's callbacks give the records that hooks give; static programs."""

import subprocess

# By entry point and kind. cuInit has begun when CUPTI is asked to report; and what the runtime still calls
# when the process ends may come after CUPTI has stopped to report, and after the driver has ended (4).
ROWS = {
    "calls": "SELECT a.name, c.result, c.bytes, count(*) FROM api_call c JOIN api a ON a.id = c.api_id "
             "WHERE a.name NOT IN ('cuInit', 'cuLibraryUnload') AND c.result <> 4 GROUP BY 1, 2, 3",
    "copies": "SELECT driver_api, direction, src_class, dst_class, blocking, bytes, result, capturing, "
              "count(*) FROM v_transfer GROUP BY 1, 2, 3, 4, 5, 6, 7, 8",
    "memsets": "SELECT api_id, bytes, result, count(*) FROM memset GROUP BY 1, 2, 3",
    "launches": "SELECT kind, grid_x, grid_y, block_x, arguments, capturing, count(*) FROM launch "
                "GROUP BY 1, 2, 3, 4, 5, 6",
    "allocations": "SELECT kind, bytes, free_begin_ns IS NOT NULL, count(*) FROM allocation "
                   "GROUP BY 1, 2, 3",
    "synchronizations": "SELECT kind, result, count(*) FROM sync GROUP BY 1, 2",
}


def rows(session, path):
    with session.open(path) as db:
        return {what: sorted(db.execute(sql).fetchall(), key=repr) for what, sql in ROWS.items()}


def injected(session, name, command, collect):
    """Not preloaded; named to the driver instead."""
    path = session.trace_path(name)
    environment = session.environment(None, CUDA_INJECTION64_PATH=str(session.library),
                                      GMTRACE_OUTPUT=str(path), GMTRACE_COLLECT=collect)
    done = subprocess.run([str(word) for word in command], env=environment, cwd=session.work,
                          capture_output=True, text=True, check=False, timeout=120)
    session.wait(path)
    return done, path


def compare(session, name, command, collect):
    plain = session.plain(command)
    _, hooked = session.traced(f"hooked_{name}", command, collect=collect)
    done, path = injected(session, f"injected_{name}", command, collect)
    session.check(f"{name}, {collect}: output and status as untraced",
                  (done.stdout, done.returncode) == (plain.stdout, plain.returncode),
                  f"status {plain.returncode}/{done.returncode} {done.stderr[-300:]}")
    seen, expected = rows(session, path), rows(session, hooked)
    total = sum(row[-1] for row in expected["copies"])
    session.check(f"{name}, {collect}: hooks saw copies at all", total > 0, total)
    for what, found in seen.items():
        session.check(f"{name}, {collect}: {what} as by hooks", found == expected[what],
                      "" if found == expected[what]
                      else f"callbacks only {set(found) - set(expected[what])}, "
                           f"hooks only {set(expected[what]) - set(found)}")
    state = session.one(path, "SELECT state FROM capability WHERE name = 'injection'")
    session.check(f"{name}, {collect}: the trace says that the library was injected", state == "partial", state)
    if collect == "standard":
        session.joined(f"{name} injected", path)


def preloaded_too(session, command):
    path = session.trace_path("both_ways")
    environment = session.environment(path, CUDA_INJECTION64_PATH=str(session.library))
    subprocess.run([str(word) for word in command], env=environment, cwd=session.work,
                   capture_output=True, check=False, timeout=120)
    session.wait(path)
    _, hooked = session.traced("preloaded_only", command)
    session.check("preloaded as well: every call once", rows(session, path) == rows(session, hooked))
    session.check("preloaded as well: noted", session.one(
        path, "SELECT state FROM capability WHERE name = 'injection'") == "off")


def static_program(session, flag):
    """What the driver does in one is the driver's; gmtrace must not make it worse, and records it if it works."""
    program = session.work / f"tiny{flag}"
    source = session.sources.parent / "clients" / "tinyclient.c"
    built = subprocess.run(["cc", "-O1", flag, "-o", program, source, "-ldl"], capture_output=True,
                           text=True, check=False)
    if built.returncode != 0:
        print(f"skip {flag}: no static libc to link with", flush=True)
        return
    rounds = 100
    plain = session.plain([program, str(rounds)])
    session.note(f"untraced {flag} program", f"status {plain.returncode} {plain.stderr.strip()[-120:]}")
    path = session.trace_path(f"tiny{flag}")
    traced = subprocess.run([session.build / "bin" / "gmtrace", "-o", path, "--", program, str(rounds)],
                            cwd=session.work, capture_output=True, text=True, check=False, timeout=120)
    expected = plain.returncode if plain.returncode >= 0 else 128 - plain.returncode
    session.check(f"{flag}: output and status as untraced",
                  (traced.stdout, traced.returncode) == (plain.stdout, expected),
                  f"status {expected}/{traced.returncode}")
    session.check(f"{flag}: the launcher says how it is recorded", "linked statically" in traced.stderr)
    if plain.returncode == 0:
        session.wait(path)
        copies = session.one(path, "SELECT count(*) FROM transfer WHERE bytes = 1000 AND result = 0")
        session.check(f"{flag}: every copy is in the trace", copies == 2 * rounds, copies)
    else:
        session.note(f"{flag} programs", "cannot use this driver, traced or not")


def run(session):
    driver_calls = [session.programs / "driver_calls"]
    for collect in ("light", "standard"):
        compare(session, "basic", [*driver_calls, "basic"], collect)
        compare(session, "pipeline", [session.build / "bin" / "pipeline_slow", "--size", "512",
                                      "--frames", "4"], collect)
    compare(session, "graphs", [*driver_calls, "graphs", "4"], "light")
    compare(session, "every_api", [session.programs / "every_api"], "light")
    preloaded_too(session, [*driver_calls, "basic"])
    for flag in ("-static", "-static-pie"):
        static_program(session, flag)
