# SPDX-License-Identifier: Apache-2.0
"""Measures which driver calls each runtime API makes: the table in docs/runtime-api.md."""

import bisect


def run(session):
    command = [session.programs / "every_api", "--announce"]
    done, path = session.traced("announce", command, "light")
    spans = []
    for line in done.stderr.splitlines():
        words = line.split(maxsplit=2)
        if len(words) == 3 and words[0] == "announce":
            spans.append((int(words[1]), words[2]))
    starts = [start for start, _ in spans]
    calls: dict[str, list[str]] = {}
    with session.open(path) as db:
        union = " UNION ALL ".join(
            f"SELECT begin_ns, api_id FROM {table}"
            for table in ("transfer", "memset", "launch", "sync", "api_call", "allocation",
                          "host_allocation"))
        union += (" UNION ALL SELECT free_begin_ns, free_api_id FROM allocation"
                  " WHERE free_begin_ns IS NOT NULL"
                  " UNION ALL SELECT free_begin_ns, free_api_id FROM host_allocation"
                  " WHERE free_begin_ns IS NOT NULL")
        rows = db.execute(f"SELECT u.begin_ns, a.name, a.runtime_name FROM ({union}) u "
                          "JOIN api a ON a.id = u.api_id ORDER BY u.begin_ns").fetchall()
    wrong = []
    for begin_ns, driver, runtime in rows:
        at = bisect.bisect_right(starts, begin_ns) - 1
        if at < 0 or spans[at][1] == "-":
            continue
        called = spans[at][1]
        calls.setdefault(called, []).append(driver)
        if runtime and called.split()[0] != runtime:
            wrong.append((called, driver, runtime))
    with open(session.out / "runtime_table.txt", "w", encoding="utf-8") as file:
        for name, drivers in calls.items():
            file.write(f"{name}\t{', '.join(drivers)}\n")
    session.check("runtime calls were matched to driver calls", len(calls) > 30, len(calls))
    session.note("driver calls whose usual runtime name is another", len(wrong))
    for row in wrong:
        print("    ", *row)
