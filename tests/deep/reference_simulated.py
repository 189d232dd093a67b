#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The software device's counts of the reference kernels against a GPU's, kernel by kernel and line by line.

reference_simulated.py DEEP.db[.gz] SIMULATED.db: compared are sectors and wavefronts per request, as the
sizes differ, by kernel, line, calling line and kind of access. Status 1 where they differ and no row of
DIFFERENT says why, or where a row has become needless.
"""

import gzip
import pathlib
import re
import sqlite3
import sys
import tempfile


# Kernel (a regular expression of its whole name) and kind -> why the two need not agree.
OFF = "machine code issues the access with all lanes switched off, where PTX branches around it"
ONE_LINE = "the machine code's line table has loads of two source lines on one of them"
DIFFERENT = [
    (r"gmt_kernel_bank<\d+u>|gmt_kernel_bank_vector", "shared_store", OFF),
    (r"gmt_kernel_bank_(wide|together)<.*>", "shared_store", OFF),
    (r"gmt_kernel_rate_shared", "shared_store", OFF),
    (r"gmt_kernel_rate_scattered", "global_load", OFF),
    (r"gmt_kernel_staged_(un)?read", "global_load|shared_store", OFF),
    (r"gmt_kernel_matmul_tiled<\d+u>", "global_load", ONE_LINE),
    (r"gmt_kernel_stencil_(naive|tiled)", "global_load", ONE_LINE),
    (r"gmt_kernel_spill_\d+", "local_.*", "only ptxas spills, and PTX knows no limit of registers"),
    (r"gmt_kernel_local_array", "local_.*", "one class of two variants: other launches were counted"),
]

COUNTS = """
SELECT k.name, f.text, i.line, c.text, i.caller_line, i.kind, sum(i.sectors) * 1.0 / sum(i.requests),
       sum(i.wavefronts) * 1.0 / sum(i.requests)
FROM instruction i JOIN kernel_class kc ON kc.id = i.class_id JOIN kernel k ON k.id = kc.kernel_id
JOIN string f ON f.id = i.file_id LEFT JOIN string c ON c.id = i.caller_file_id
WHERE i.source = ? AND i.requests > 0 AND (i.kind LIKE 'global%' OR i.kind LIKE 'shared%' OR
      i.kind LIKE 'local%')
GROUP BY 1, 2, 3, 4, 5, 6
"""


def counts(path: pathlib.Path, source: str) -> dict[tuple, tuple]:
    def place(file, line):
        return f"{pathlib.PurePath(file).name}:{line}" if file else ""

    with sqlite3.connect(path) as db:
        return {(name.split("(")[0].removeprefix("void "), place(file, line), place(caller, caller_line), kind):
                (sectors, wavefronts)
                for name, file, line, caller, caller_line, kind, sectors, wavefronts
                in db.execute(COUNTS, (source,))}


def equal(ours: tuple | None, theirs: tuple | None) -> bool:
    """Sectors of global and local memory, wavefronts of shared memory: a kind has one of them."""
    if ours is None or theirs is None:
        return False
    return all(a is None or b is None or abs(a - b) <= 0.01 * max(a, b)
               for a, b in zip(ours, theirs)) and any(
               a is not None and b is not None for a, b in zip(ours, theirs))


def reason(kernel: str, kind: str) -> tuple[str, str, str] | None:
    return next((row for row in DIFFERENT if re.fullmatch(row[0], kernel)
                 and re.fullmatch(row[1], kind)), None)


def compare(deep: dict, simulated: dict) -> int:
    both = {key[0] for key in deep} & {key[0] for key in simulated}
    bad, agreed, used = 0, 0, set()
    for key in sorted(set(deep) | set(simulated)):
        if key[0] not in both:
            continue
        good = equal(deep.get(key), simulated.get(key))
        why = reason(key[0], key[3])
        agreed += good
        if good:
            continue
        text = f"{key}: {deep.get(key)} on the GPU, {simulated.get(key)} simulated"
        print(f"ok   {text}: {why[2]}" if why else f"FAIL {text}")
        bad += why is None
        used.add(why)
    for row in DIFFERENT:
        if row not in used:
            bad += 1
            print(f"FAIL needless: {row}")
    print(f"{'ok  ' if agreed > 300 and len(both) > 100 else 'FAIL'} {agreed} lines of {len(both)} kernels agree")
    return bad + (agreed <= 300 or len(both) <= 100)


def main() -> int:
    deep, simulated = (pathlib.Path(argument) for argument in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        if deep.suffix == ".gz":
            path = pathlib.Path(folder) / "deep.db"
            path.write_bytes(gzip.decompress(deep.read_bytes()))
            deep = path
        return 1 if compare(counts(deep, "sass"), counts(simulated, "simulated")) else 0


if __name__ == "__main__":
    sys.exit(main())
