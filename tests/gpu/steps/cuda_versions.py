# SPDX-License-Identifier: Apache-2.0
"""Programs of CUDA 11.8 and 12.4, with NVIDIA's runtime and CUPTI of these versions (tests/e2e/cuda_packages.sh)."""

import os
import pathlib

# toolkit, soname of the runtime, version of its CUPTI
VERSIONS = (("11.8", "11.0", 18), ("12.4", "12", 22))


def record(session, program, name, version, **more):
    path = session.same_behaviour(name, [program], name.replace(" ", "_"), **more)
    copies = session.rows(path, "SELECT api || ' ' || direction || ' ' || host_class || ' ' || bytes "
                                "FROM v_transfer ORDER BY id")
    session.check(f"{name}: copies", [row[0] for row in copies] == [
        "cudaMemcpy h2d pageable 4096", "cudaMemcpyAsync h2d pinned 4096", "cudaMemcpy d2h pageable 4096",
        "cudaMemcpyAsync d2h pinned 4096"], copies)
    launches = session.rows(path, "SELECT kind, capturing FROM launch ORDER BY id")
    session.check(f"{name}: launches", len(launches) == 3, launches)
    said = dict(session.rows(path, "SELECT name, state || ': ' || coalesce(detail, '') FROM capability"))
    for what in ("timestamps", "counters"):
        session.note(f"{name}: {what}", said.get(what))
    session.check(f"{name}: CUPTI {version}", f"CUPTI {version}" in said.get("cupti", ""), said.get("cupti"))
    if said.get("timestamps", "").startswith("ok"):
        session.joined(name, path)


def try_version(session, toolkit, program, version):
    done = session.plain([program])
    if session.check(f"CUDA {toolkit}: the program works", "calls 25, failed 0" in done.stdout,
                     (done.stdout + done.stderr).splitlines()[-1:]):
        record(session, program, f"CUDA {toolkit} with its own CUPTI", version)
        newer = os.environ.get("GMTRACE_CUPTI", "/usr/local/cuda/lib64/libcupti.so.13")
        if pathlib.Path(newer).exists():
            record(session, program, f"CUDA {toolkit} with a newer CUPTI", 13, GMTRACE_CUPTI=newer)


def run(session):
    packages = pathlib.Path(os.environ.get("GMT_CUDA_PACKAGES", session.build / "tests" / "cuda_packages"))
    searched = os.environ.get("LD_LIBRARY_PATH")
    for toolkit, soname, version in VERSIONS:
        folder = packages / toolkit / "usr" / "lib" / "x86_64-linux-gnu"
        program = session.build / "tests" / "clients" / f"cudartclient_{soname}"
        if not (packages / toolkit / "complete").exists() or not program.exists():
            print(f"skip CUDA {toolkit}: {folder} or {program} is not there")
            continue
        os.environ["LD_LIBRARY_PATH"] = ":".join(filter(None, (str(folder), searched)))
        try:
            try_version(session, toolkit, program, version)
        finally:
            if searched is None:
                del os.environ["LD_LIBRARY_PATH"]
            else:
                os.environ["LD_LIBRARY_PATH"] = searched
