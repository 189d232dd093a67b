# SPDX-License-Identifier: Apache-2.0
"""--collect deep: the planted line, sums against the patched group, ncu's source page, and what it costs.
GMT_DEEP=known,jit limits it to some of PARTS, GMT_DEEP_PROGRAMS=counters the costs to some programs."""

import csv
import gzip
import io
import os
import re
import statistics
import sys
import time

# Kernels of programs/counters.cu -> the text of the line that is planted (the access itself) and the kind.
PLANTED = {
    "k_offset_1": ("ld.global.f32", "global_load"),
    "k_stride_2": ("ld.global.f32", "global_load"),
    "k_stride_4": ("ld.global.f32", "global_load"),
    "k_stride_8": ("ld.global.f32", "global_load"),
    "k_stride_32": ("ld.global.f32", "global_load"),
    "k_struct_12": ("ld.global.f32", "global_load"),
    "k_row_1001": ("ld.global.f32", "global_load"),
    "k_store_stride_8": ("st.global.f32", "global_store"),
    "k_shared_stride_2": ("ld.shared.f32", "shared_load"),
    "k_shared_stride_8": ("ld.shared.f32", "shared_load"),
    "k_shared_stride_32": ("ld.shared.f32", "shared_load"),
}
# Sum over instructions of a launch -> the same by the software-patched group of the first run.
SUMS = {
    ("global_load", "sectors"): "global_load_sectors",
    ("global_store", "sectors"): "global_store_sectors",
    ("shared_load", "wavefronts"): "shared_load_wavefronts",
    ("shared_store", "wavefronts"): "shared_store_wavefronts",
    ("local_load", "sectors"): "local_load_sectors",
    ("local_store", "sectors"): "local_store_sectors",
}
WAYS = ("rerun", "phase")
AGAINST_NCU = ["k_coalesced_f32", "k_coalesced_f128", "k_offset_1", "k_stride_8", "k_store_stride_8",
               "k_shared_stride_8", "k_shared_f128", "k_local_divergent"]
NCU_COLUMNS = {"executed": "instructions executed", "sectors": "l2 theoretical sectors global",
               "local sectors": "l2 theoretical sectors local", "wavefronts": "l1 wavefronts shared"}


def by_launcher(session, name, command, **more):
    """Through gmtrace, which makes the second run."""
    path = session.trace_path(name)
    environment = session.environment(None, GMTRACE_COUNTER_BUDGET="100", **more)
    began = time.monotonic()
    done = session.run_in([session.build / "bin" / "gmtrace", "--collect", "deep", "-o", path, *command],
                          environment, timeout=300)
    return done, path, time.monotonic() - began


def by_library(session, name, command):
    """Preloaded without gmtrace: nobody makes a second run, so that it counts within the run unasked."""
    began = time.monotonic()
    done, path = session.traced(name, command, "deep", timeout=300, GMTRACE_COUNTER_BUDGET="100")
    return done, path, time.monotonic() - began


def rows(session, path, sql, *arguments):
    with session.open(path) as db:
        return db.execute(sql, arguments).fetchall()


def base(kernel):
    return kernel.split("(")[0]


def counted(session, what, path):
    state = rows(session, path, "SELECT state, detail FROM capability WHERE name = 'instructions'")
    number, cubins = rows(session, path, "SELECT (SELECT count(*) FROM instruction WHERE source = 'sass'), "
                          "(SELECT count(*) FROM cubin)")[0]
    session.note(f"{what}: instructions, cubins", (number, cubins))
    losses = rows(session, path, "SELECT kind, detail, count FROM loss")
    return session.check(f"{what}: instructions were counted and their cubins kept",
                         state[:1] and state[0][0] == "ok" and number > 0 and cubins > 0,
                         f"{state} {losses}")


def planted_lines(session, what, path):
    """The line with the most excess is the access, called from the kernel's own source."""
    source = (session.sources / "programs" / "counters.cu").read_text(encoding="utf-8").split("\n")
    for kernel, (text, kind) in PLANTED.items():
        found = rows(session, path, "SELECT file, line, caller_line, coalesce(excess_sectors, 0) + "
                     "coalesce(excess_wavefronts, 0) AS excess FROM v_instruction WHERE kernel LIKE ?||'(%' "
                     "AND kind = ? AND source = 'sass' ORDER BY excess DESC", kernel, kind)
        if not session.check(f"{what}: {kernel} has such instructions with excess",
                             bool(found) and found[0][3] > 0, found[:3]):
            continue
        file, line, caller, _ = found[0]
        # A statement of inline assembly goes over several lines: any of them will do.
        named = "\n".join(source[max(0, (line or 0) - 2):(line or 0) + 1])
        session.check(f"{what}: {kernel}: the line is the planted one", bool(file) and
                      file.endswith("/counters.cu") and text in named, f"{file}:{line} < {caller}")


def sums(session, what, path):
    """Excess and all: instructions of a launch sum to what the patched group counted."""
    compared = 0
    for (kind, column), metric in SUMS.items():
        ours = dict(rows(session, path, f"SELECT class_id, sum({column}) * 1.0 / "
                         "count(DISTINCT launch_seq) FROM instruction WHERE source = 'sass' AND kind = ? "
                         f"AND {column} IS NOT NULL GROUP BY class_id", kind))
        theirs = rows(session, path, "SELECT class_id, kernel, mean FROM v_counter WHERE metric = ?", metric)
        for class_id, kernel, mean in theirs:
            if not mean and not ours.get(class_id):
                continue
            compared += 1
            mine = ours.get(class_id, 0)
            if abs(mine - mean) > 0.01 * max(mean, 1):
                session.check(f"{what}: {base(kernel)}: {metric}", False, f"{mine:.0f} against {mean:.0f}")
    session.check(f"{what}: sums equal the patched group's within 1 %", compared >= 20,
                  f"{compared} sums compared")


def ncu_source(session, program, kernel):
    """name of column -> values in the order of instructions. The page has no column of what the kernel never
    does; {} where it cannot be read."""
    done = session.plain(["ncu", "--clock-control", "none", "--section", "SourceCounters", "--page",
                          "source", "--csv", "--print-units", "base", "-k", f"regex:^{kernel}$",
                          program, kernel, "1"], timeout=300)
    table = list(csv.reader(io.StringIO(done.stdout)))
    head = next((i for i, row in enumerate(table) if any(cell.strip() == "Source" for cell in row)), None)
    if head is None:
        session.note(f"ncu on {kernel}", done.stdout[:400] + done.stderr[-400:])
        return {}
    names = [cell.strip().lower() for cell in table[head]]
    columns = {}
    for name, wanted in NCU_COLUMNS.items():
        at = next((i for i, cell in enumerate(names) if re.sub(r"^# ?", "", cell) == wanted), None)
        if at is None:
            continue
        columns[name] = [float(row[at].replace(",", "") or 0) for row in table[head + 1:]
                         if len(row) == len(names) and re.fullmatch(r"[\d,.]*", row[at])]
    return columns


def against_ncu(session, path, program):
    for kernel in AGAINST_NCU:
        theirs = ncu_source(session, program, kernel)
        ours = rows(session, path, "SELECT pc_offset / 16, executed, sectors, wavefronts FROM v_instruction "
                    "WHERE kernel LIKE ?||'(%' AND source = 'sass'", kernel)
        if not session.check(f"ncu's source page of {kernel} can be read, and we have as much",
                             "executed" in theirs and len(theirs) > 1 and bool(ours), list(theirs)):
            continue
        bad, compared = [], 0
        for at, *values in ours:
            for name, mine in zip(("executed", "sectors", "wavefronts"), values):
                if at >= len(theirs["executed"]):
                    bad.append(f"instruction {at} is not on the page")
                    continue
                if mine is None:
                    continue
                # Sectors of local memory have a column of their own there.
                known = [theirs[key][at] for key in (name, f"local {name}") if key in theirs]
                compared += bool(known)
                if abs(mine - sum(known)) > 0.01 * max(sum(known), 1):
                    bad.append(f"{at} {name}: {mine:.0f} against {sum(known):.0f}")
        session.check(f"{kernel} equals ncu's source page", compared > 0 and not bad,
                      f"{compared} values; " + "; ".join(bad[:5]))


def jit(session, way):
    """Kernels that are compiled while the program runs, in programs that have PyTorch and CuPy loaded."""
    folder = session.sources / "programs"
    for script, kernel in (("triton_script.py", "%"), ("nvrtc_script.py", "strided%")):
        command, what = [sys.executable, folder / script], f"{way}: {script}"
        plain = session.plain(command)
        done, path, _ = by_launcher(session, f"{way}_{script[:-3]}", command, GMTRACE_DEEP=way)
        if done.returncode == 77:
            print(f"skip {what}: {done.stderr[:200]}", flush=True)
            continue
        if not session.check(f"{what}: output and status are those of one run", path.exists() and
                             (plain.stdout, plain.returncode) == (done.stdout, done.returncode),
                             done.stderr[-300:]):
            continue
        counted(session, what, path)
        lines = rows(session, path, "SELECT DISTINCT kernel, file, line FROM v_instruction WHERE "
                     "kind = 'global_load' AND line IS NOT NULL AND source = 'sass' AND kernel LIKE ?", kernel)
        session.check(f"{what}: loads have lines", bool(lines), lines[:5])
        if script.startswith("nvrtc"):
            session.check(f"{what}: the kernel's load is on the planted line",
                          any(line == 4 for _, _, line in lines), lines)


def reference_kernels(session, way):
    """All of them: lines against the marks in their sources, sums against the patched group. The recording
    of the second run is kept."""
    what, printed = f"{way}: reference kernels", session.work / f"reference_{way}.txt"
    done, path, took = by_launcher(session, f"reference_{way}", [
        session.build / "bin" / "gmcalibrate", "--once", "--launches", "4", "--rounds", "2", "--variant",
        "all:all"], GMTRACE_DEEP=way)
    session.note(what, took, "s")
    if not session.check(f"{what} run under deep", done.returncode == 0 and path.exists(),
                         done.stderr[-300:]):
        return
    printed.write_text(done.stdout, encoding="utf-8")
    if way == "rerun":
        for name, data in (("db.gz", gzip.compress(path.read_bytes(), 9, mtime=0)),
                           ("txt", done.stdout.encode())):
            (session.out / f"reference_deep.{name}").write_bytes(data)
    tests = session.sources.parent
    judged = session.plain([sys.executable, tests / "deep" / "reference_lines.py", path, printed,
                            tests / "data" / "prediction" / "raw.json.gz"], timeout=300)
    lines = judged.stdout.splitlines()
    for line in lines:
        if line.startswith("FAIL"):
            session.check(f"{way}: {line[5:]}", False)
    session.check(f"{what}: lines and sums are those that were planted", judged.returncode == 0 and
                  len(lines) > 100, f"{len(lines)} {judged.stderr[-300:]}")


def costs(session):
    programs = {"counters": [session.programs / "counters", "all", "8"],
                "streams4": [session.programs / "streams4"],
                "pipeline_slow": [session.build / "bin" / "pipeline_slow", "--frames", "8"]}
    chosen = os.environ.get("GMT_DEEP_PROGRAMS", ",".join(programs)).split(",")
    modes = {
        "bare": lambda command: session.plain(command, 300),
        "standard": lambda command: session.traced("cost", command, timeout=300)[0],
        "rerun": lambda command: by_launcher(session, "cost", command, GMTRACE_DEEP="rerun")[0],
        "phase": lambda command: by_launcher(session, "cost", command, GMTRACE_DEEP="phase")[0],
        "ncu": lambda command: session.plain(["ncu", "--clock-control", "none", "--section",
                                              "SourceCounters", *command], 600),
    }
    print(f"     {'program':14}" + "".join(f"{mode:>12}" for mode in modes) + "  s")
    for name in chosen:
        command, took = programs[name], {}
        for mode, run_it in modes.items():
            times = []
            for _ in range(1 if mode == "ncu" else 3):  # it takes a minute
                began = time.monotonic()
                done = run_it(command)
                times.append(time.monotonic() - began)
                session.check(f"{name} under {mode} ends well", done.returncode == 0, done.stderr[-200:]
                              if done.returncode else "")
            took[mode] = statistics.median(times)
        print(f"     {name:14}" + "".join(f"{took[mode]:12.2f}" for mode in modes), flush=True)
        session.note(name, took)


def known_kernels(session):
    """programs/counters.cu: run a second time, within the run after the other counters, and so without
    being asked to, where the library alone was preloaded."""
    program = session.programs / "counters"
    command = [program, "all", "24"]
    plain = session.plain(command)
    for way in (*WAYS, "preloaded"):
        done, path, took = by_library(session, f"deep_{way}", command) if way == "preloaded" else \
            by_launcher(session, f"deep_{way}", command, GMTRACE_DEEP=way)
        session.check(f"{way}: output and status are those of one run", (plain.stdout, plain.returncode) ==
                      (done.stdout, done.returncode), f"{done.returncode} {done.stderr[-300:]}")
        session.note(f"{way}, all runs", took, "s")
        if counted(session, way, path):
            planted_lines(session, way, path)
            sums(session, way, path)
            if way == "rerun":
                against_ncu(session, path, program)
        valid = session.plain([session.build / "bin" / "gmanalyze", "validate", path])
        session.check(f"{way}: gmanalyze validate has no complaint", valid.returncode == 0,
                      valid.stdout[-300:])
        lines = session.plain([session.build / "bin" / "gmanalyze", "lines", path])
        session.check(f"{way}: gmanalyze lines shows who counted", "counted on the GPU" in lines.stdout,
                      lines.stderr[-200:])
        (session.out / f"deep_lines_{way}.txt").write_text(lines.stdout, encoding="utf-8")


# Text of the planted lines of programs/same_name* -> its file, and the calls that it was inlined at.
SAME_NAME = {
    "first module": ("same_name.cu", []),
    "other module": ("same_name_other.cu", []),
    "in header": ("same_name.cuh", []),
    "element": ("same_name.cuh", ["row", "tile", "nested"]),
}


def marked(session):
    """Line and mark of each line of programs/same_name* that ends in one."""
    found = {}
    for path in (session.sources / "programs").glob("same_name*.cu*"):
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if ";" in line and " // " in line:
                found[path.name, number] = line.split(" // ")[1]
    return found


def lines_of_builds(session, what, path):
    """Loads of a program of several modules: each on its own line, with every call between."""
    marks = marked(session)
    loads = rows(session, path, "SELECT c.kernel_id, i.file, i.line, i.chain_id FROM v_instruction i JOIN "
                 "kernel_class c ON c.id = i.class_id WHERE i.kind = 'global_load' AND i.source = 'sass'")
    session.check(f"{what}: four kernels have loads", len({load[0] for load in loads}) == 4, loads)
    for mark, (wanted_file, wanted_calls) in SAME_NAME.items():
        mine = [load for load in loads if load[1] and marks.get((os.path.basename(load[1]), load[2])) == mark]
        if not session.check(f"{what}: a load is on the line '{mark}' of {wanted_file}", bool(mine) and all(
                load[1].endswith(f"/{wanted_file}") for load in mine), loads):
            continue
        calls = [marks.get((os.path.basename(file), line)) for file, line in rows(
            session, path, "SELECT file, line FROM v_inline_level WHERE chain_id = ? AND level > 0 "
            "ORDER BY level", mine[0][3])]
        session.check(f"{what}: '{mark}' was inlined at {wanted_calls or 'no call'}", calls == wanted_calls, calls)


def builds(session):
    """Two modules with a kernel of one name, a kernel in a header, three inlined functions; whole, stripped,
    and without line information."""
    program, bare = session.programs / "same_name", session.programs / "same_name_bare"
    stripped = session.work / "same_name_stripped"
    session.check("the program can be stripped",
                  session.plain(["strip", "-o", stripped, program]).returncode == 0)
    plain = session.plain([program])
    for name, command in (("whole", program), ("stripped", stripped), ("bare", bare)):
        for way in WAYS:
            what = f"{name} program, {way}"
            done, path, _ = by_launcher(session, f"{name}_{way}", [command], GMTRACE_DEEP=way)
            session.check(f"{what}: output and status are those of one run", (plain.stdout, plain.returncode) ==
                          (done.stdout, done.returncode) and bool(plain.stdout), done.stderr[-300:])
            if not counted(session, what, path):
                continue
            shown = session.plain([session.build / "bin" / "gmanalyze", "lines", "--top", "0", path]).stdout
            if name == "bare":
                session.check(f"{what}: no line is named, and what helps is",
                              "build with nvcc -lineinfo" in shown and not rows(
                                  session, path, "SELECT 1 FROM v_instruction WHERE line IS NOT NULL"), shown[:300])
                continue
            lines_of_builds(session, what, path)
            session.check(f"{what}: the listing has the calls",
                          re.search(r"inlined at row \(.*\), at tile \(.*\), at .*same_name\.cu:\d+", shown), shown[-300:])
            valid = session.plain([session.build / "bin" / "gmanalyze", "validate", path])
            session.check(f"{what}: gmanalyze validate has no complaint", valid.returncode == 0, valid.stdout[-300:])


PARTS = {"known": known_kernels, "builds": builds,
         "reference": lambda session: [reference_kernels(session, way) for way in WAYS],
         "jit": lambda session: [jit(session, way) for way in WAYS], "costs": costs}


def run(session):
    wanted = os.environ.get("GMT_DEEP", ",".join(PARTS)).split(",")
    for name in wanted:
        PARTS[name](session)
