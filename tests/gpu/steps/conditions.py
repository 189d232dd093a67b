# SPDX-License-Identifier: Apache-2.0
"""Calibration where conditions are bad: another program on the GPU, little free memory, a user without rights."""

import json
import os
import shutil
import subprocess
import sys
import time

NOBODY = 65534
LEFT_MIB = 1536  # of device memory, for gmcalibrate and its three contexts

# Copies and kernels without a pause, in three streams, until it is ended.
LOAD = """
import torch
a = [torch.empty(256 << 20, dtype=torch.uint8, device="cuda") for _ in range(4)]
m = torch.randn(8192, 8192, device="cuda", dtype=torch.float16)
streams = [torch.cuda.Stream() for _ in range(3)]
print("ready", flush=True)
while True:
    for i, stream in enumerate(streams):
        with torch.cuda.stream(stream):
            a[i].copy_(a[3]); m @ m
    torch.cuda.synchronize()
"""
# All memory but for `argv[1]` MiB.
HOG = """
import sys, torch
torch.zeros(1, device="cuda")
free = torch.cuda.mem_get_info()[0]
kept = torch.empty(free - (int(sys.argv[1]) << 20), dtype=torch.uint8, device="cuda")
print("ready", torch.cuda.mem_get_info()[0] >> 20, flush=True)
sys.stdin.read()
"""


def beside(program, *arguments):
    """Starts it and waits until it is at work."""
    child = subprocess.Popen([sys.executable, "-c", program, *map(str, arguments)], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
    return child, child.stdout.readline().strip()


def percentile(values, p):
    values, rank = sorted(values), p * (len(values) - 1)
    low = int(rank)
    return values[low] + (values[min(low + 1, len(values) - 1)] - values[low]) * (rank - low)


def spreads(raw):
    """What noise is judged by (kernels/fit/model_kernels.c, model_series.c), and what else it could be judged by."""
    series = [row["samples_ns"] for rows in raw["families"].values() for row in rows if "pass" not in row]
    relative = [(percentile(one, 0.9) - percentile(one, 0.1)) / percentile(one, 0.5)
                for one in series if percentile(one, 0.5) >= 20e3]
    found = {f"{100 * p:g} %": round(percentile(relative, p), 4) for p in (0.5, 0.75, 0.9, 0.95, 1)}
    costs = {name: raw["costs"][name] for name in ("launch_wait_ns", "launch_throughput_ns")}
    return {"kernels": len(relative), **found, "above 5 %": sum(one > 0.05 for one in relative),
            "passes": len(set(costs["launch_wait_ns"]["pass"])),
            **{name: [round(percentile(cost["samples_ns"], p)) for p in (0, 0.5, 0.9, 1)]
               for name, cost in costs.items()}}


def quick(session, name, **more):
    path, raw = session.work / f"{name}.json", session.out / f"{name}.raw.json"
    began = time.monotonic()
    done = subprocess.run([session.build / "bin" / "gmcalibrate", "--quick", "-o", path, "--raw", raw], text=True,
                          capture_output=True, check=False, cwd=session.work, timeout=120, **more)
    took = time.monotonic() - began
    model = json.loads(path.read_text()) if path.exists() and done.returncode == 0 else None
    session.note(f"{name}: gmcalibrate --quick", took, "s")
    if model is not None:
        session.note(f"{name}: spreads", spreads(json.loads(raw.read_text())))
    return done, model, path


def shown(session, path):
    return session.plain([session.build / "bin" / "gmcalibrate", "--show", path]).stdout


def idle_gpu(session):
    done, model, path = quick(session, "idle")
    session.check("idle: it succeeds, and finds no noise", model is not None and not model["noisy"] and
                  "noisy:" not in shown(session, path), done.stderr[-200:] or (model or {}).get("noise"))
    return model


def busy_gpu(session):
    child, said = beside(LOAD)
    try:
        session.check("busy: another program works on the GPU", said == "ready", said)
        done, model, path = quick(session, "busy")
    finally:
        child.kill()
        child.wait()
    if session.check("busy: it ends well all the same", model is not None, done.stderr[-300:]):
        session.check("busy: the model is marked as noisy", model["noisy"], model["noise"])
        session.note("busy: noise", model["noise"])
        session.note("busy: an empty kernel", {name: model["costs"][name] for name in
                                               ("launch_ns", "launch_wait_ns", "sync_ns")})
        session.check("busy: and says so to whom it is shown, and who made it",
                      "noisy:" in shown(session, path) and "noisy:" in done.stdout + done.stderr,
                      (done.stdout + done.stderr)[-300:])


def little_memory(session):
    child, said = beside(HOG, LEFT_MIB)
    try:
        session.check("little memory: the rest is taken", said.startswith("ready"), said)
        done, model, _ = quick(session, "little_memory")
    finally:
        child.communicate("")
    if not session.check("little memory: it ends well, or says in one line what to do", model is not None or
                         (done.returncode == 1 and len(done.stderr.strip().splitlines()) == 1),
                         f"{done.returncode} {done.stderr[-300:]}"):
        return
    session.note("little memory", done.stderr.strip()[-200:] or "succeeded")
    if model is not None:
        rate = model["rates"]["dram_bytes_per_s"]["median"]
        session.check("little memory: a rate of device memory all the same", rate > 1e11, rate)


def without_rights(session):
    """Another user: no counters where the driver keeps them for the administrator, timings anyway."""
    if os.geteuid() != 0:
        print("skip without rights: not root here", flush=True)
        return
    home = session.work / "nobody"
    home.mkdir()
    for path in [session.work, *session.work.parents]:
        if path.stat().st_uid == 0 and not path.stat().st_mode & 0o001:
            path.chmod(path.stat().st_mode | 0o711)
    shutil.chown(home, NOBODY, NOBODY)
    as_nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    environment = dict(os.environ, HOME=str(home), XDG_CACHE_HOME=str(home / "cache"), TMPDIR=str(home))
    command = [session.build / "bin" / "gmcalibrate", "--quick"]
    made = subprocess.run(command, text=True, capture_output=True, check=False, cwd=home, timeout=120,
                          env=environment, **as_nobody)
    kept = [path for path in (home / "cache").rglob("*.json") if not path.name.endswith(".raw.json")]
    session.check("without rights: the model is made and kept for that user", made.returncode == 0 and
                  len(kept) == 1, f"{made.returncode} {made.stderr[-300:]} {kept}")
    trace = home / "counters.db"
    traced = subprocess.run([session.build / "bin" / "gmtrace", "-o", trace,
                             session.programs / "counters", "k_stride_8", "24"], text=True, check=False,
                            capture_output=True, cwd=home, timeout=120, env=environment, **as_nobody)
    if not session.check("without rights: a program is traced", traced.returncode == 0 and trace.exists(),
                         traced.stderr[-300:]):
        return
    with session.open(trace) as db:
        said = db.execute("SELECT name, state, detail, remedy FROM capability WHERE name LIKE "
                          "'%counter%' OR name LIKE '%group%'").fetchall()
        measured = db.execute("SELECT count(*) FROM v_counter").fetchone()[0]
    session.check("without rights: counters, or a reason and a remedy", measured > 0 or
                  any(state != "ok" and detail and remedy for _, state, detail, remedy in said),
                  f"{measured} counters; {said}")


def run(session):
    idle = idle_gpu(session)
    busy_gpu(session)
    little_memory(session)
    without_rights(session)
    session.check("idle: rates were measured", idle is not None and len(idle["rates"]) >= 10)
