#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""workflow.py SOURCE: .github/workflows/*.yml are workflows, and what they run is in the repository: scripts, presets, folders.
Build and test stay the commands of README.md."""

import json
import os
import pathlib
import re
import shlex
import sys

try:
    import yaml
except ImportError:
    print("skipped: no python3-yaml")
    sys.exit(77)

# What the image has, or what the steps before install.
PROGRAMS = {"apt-get", "curl", "dpkg", "rm", "git", "cmake", "cpack"}
JOB_KEYS = {"runs-on", "container", "timeout-minutes", "env", "defaults", "steps", "needs", "strategy"}
STEP_KEYS = {"name", "uses", "with", "run", "if", "env", "working-directory", "shell"}
README = ("scripts/setup", "scripts/test", "scripts/package")

faults = []


def hold(condition: bool, text: str) -> None:
    if not condition:
        faults.append(text)


def presets(source: pathlib.Path) -> set[str]:
    listed = json.loads((source / "CMakePresets.json").read_text(encoding="utf-8"))
    return {row["name"] for row in listed["configurePresets"] if not row.get("hidden")}


def check_command(source: pathlib.Path, where: str, words: list[str]) -> None:
    if "/" in words[0]:
        hold(os.access(source / words[0], os.X_OK), f"{where}: {words[0]} is no program of the repository")
    else:
        hold(words[0] in PROGRAMS, f"{where}: {words[0]} is not known to be there")
    if "--preset" in words:
        name = words[words.index("--preset") + 1]
        hold(name in presets(source), f"{where}: CMakePresets.json has no preset {name}")


def check_step(source: pathlib.Path, where: str, step: dict) -> list[str]:
    commands = []
    hold(set(step) <= STEP_KEYS, f"{where}: unknown keys {sorted(set(step) - STEP_KEYS)}")
    hold(("run" in step) != ("uses" in step), f"{where}: either run or uses")
    if "uses" in step:
        hold(re.fullmatch(r"[\w-]+/[\w/-]+@v\d+", step["uses"]) is not None, f"{where}: {step['uses']} names no version")
    for line in step.get("run", "").replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words:
            check_command(source, where, words)
            commands.append(" ".join(words))
    folder = step.get("working-directory", "build/").split("/")
    hold(folder[0] == "build" and (len(folder) < 2 or folder[1] in presets(source) | {""}),
         f"{where}: no folder {'/'.join(folder)}")
    for path in str(step.get("with", {}).get("path", "")).split():
        hold(path.startswith("build/"), f"{where}: {path} is not made by a build")
    return commands


def check_file(source: pathlib.Path, path: pathlib.Path) -> list[str]:
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    commands = []
    # YAML 1.1 takes the key `on` for a truth value.
    hold(True in workflow or "on" in workflow, f"{path.name}: nothing starts it")
    hold(bool(workflow.get("jobs")), f"{path.name}: no jobs")
    for name, job in (workflow.get("jobs") or {}).items():
        where = f"{path.name}, job {name}"
        hold(set(job) <= JOB_KEYS, f"{where}: unknown keys {sorted(set(job) - JOB_KEYS)}")
        hold("runs-on" in job and "timeout-minutes" in job, f"{where}: where it runs, and how long at most")
        for number, step in enumerate(job.get("steps", []), 1):
            commands += check_step(source, f"{where}, step {number}", step)
    return commands


def main() -> int:
    source = pathlib.Path(sys.argv[1]).resolve()
    files = sorted((source / ".github/workflows").glob("*.yml"))
    hold(bool(files), "no workflow in .github/workflows")
    commands = [command for path in files for command in check_file(source, path)]
    readme = (source / "README.md").read_text(encoding="utf-8")
    for command in README:
        hold(any(f"{said} ".startswith(f"{command} ") for said in commands), f"no step runs `{command}`")
        hold(command in readme, f"README.md does not say `{command}`")
    for fault in faults:
        print(f"FAIL: {fault}")
    print(f"{len(files)} workflows, {len(commands)} commands")
    return 1 if faults else 0


sys.exit(main())
