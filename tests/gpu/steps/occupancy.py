# SPDX-License-Identifier: Apache-2.0
"""Records the driver's answers about occupancy: a table for tests/data, read by unit.occupancy."""


def run(session):
    done = session.plain([session.programs / "occupancy"])
    (session.out / "occupancy.txt").write_text(done.stdout, encoding="utf-8")
    words = [line.split()[0] for line in done.stdout.splitlines() if not line.startswith("#")]
    session.check("the driver answers about occupancy", done.returncode == 0, done.stderr[-300:])
    for word in ("blocks", "best", "clusters"):
        session.note(f"{word} lines", words.count(word))
    session.check("the table is large enough for its test", len(words) > 1000, len(words))
