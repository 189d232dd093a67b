# SPDX-License-Identifier: Apache-2.0
"""Programs that launch a hundred kernels and shapes, each recorded several times: all of them end, with the output of a run
without gmtrace, and the device is there afterwards. With defaults; and with as many counted launches as there can be, as a hang was
in one. GMT_ENDURANCE_ROUNDS sets how often (5), GMT_ENDURANCE=gpt2_decode.py,... which."""

import os
import subprocess
import sys

from .session import NOT_THERE

DEFAULTS = {}
ALL_COUNTED = {"GMTRACE_COUNTER_BUDGET": "unlimited", "GMTRACE_COUNTER_SAMPLES": "20"}
PROGRAMS = (
    ("gpt2_decode.py", "", DEFAULTS),
    ("decode_torch.py", "", DEFAULTS),
    ("train_torch.py", "", DEFAULTS),
    ("conv_jax.py", "", DEFAULTS),
    ("train_jax.py", "", DEFAULTS),
    ("ode_jax.py", "", DEFAULTS),
    ("ode_jax.py", "diffrax", DEFAULTS),
    ("gpt2_decode.py", "", ALL_COUNTED),
    ("many_kernels", "", ALL_COUNTED),
)


def rounds(session, name, command, count, options):
    plain = session.plain(command, timeout=300)
    if plain.returncode == NOT_THERE:
        print(f"skip {name}: {plain.stderr.strip().splitlines()[-1]}", flush=True)
        return
    session.check(f"{name}: runs without gmtrace", plain.returncode == 0, plain.stderr[-300:])
    ended = same = counted = 0
    for _ in range(count):
        try:
            done, path = session.traced("endurance", command, **options)
        except subprocess.TimeoutExpired as error:
            print(f"     {error}; where its threads were: {session.out / f'stuck_{session.step}.txt'}", flush=True)
            continue
        ended += 1
        same += (done.stdout, done.returncode) == (plain.stdout, plain.returncode)
        counted += session.one(path, "SELECT count(*) FROM own_time WHERE work = 'instructions'") if path.exists() else 0
    session.check(f"{name}: ends", ended == count, f"{ended} of {count}, {counted} launches counted")
    session.check(f"{name}: output and status unchanged", same == ended, f"{same} of {ended}")
    session.check(f"{name}: the device is there afterwards", session.has_gpu())


def run(session):
    wanted = list(filter(None, os.environ.get("GMT_ENDURANCE", "").split(",")))
    count = int(os.environ.get("GMT_ENDURANCE_ROUNDS", "5"))
    for program, argument, options in PROGRAMS:
        if wanted and program not in wanted:
            continue
        path = session.sources / "programs" / program if program.endswith(".py") else session.programs / program
        command = [*([sys.executable] if program.endswith(".py") else []), path, *filter(None, [argument])]
        name = " ".join(filter(None, [program, argument, "all counted" if options else ""]))
        rounds(session, name, command, count, options)
