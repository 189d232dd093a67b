# SPDX-License-Identifier: Apache-2.0
"""How long a newcomer waits for the first finding: from the tarball, where there is one (--package), else from the start
of the program under gmtrace."""

import os
import subprocess
import time

LIMIT_S = 30


def run(session):
    begin = time.monotonic()
    gmtrace = session.build / "bin" / "gmtrace"
    if session.package is not None:
        folder = session.work / "first_finding"
        folder.mkdir()
        subprocess.run(["tar", "-xzf", session.package.resolve(), "-C", folder, "--strip-components=1"], check=True)
        gmtrace = folder / "bin" / "gmtrace"
        session.note("unpacked", time.monotonic() - begin, "s")
    # As on a machine where nothing of gmtrace was run before: no calibration is there yet.
    environment = {**os.environ, "XDG_CACHE_HOME": str(session.work / "no-cache")}
    trace = session.trace_path("first_finding")
    done = session.run_in([gmtrace, "-o", trace, session.build / "bin" / "pipeline_slow"], environment)
    seconds = time.monotonic() - begin
    print(done.stderr, end="")
    session.check("the program's status is its own", done.returncode == 0, done.returncode)
    session.check("the first finding is named at the end of the run", "pipeline_slow.cu:" in done.stderr)
    session.check(f"that took no more than {LIMIT_S} s", seconds <= LIMIT_S, f"{seconds:.1f} s")
    session.note("first finding after", seconds, "s")
