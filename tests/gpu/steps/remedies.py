# SPDX-License-Identifier: Apache-2.0
"""Why kernels are not measured completely, and what the report says to do about it: followed as it is printed, it helps.
A program per reason (programs/unmeasured.cu). GMT_REMEDIES=budget,room limits it to some of REASONS."""

import json
import os
import re

# Mode of the program -> words of the reason (libtrace/record/unmeasured.def) that its kernel must have.
REASONS = {
    "host": "it is given memory that the host can reach",
    "array": "others write memory of this device unseen",
    "prints": "its code prints",
    "behind": "did not end within a second",
    "overtaken": "other kernels were launched before it had ended",
    "longer": "ran for a second or longer",
    "room": "no room for a copy",
    "budget": "more than the budget",
    "long_on_host": "not seen to end without its caller",
    "captured": "only ran in graphs",
}
# Modes whose kernel looks as if it could not be measured, and is, completely, all the same.
INNOCENT = ("contexts", "attribute", "threads", "beside_function")

# Of which kernels the remedy brings values of which kinds: counts, unless another mode says more.
BRINGS = {"overtaken": ("%spin%", {"hardware"})}


def recorded(session, name, mode, options=(), environment=None):
    """By gmtrace, as a user would: the trace, and what could not be checked: {why: remedy}."""
    path = session.trace_path(name)
    program = session.programs / "unmeasured"
    plain = session.plain([program, mode])
    done = session.run_in([session.build / "bin" / "gmtrace", "--quiet", *options, "-o", path, program, mode],
                          session.environment(None, **(environment or {})), timeout=300)
    session.check(f"{name}: output and status unchanged",
                  (plain.stdout, plain.returncode) == (done.stdout, done.returncode), done.stderr[-300:])
    report = session.plain([session.build / "bin" / "gmanalyze", "--calibrate", "never", "--format", "json", path])
    return path, {gap["why"] or "": gap["remedy"] or "" for gap in json.loads(report.stdout)["could_not_check"]}


def following(remedy, mode):
    """The remedy as words for gmtrace, variables, and the mode of the program."""
    options = re.findall(r"--[a-z-]+ [a-z]+", remedy)
    variables = dict(re.findall(r"\b(GMTRACE_[A-Z_]+)=(\w+)", remedy))
    changed = "run the captured code twice" in remedy or "cudaDeviceSynchronize" in remedy
    again = f"{mode}_after" if changed else mode
    return [word for option in options for word in option.split()], variables, again


def run(session):
    wanted = [name for name in os.environ.get("GMT_REMEDIES", "").split(",") if name]
    for mode in INNOCENT if not wanted else ():
        path, gaps = recorded(session, f"innocent_{mode}", mode)
        groups = session.rows(path, "SELECT DISTINCT grp FROM kernel_counters WHERE value IS NOT NULL")
        session.check(f"{mode}: measured completely", {"hardware", "patched"} <= {group for group, in groups},
                      (groups, gaps))
    for mode, words in REASONS.items():
        if wanted and mode not in wanted:
            continue
        _, gaps = recorded(session, f"remedy_{mode}", mode)
        reasons = [why for why in gaps if words in why]
        if not session.check(f"{mode}: the reason is said", len(reasons) > 0, gaps):
            continue
        options, variables, again = following(gaps[reasons[0]], mode)
        if not session.check(f"{mode}: with what to do", options or variables or again != mode, gaps[reasons[0]]):
            continue
        path, left = recorded(session, f"remedied_{mode}", again, options, variables)
        session.check(f"{mode}: which helps", not any(words in why for why in left), left)
        # Another reason may be behind it, with a remedy of its own.
        for remedy in [remedy for why, remedy in left.items() if "kernel class" in why and remedy]:
            more, others, again = following(remedy, again)
            options, variables = options + more, {**variables, **others}
            path, _ = recorded(session, f"remedied_{mode}", again, options, variables)
        kernels, kinds = BRINGS.get(mode, ("%", {"patched", "instructions"}))
        groups = session.rows(path, "SELECT DISTINCT c.grp FROM kernel_counters c JOIN kernel_class s ON s.id = c.class_id "
                              f"JOIN kernel k ON k.id = s.kernel_id WHERE value IS NOT NULL AND k.name LIKE '{kernels}' "
                              "UNION SELECT 'instructions' FROM instruction")
        session.check(f"{mode}: and brings values", kinds & {group for group, in groups}, groups)
