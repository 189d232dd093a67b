# SPDX-License-Identifier: Apache-2.0
"""What the software device is held to, on the GPU itself: the recorded results of instructions, and
the programs that check themselves (built with -DGMT_SIM_PROGRAMS_GPU=ON)."""

import gzip
import pathlib
import subprocess

RECORD = pathlib.Path(__file__).resolve().parents[2] / "data" / "ptx_vectors_h200.txt.gz"


def run(session):
    vectors = session.build / "bin" / "ptx_vectors"
    listed = session.plain([vectors])
    (session.out / "ptx_vectors.txt").write_text(listed.stdout, encoding="utf-8")
    if RECORD.exists():
        compared = subprocess.run([vectors, "--compare"], input=gzip.decompress(RECORD.read_bytes()),
                                  capture_output=True, check=False, timeout=120)
        session.check("instructions give what was recorded", compared.returncode == 0,
                      compared.stdout[-300:].decode())
    programs = session.build / "tests" / "simgpu" / "programs" / "sim_programs_gpu"
    if not programs.exists():
        session.check("sim_programs_gpu is built", False, "configure with -DGMT_SIM_PROGRAMS_GPU=ON")
        return
    ran = session.plain([programs, "all"])
    session.check("programs of tests/simgpu", ran.returncode == 0, ran.stdout[-600:])
    session.note("programs that agree with the CPU", ran.stdout.count(" ok\n"), "")
