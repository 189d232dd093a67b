# SPDX-License-Identifier: Apache-2.0
"""What a calibration of k processes would say, and how far several of them would differ: needs no
GPU, only raw timings that say which process took each sample."""

import itertools
import re
import statistics

import rates

TARGET = 0.05  # calibrations are to repeat within that

READ_BY_RULES = "what rules read of them"

# Quantities that are judged together: a name, the part of the raw file, the beginning of their names.
GROUPS = (
    ("copies, pageable", "transfers", r"..._pageable"),
    ("copies, pinned and registered", "transfers", r"..._(pinned|registered)"),
    ("kernels on mapped memory", "transfers", r"mapped_"),
    ("within and between devices", "transfers", r""),
    ("runs and 2-D, pageable", "batches", r".*pageable|rows_512( |$)"),
    ("runs and 2-D, pinned", "batches", r""),
    ("allocating", "costs", r"malloc_"),
    ("page-locking", "costs", r"(pin|register)_"),
    ("launching and waiting", "costs", r""),
    ("families bound by the host", "families", r""),
)


def ordered(processes: list) -> list:
    return sorted(median for passes in processes for median in passes)


def quicker_half(processes: list) -> float:
    medians = ordered(processes)
    return statistics.mean(medians[:(len(medians) + 1) // 2])


def quickest_third(processes: list) -> float:
    medians = ordered(processes)
    return statistics.mean(medians[:(len(medians) + 2) // 3])


def lowest(processes: list) -> float:
    return ordered(processes)[0]


def middle(processes: list) -> float:
    return statistics.median(ordered(processes))


def lowest_of_medians(processes: list) -> float:
    return min(statistics.median(passes) for passes in processes)


# The first is the model's (gmt_stat_passes). A process is the list of the medians of its passes.
RULES = {
    "mean of the quickest third of all passes": quickest_third,
    "mean of the quicker half of all passes": quicker_half,
    "quickest pass": lowest,
    "median pass": middle,
    "quickest process, of each its median pass": lowest_of_medians,
}


def name_of(item: dict) -> str:
    if "width" in item:
        return f"{item['width']}x{item['rows']}/{item['device_pitch_bytes']}"
    return str(item.get("variant", item.get("bytes", "")))


def by_process(samples: list, passes: list, processes: list) -> list:
    """The medians of the passes of each process."""
    kept = {}
    for sample, number, process in zip(samples, passes, processes):
        kept.setdefault(process, {}).setdefault(number, []).append(sample)
    return [[statistics.median(one[number]) for number in sorted(one)]
            for _, one in sorted(kept.items())]


def series(node: object, path: str = ""):
    """(name, medians of the passes of each process) of every series below a node of a raw file."""
    if isinstance(node, list):
        for item in node:
            if isinstance(item, dict):
                yield from series(item, f"{path} {name_of(item)}")
    elif isinstance(node, dict):
        for key, value in node.items():
            if isinstance(value, list) and key.endswith("_ns") and "process" in node:
                # One that a process could not take says nothing of what processes differ by.
                if len(value) == len(node["process"]):
                    yield ((path if key == "samples_ns" else f"{path} {key}").strip(),
                           by_process(value, node["pass"], node["process"]))
            elif isinstance(value, (dict, list)):
                yield from series(value, path if key == "points" else f"{path} {key}".strip())


def quantities(raw: dict) -> dict:
    """By part and name: the medians of the passes of each process."""
    return {part: dict(series(raw.get(part, {})))
            for part in ("transfers", "batches", "costs", "families")}


def group_of(part: str, name: str) -> str:
    return next(label for label, its_part, start in GROUPS
                if its_part == part and re.match(start, name))


def differ(values: list) -> float:
    """(largest - smallest) / median."""
    return (max(values) - min(values)) / statistics.median(values)


def groups_of(processes: list, k: int) -> list:
    """Disjoint groups of k processes that came one after the other, as those of a calibration do."""
    return [processes[i:i + k] for i in range(0, len(processes) - k + 1, k)]


def moved(processes: list, k: int, rule) -> tuple | None:
    """How far calibrations of k processes differ: all of them, and two on average. None: one only."""
    return moves_of([rule(group) for group in groups_of(processes, k)])


def moves_of(values: list) -> tuple | None:
    if len(values) < 2 or min(values) <= 0:
        return None
    return differ(values), statistics.mean(differ(list(pair))
                                           for pair in itertools.combinations(values, 2))


def summary(shares: list) -> dict:
    ordered = sorted(shares)
    return {"n": len(ordered), "typical": statistics.median(ordered),
            "p90": ordered[int(0.9 * (len(ordered) - 1))],
            "above": sum(share > TARGET for share in ordered) / len(ordered)}


def rates_of(measured: dict, rule) -> dict:
    """What rules read of a calibration, by row of used.def and place."""
    return rates.evaluate({part: {name: rule(processes) for name, processes in names.items()}
                           for part, names in measured.items()})


def rate_moves(measured: dict, k: int, rule) -> list:
    """How far what rules read differs: curves at sizes that programs have, ratios of two times."""
    total = max((len(one) for names in measured.values() for one in names.values()), default=0)
    numbers = groups_of(list(range(total)), k)
    found = [rates_of({part: {name: [one[i] for i in group] for name, one in names.items()
                              if len(one) == total}
                       for part, names in measured.items()}, rule) for group in numbers]
    common = set.intersection(*(set(one) for one in found)) if found else set()
    return [move for key in sorted(common)
            if (move := moves_of([one[key] for one in found])) is not None]


def table(measured: dict, most: int) -> list:
    """Rows of (rule, group, k, summary over all groups, summary over pairs)."""
    rows = []
    for rule_name, rule in RULES.items():
        for k in range(1, most + 1):
            found = {}
            for part, names in measured.items():
                for name, processes in names.items():
                    moves = moved(processes, k, rule)
                    if moves is not None:
                        for label in (group_of(part, name), "all"):
                            found.setdefault(label, []).append(moves)
            read = rate_moves(measured, k, rule)
            if read:
                found[READ_BY_RULES] = read
            for label in [row[0] for row in GROUPS] + ["all", READ_BY_RULES]:
                if label in found:
                    rows.append((rule_name, label, k, summary([one for one, _ in found[label]]),
                                 summary([pair for _, pair in found[label]])))
    return rows
