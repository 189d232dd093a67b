#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""commands.py SOURCE BUILD MAN: every command that README.md, the man pages, --help and some pages of docs show is executed, as it
stands there, in a folder that has what it names: an app.cu, a trace.db. The software device stands in for a GPU. Commands of one page
run in its order, and one that fails is a mistake of the page.

Not executed is what NOT_HERE lists, with the reason; a page whose commands are not found at all fails, too."""

import contextlib
import os
import pathlib
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile

PAGES = ("README.md", "docs/json.md", "docs/device-model.md", "docs/software-device.md", "docs/page.md", "docs/thresholds.md", "docs/try.md")
MAN = ("gmtrace.1", "gmanalyze.1", "gmcalibrate.1", "gmtrace.db.5")
HELP = (("gmtrace", "--help"), ("gmanalyze", "--help"))
OURS = ("gmtrace", "gmanalyze", "gmcalibrate")
# What a command may begin with in a block of code, behind assignments.
FIRST = (*OURS, "nvcc", "mpirun", "sqlite3", "env", "pipeline_slow", "pipeline_fast", "./app")
NOT_HERE = (
    (r"(\./)?(scripts/|cmake |cpack|cd |npm |ctest )", "builds or tests: .github/workflows and scripts/test run it"),
    (r"(sudo |apt|dpkg|rpm|pip|python3? -m pip|curl|wget|tar |export PATH|\. |source )", "installs: the tests of packages do it"),
)
# (what the line holds, statuses that its documentation gives it beside 0)
STATUSES = (
    (r"--fail-on|--budget|--baseline", {1}),
    (r"gmtrace doctor", {1}),
    (r"gmtrace apply|GMTRACE_APPLY", {125}),  # the software device has no times: nothing is proven
    (r"gmcalibrate|gmtrace calibrate", {3}),  # no usable GPU
)
PLACEHOLDERS = {"ID": "GM102", "NAME": "train", "COMMAND": "sql", "FILE": "trace.db", "PROGRAM": "./app"}
APP = r"""
#include <cstdio>
#include <cuda_runtime.h>
__global__ void twice(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i * 2 < n) x[i * 2] *= 2;
}
int main()
{
    enum { N = 1 << 14 };
    static float host[N];
    float *device = nullptr;
    if (cudaMalloc(&device, sizeof(host)) != cudaSuccess) return 1;
    for (int round = 0; round < 4; round++) {
        cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice);
        twice<<<N / 256, 256>>>(device, N);
        cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost);
    }
    cudaFree(device);
    return std::puts("done") < 0;
}
"""


def complete(lines: list[str]) -> list[str]:
    """Joins what a backslash or an open quote continues; takes comments away."""
    commands: list[str] = []
    pending = ""
    for line in lines:
        pending = f"{pending[:-1].rstrip()} {line.strip()}" if pending.endswith("\\") else f"{pending}\n{line}" if pending else line
        if pending.endswith("\\"):
            continue
        try:
            shlex.split(pending, comments=True)
        except ValueError:
            continue
        commands.append(re.sub(r"\s+#.*$", "", pending) if "'" not in pending else pending)
        pending = ""
    assert not pending, f"no end of: {pending}"
    return commands


def first_of(line: str) -> str:
    for word in line.split():
        if not re.match(r"\w+=", word):
            return word
    return ""


def of_man(text: str) -> list[str]:
    lines, literal, begun = [], False, False
    for line in text.splitlines():
        if line.startswith(".Dl $ "):
            lines.append(line[6:])
        elif line.startswith((".Bd -literal", ".Ed")):
            literal, begun = line.startswith(".Bd"), False
        elif literal and line.startswith("$ "):
            lines.append(line[2:])
            begun = True
        elif literal and begun:
            lines.append(line)
    return complete([line.replace("\\e", "\\") for line in lines])


def of_span(span: str) -> str | None:
    """A command within a sentence, made whole; None: it is a name."""
    words = shlex.split(span)
    if words[0] not in OURS or len(words) < 2:
        return None
    words = [PLACEHOLDERS.get(word, word) for word in words]
    if words[0] == "gmtrace" and not any(word in ("doctor", "calibrate", "help", "./app") for word in words[1:]):
        words += ["./app"] if words[-1] != "-o" else ["named.db", "./app"]
    if words[0] == "gmanalyze" and not re.search(r"\.db|--explain|--list-rules|help|--version", span):
        words += ["--help"] if not words[1].startswith("-") else ["trace.db"]
    words += ["GM102"] if words[-1] == "--explain" else []
    return shlex.join(words)


def is_begun(lines: list[str]) -> bool:
    """Does the last command go on in the next line?"""
    try:
        shlex.split("\n".join(lines), comments=True)
    except ValueError:
        return True
    return lines[-1].endswith("\\")


def of_markdown(text: str) -> list[str]:
    commands: list[str] = []
    block: list[str] = []
    fence = None
    for line in text.splitlines():
        if line.startswith("```"):
            fence = line[3:] if fence is None else None
            continue
        code = line if fence in ("sh", "console") else line[4:] if fence is None and line.startswith("    ") else None
        if code is not None and (block or is_command(code)):
            block.append(code.removeprefix("$ "))
            if not is_begun(block):
                commands += complete(block)
                block = []
        if code is None and fence is None:
            spans = [span for span in re.findall(r"`([^`]+)`", line) if span.split(" ")[0] in OURS and "(" not in span]
            commands += [command for command in map(of_span, spans) if command is not None]
    return commands


def is_command(line: str) -> bool:
    line = line.removeprefix("$ ")
    return is_elsewhere(line) or (first_of(line) in FIRST and not first_of(line).endswith(":"))


def of_help(text: str) -> list[str]:
    examples = text.partition("Examples:\n")[2].partition("\n\n")[0]
    return complete([line.strip() for line in examples.splitlines()])


def is_elsewhere(line: str) -> bool:
    return any(re.match(pattern, line) for pattern, _ in NOT_HERE)


class Place:
    """A machine with the software device, and the files that the pages speak of."""

    def __init__(self, source: pathlib.Path, build: pathlib.Path, work: pathlib.Path) -> None:
        self.source, self.build, self.work = source, build, work
        self.stubs = work / "bin"
        self.stubs.mkdir()
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("GMTRACE_")}
        self.env |= {
            "PATH": f"{self.stubs}:{build}/bin:{os.environ['PATH']}:/usr/local/cuda/bin",
            # As where the wheel is installed beside PyTorch.
            "PYTHONPATH": f"{source}/packaging/python:{source}/tests/e2e/python/standin", "PYTHONDONTWRITEBYTECODE": "1",
            "LD_LIBRARY_PATH": f"{build}/libexec/gmtrace/simgpu:{build}/lib",
            "GMTRACE_DEVICE": "sim", "XDG_CACHE_HOME": str(work / "cache"), "HOME": str(work)}
        for twin in ("slow", "fast"):
            self.stub(f"pipeline_{twin}", f'exec "{build}/bin/pipeline_{twin}_shared" --size 512 --frames 2 "$@"')
        # Two ranks will do; `-n 8` and the like are its own.
        self.stub("mpirun", 'shift 2; for r in 0 1; do OMPI_COMM_WORLD_RANK=$r OMPI_COMM_WORLD_SIZE=2 "$@" || exit; done')
        if shutil.which("python") is None:
            self.stub("python", 'exec python3 "$@"')
        (work / "app.cu").write_text(APP)
        self.run("nvcc -cudart shared -g -lineinfo -gencode arch=compute_90,code=compute_90 -o app app.cu", work)
        self.run("gmtrace -o trace.db ./app", work)

    def stub(self, name: str, text: str) -> None:
        path = self.stubs / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def run(self, line: str, folder: pathlib.Path) -> subprocess.CompletedProcess:
        return subprocess.run(["sh", "-c", line], cwd=folder, env=self.env, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, errors="replace", timeout=500, check=False)

    def ranks(self, folder: pathlib.Path) -> None:
        """The traces of two ranks, with sums over steps."""
        folder.mkdir()
        for rank in range(2):
            shutil.copy(self.work / "trace.db", folder / f"{rank}.db")
            with contextlib.closing(sqlite3.connect(folder / f"{rank}.db")) as trace, trace:
                trace.execute("UPDATE process SET rank = ?", (rank,))
                for step in range(1, 9):
                    trace.execute("INSERT INTO step VALUES (?, ?, 1, 'range', NULL, ?, ?, 900, 1000)",
                                  (step, step, step * 1000, step * 1000 + 1000))
                    trace.execute("INSERT INTO step_call VALUES (?, 'kernel', NULL, 4, 0, 100, 0, 30)", (step,))

    def folder(self, name: str) -> pathlib.Path:
        folder = self.work / name.replace("/", "_")
        folder.mkdir()
        for file in ("app.cu", "app", "trace.db"):
            shutil.copy(self.work / file, folder / file)
        for copy in ("before.db", "after.db", "A.db", "B.db", "C.db"):
            shutil.copy(self.work / "trace.db", folder / copy)
        (folder / "srv/symbols").mkdir(parents=True)
        self.ranks(folder / "traces")
        (folder / "train.py").write_text('import ctypes\nctypes.CDLL("libcuda.so.1").cuInit(0)\n')
        raw = self.source / "kernels/models/nvidia-h200.raw.json.gz"
        subprocess.run(f"gunzip -c '{raw}' >raw.json", shell=True, cwd=folder, check=True)
        return folder


def check(place: Place, name: str, commands: list[str]) -> tuple[int, int, int]:
    folder, done, left, failed = place.folder(name), 0, 0, 0
    for line in commands:
        if is_elsewhere(line):
            left += 1
            continue
        done += 1
        allowed = {0}.union(*(statuses for pattern, statuses in STATUSES if re.search(pattern, line)))
        # Folders of a machine are those of this one.
        result = place.run(line.replace("/srv/", f"{folder}/srv/").replace("/path/to/", f"{place.build}/"), folder)
        said = result.stdout + result.stderr
        odd = re.search(r"unrecognized option|no option '|invalid option|not found$|cannot be preloaded|Traceback", said, re.M)
        if result.returncode == 3 and "no GPU" not in said:
            odd = True
        if result.returncode not in allowed or odd:
            failed += 1
            print(f"FAIL: {name}: status {result.returncode}: {line}\n{said[-1500:]}")
    return done, left, failed


def main() -> int:
    source, build, man = (pathlib.Path(path).resolve() for path in sys.argv[1:])
    if not (build / "bin/pipeline_slow_shared").exists() or not (build / "bin/gmtrace").exists():
        print("skipped: gmtrace or the sample programs are not built (no nvcc)")
        return 77
    total = failed = 0
    with tempfile.TemporaryDirectory(prefix="gmtrace-test.") as work:
        place = Place(source, build, pathlib.Path(work))
        if not (pathlib.Path(work) / "trace.db").exists():
            print("skipped: no nvcc, or the software device is not built")
            return 77
        pages = {page: of_markdown((source / page).read_text(encoding="utf-8")) for page in PAGES}
        pages |= {page: of_man((man / f"man{page[-1]}" / page).read_text(encoding="utf-8")) for page in MAN}
        pages |= {" ".join(line): of_help(place.run(shlex.join(line), place.work).stdout) for line in HELP}
        for name, commands in pages.items():
            if not (build / "bin/gmcalibrate").exists():
                commands = [line for line in commands if "calibrate" not in line]
            done, left, wrong = check(place, name, commands)
            print(f"{name}: {done} commands, {left} not executed here, {wrong} failed")
            if done == 0 and "calibrate" not in name:
                print(f"FAIL: {name}: no command was found")
                wrong += 1
            total, failed = total + done, failed + wrong
    print(f"{total} commands, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
