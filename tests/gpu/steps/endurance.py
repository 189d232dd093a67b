# SPDX-License-Identifier: Apache-2.0
"""Python programs that launch a hundred kernels and shapes, each recorded several times with defaults: all of them end, with the
output of a run without gmtrace. GMT_ENDURANCE_ROUNDS sets how often (5), GMT_ENDURANCE=gpt2_decode.py,... which."""

import os
import subprocess
import sys

PROGRAMS = ("gpt2_decode.py", "decode_torch.py", "train_torch.py", "conv_jax.py", "train_jax.py")
NOT_THERE = 77


def rounds(session, name, command, count):
    plain = session.plain(command, timeout=300)
    if plain.returncode == NOT_THERE:
        print(f"skip {name}: {plain.stderr.strip().splitlines()[-1]}", flush=True)
        return
    session.check(f"{name}: runs without gmtrace", plain.returncode == 0, plain.stderr[-300:])
    ended = same = 0
    for _ in range(count):
        try:
            done, _ = session.traced("endurance", command)
        except subprocess.TimeoutExpired as error:
            print(f"     {error}; where its threads were: {session.out / f'stuck_{session.step}.txt'}", flush=True)
            continue
        ended += 1
        same += (done.stdout, done.returncode) == (plain.stdout, plain.returncode)
    session.check(f"{name}: ends", ended == count, f"{ended} of {count}")
    session.check(f"{name}: output and status unchanged", same == ended, f"{same} of {ended}")


def run(session):
    wanted = list(filter(None, os.environ.get("GMT_ENDURANCE", "").split(",")))
    count = int(os.environ.get("GMT_ENDURANCE_ROUNDS", "5"))
    for name in PROGRAMS:
        if not wanted or name in wanted:
            rounds(session, name, [sys.executable, session.sources / "programs" / name], count)
