# SPDX-License-Identifier: Apache-2.0
"""NVTX ranges and cuProfilerStart/Stop under the real driver, with device times; what they cost."""

CLIENT = ("tests", "clients", "nvtxclient")


def sizes(session, path):
    with session.open(path) as db:
        return dict(db.execute("SELECT bytes, count(*) FROM transfer GROUP BY 1"))


def run(session):
    client = session.build.joinpath(*CLIENT)
    if not client.exists():
        session.check("nvtxclient was built", False, client)
        return
    settings = {"NVTX_INJECTION64_PATH": str(session.library)}
    path = session.same_behaviour("nested ranges", [client, "nested"], "ranges_nested", **settings)
    session.check("9 ranges, all ended",
                  session.one(path, "SELECT count(*) FROM range WHERE end_ns >= begin_ns") == 9,
                  session.one(path, "SELECT count(*) FROM range"))
    session.joined("nested ranges", path)
    everything = {1: 1, 2: 10, 3: 10, 4: 10, 5: 10, 6: 10}
    path = session.same_behaviour("no scope", [client, "scoped"], "ranges_all", **settings)
    session.check("every copy without a scope", sizes(session, path) == everything,
                  sizes(session, path))
    for scope, wanted in (("hot", {3: 10, 4: 10}), ("part", {4: 10}), ("profiler", {5: 10})):
        path = session.same_behaviour(f"scope {scope}", [client, "scoped"], f"ranges_{scope}",
                                      GMTRACE_RANGE=scope, **settings)
        session.check(f"scope {scope}: copies inside only", sizes(session, path) == wanted,
                      sizes(session, path))
        session.joined(f"scope {scope}", path)
        outside = session.one(path, "SELECT count(*) FROM kernel_counters "
                                    "WHERE launch_seq NOT IN (SELECT seq FROM launch)")
        session.check(f"scope {scope}: no counters of launches outside", outside == 0, outside)
    done, _ = session.traced("ranges_many", [client, "many", "100000"], "light", **settings)
    bare = session.plain([client, "many", "100000"])
    ns, growth = (int(word) for word in done.stderr.split()[-2:])
    session.note("push and pop", ns - int(bare.stderr.split()[-2]), "ns of processor time")
    session.check("100,000 ranges: the process does not grow", growth < 2048, f"{growth} KiB")
