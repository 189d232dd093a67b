# SPDX-License-Identifier: Apache-2.0
"""gmtrace doctor: everything that recording needs is there."""


def run(session):
    done = session.plain([session.build / "bin" / "gmtrace", "doctor"])
    print(done.stdout, end="")
    session.check("gmtrace doctor finds nothing missing", done.returncode == 0)
