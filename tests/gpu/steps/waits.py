# SPDX-License-Identifier: Apache-2.0
"""Programs whose streams wait for the host while they launch, alone and beside another thread that uses CUDA: nothing is measured that
would wait for itself, and what is launched afterwards is measured."""

LAUNCHES = 20


def run(session):
    program = session.programs / "host_wait"
    for wait, *more in (("kernel",), ("function",), ("value",), ("graph",), ("kernel", "beside"), ("function", "beside")):
        command = [program, wait, str(LAUNCHES), *more]
        wait = " ".join([wait, *more])
        path = session.same_behaviour(wait, command, f"waits_{wait.replace(' ', '_')}")
        said = session.plain(command).stdout
        session.check(f"{wait}: the host came in time", "waited for the host" in said, said)
        held = dict(session.rows(path, "SELECT k.name, count(*) FROM launch l JOIN kernel k ON k.id = l.kernel_id "
                                 "WHERE measured IS NOT NULL GROUP BY 1"))
        groups = [row[0] for row in session.rows(
            path, "SELECT DISTINCT grp FROM kernel_counters c JOIN launch l ON l.seq = c.launch_seq JOIN kernel k ON "
            "k.id = l.kernel_id WHERE k.name = 'after(float*)' AND value IS NOT NULL AND grp IN ('hardware', 'patched')")]
        session.check(f"{wait}: launches beside it are not measured, those after it are, completely",
                      "during(float*)" not in held and len(groups) == 2, (held, groups))
        why = session.rows(path, "SELECT detail FROM loss WHERE kind LIKE 'kernel class%' AND detail LIKE '%during%'")
        session.check(f"{wait}: it is said why", len(why) == 1 and "waiting for the host" in why[0][0], why)
