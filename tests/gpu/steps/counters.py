# SPDX-License-Identifier: Apache-2.0
"""Sectors, efficiency, conflicts and occupancy of known kernels against ncu, kernel by kernel."""

import csv
import io
import statistics

# Our metric, and the one that ncu reads with its own replay (hardware where there is one).
AGAINST = {
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "global_load_bytes": "smsp__sass_data_bytes_mem_global_op_ld.sum",
    "global_store_bytes": "smsp__sass_data_bytes_mem_global_op_st.sum",
    "global_load_requests": "smsp__inst_executed_op_global_ld.sum",
    "shared_load_wavefronts": "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_load_requests": "smsp__inst_executed_op_shared_ld.sum",
    "shared_load_bytes": "smsp__sass_data_bytes_mem_shared_op_ld.sum",
    "local_load_requests": "smsp__inst_executed_op_local_ld.sum",
    "local_store_requests": "smsp__inst_executed_op_local_st.sum",
}
OCCUPANCY = "sm__warps_active.avg.pct_of_peak_sustained_active"
CYCLES = "sm__cycles_active.avg"


def ncu_values(session, command, metrics, *options):
    """kernel -> metric -> values, one per launch."""
    done = session.plain(["ncu", "--clock-control", "none", *options, "--csv", "--page", "raw",
                          "--print-kernel-base", "function", "--print-units", "base", "--metrics",
                          ",".join(metrics), *command], timeout=300)
    text = done.stdout
    rows = list(csv.reader(io.StringIO(text[text.index('"ID"'):])))
    header = rows[0]
    values = {}
    for row in rows[2:]:
        record = dict(zip(header, row))
        kernel = values.setdefault(record["Kernel Name"].split("(")[0], {})
        for metric in metrics:
            if record.get(metric, "") not in ("", "n/a"):
                kernel.setdefault(metric, []).append(float(record[metric].replace(",", "")))
    return values


def run(session):
    program = session.programs / "counters"
    path = session.same_behaviour("counters", [program, "all", "24"], "counters",
                                  GMTRACE_COUNTER_BUDGET="100")
    expected = ncu_values(session, [program, "all", "1"], list(AGAINST.values()))
    # Occupancy depends on what is in the caches: no replay, no flush, several launches.
    occupancy = ncu_values(session, [program, "all", "4"], [OCCUPANCY, CYCLES], "--replay-mode",
                           "application", "--cache-control", "none")
    with session.open(path) as db:
        ours = {}
        for kernel, metric, mean in db.execute("SELECT kernel, metric, mean FROM v_counter"):
            ours.setdefault(kernel.split("(")[0], {})[metric] = mean
        headline = {row[0].split("(")[0]: row[1:] for row in db.execute(
            "SELECT kernel, load_efficiency_percent, store_efficiency_percent, shared_load_ways,"
            " achieved_occupancy, theoretical_occupancy FROM v_kernel")}
    print(f"     {'kernel':22} {'load %':>8} {'store %':>8} {'n-way':>8} {'occup.':>8} {'theor.':>8}")
    for kernel in sorted(ours):
        if kernel in headline:
            print(f"     {kernel:22}", *(f"{value:8.2f}" if value is not None else f"{'-':>8}"
                                         for value in headline[kernel]))
    compared = 0
    for kernel, values in sorted(expected.items()):
        bad = []
        for metric, theirs_name in AGAINST.items():
            theirs, mine = values.get(theirs_name, [None])[0], ours.get(kernel, {}).get(metric)
            if theirs is None:
                continue
            compared += mine is not None
            # Sums over instructions count lanes at one address apart, up to what the access touched.
            if metric.endswith("load_bytes") and "broadcast" in kernel:
                theirs = (128 * ours[kernel]["shared_load_wavefronts"] if "shared" in metric
                          else 32 * ours[kernel]["global_load_sectors"])
            if mine is None:
                bad.append(f"{metric} not measured")
            elif abs(mine - theirs) > 0.01 * max(abs(theirs), 1):
                bad.append(f"{metric} {mine:.0f} against {theirs:.0f}")
        mine = ours.get(kernel, {}).get("achieved_occupancy_percent")
        theirs = statistics.median(occupancy.get(kernel, {}).get(OCCUPANCY, [0.0]))
        # ncu's launches stand alone, at other clocks: how many cycles they took is said beside.
        cycles = statistics.median(occupancy.get(kernel, {}).get(CYCLES, [0.0]))
        drift = abs(ours.get(kernel, {}).get("sm_cycles_active", 0.0) / max(cycles, 1) - 1)
        if mine is None:
            bad.append("occupancy not measured")
        elif abs(mine - theirs) > 1:
            bad.append(f"occupancy {mine:.2f} against {theirs:.2f}, cycles differ by {drift:.1%}")
        compared += mine is not None
        session.check(f"{kernel} equals ncu", not bad, "; ".join(bad))
    session.note("kernels_compared", len(expected))
    session.note("values_compared", compared)
    session.note("headline", headline)
