# SPDX-License-Identifier: Apache-2.0
# Makes a trace with a hostile text in every column that may hold one, has every command read it, and looks at what
# reaches standard output and standard error: hostile_text.py GMANALYZE TRACE MODEL. Writes to the current folder.
import json, os, re, shutil, sqlite3, subprocess, sys

ESCAPES = "\x1b]0;t\x07\x1b[2J\x9b31m\x7f\u202e\u2066\u200f\nx\r\x08\t\x01\u0085"
BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe]")
# Of these, other values would leave nothing to print.
LEAVE = {("meta", "key"), ("meta", "value"), ("capability", "state"), ("source_file", "state")}


def hostile(trace):
    """Each text becomes itself with escapes; words of ours that choose what is shown stay."""
    db = sqlite3.connect(trace, isolation_level=None)
    db.execute("PRAGMA ignore_check_constraints = ON")
    columns = db.execute("SELECT t.name, c.name FROM sqlite_master t, pragma_table_info(t.name) c "
                         "WHERE t.type = 'table' AND c.type = 'TEXT'").fetchall()
    changed = 0
    for table, column in columns:
        words = db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
        if (table, column) in LEAVE or re.search(rf"\b{column} +TEXT[^,]*CHECK", words):
            continue
        changed += db.execute(f'UPDATE OR IGNORE "{table}" SET "{column}" = ? || "{column}" || rowid || ?',
                              (ESCAPES, ESCAPES)).rowcount
    db.close()
    return changed, len(columns)


def check(label, command, statuses, environment=None):
    run = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, env=environment)
    bad = 0
    for stream, data in (("standard output", run.stdout), ("standard error", run.stderr)):
        found = BAD.search(re.sub("\r\n", "\n", data.decode("utf-8", "surrogateescape")))
        if found or any(0xdc80 <= ord(c) <= 0xdcff for c in data.decode("utf-8", "surrogateescape")):
            print(f"RAW {label}: {stream}: {found and found.string[max(0, found.start() - 40):found.end() + 20]!r}")
            bad += 1
    if run.returncode not in statuses:
        print(f"STATUS {label}: {run.returncode}: {run.stderr[-300:]!r}")
        bad += 1
    if not run.stdout and not run.stderr:
        print(f"NOTHING {label}")
        bad += 1
    return bad


def main():
    gmanalyze, trace, model = sys.argv[1:]
    shutil.copy(trace, "text.db")
    changed, columns = hostile("text.db")
    assert changed > 50 and columns > 60, (changed, columns)
    name = "na\x1b[31mme\u202e.db"
    shutil.copy("text.db", name)
    shutil.copy(trace, "columns.db")
    db = sqlite3.connect("columns.db", isolation_level=None)
    db.execute('ALTER TABLE transfer RENAME COLUMN direction TO "di\x1b[31mrection"')
    db.execute('CREATE TABLE "v_\x1b[31mx" (a)')
    db.close()
    given = json.load(open(model))
    given["device"]["name"] = given["created"] = ESCAPES
    json.dump(given, open("model.json", "w"), ensure_ascii=False)
    json.dump([{"path": "/*", "timings": [{"metric": ESCAPES, "budget": 1}], ESCAPES: 1}], open("budget.json", "w"))
    json.dump({ESCAPES: {ESCAPES: 1}}, open("budget2.json", "w"))
    open("broken.json", "w").write('{"a": \x1b[31m}')
    bad = 0
    for target in ("text.db", name, "columns.db"):
        for form in ("text", "json", "markdown", "csv", "sarif"):
            bad += check(f"{form} of {target!r}", [gmanalyze, "--calibrate=never", "--model=model.json", "--top=0", f"--format={form}", target], (0, 3))
        for arguments in ([target], ["--json", target]):
            bad += check(f"validate {arguments!r}", [gmanalyze, "validate", *arguments], (0, 3))
        for form in ("table", "tsv", "csv", "json"):
            bad += check(f"sql {form} of {target!r}", [gmanalyze, "sql", f"--format={form}", target, "SELECT * FROM string, kernel, process, thread"], (0, 2, 3))
        bad += check(f"sql columns of {target!r}", [gmanalyze, "sql", target, 'SELECT 1 AS "a\x1b[31mb"'], (0, 2, 3))
        bad += check(f"sql wrong of {target!r}", [gmanalyze, "sql", target, 'SELECT "\x1b[31mb" FROM "\x1b[2J"'], (2, 3))
        bad += check(f"sql list of {target!r}", [gmanalyze, "sql", target], (0, 3))
        bad += check(f"lines of {target!r}", [gmanalyze, "lines", "--top=0", target], (0, 3, 4))
        bad += check(f"lines json of {target!r}", [gmanalyze, "lines", "--format=json", target], (0, 3, 4))
        bad += check(f"range of {target!r}", [gmanalyze, "--calibrate=never", "--range=\x1b[31mnone", target], (3,))
        bad += check(f"perfetto of {target!r}", [gmanalyze, "export", "--to=perfetto", target], (0, 3))
        bad += check(f"speedscope of {target!r}", [gmanalyze, "export", "--to=speedscope", target], (0, 3))
        bad += check(f"pprof of {target!r}", [gmanalyze, "export", "--to=pprof", "-o", "profile.pb.gz", target], (0, 3))
        bad += check(f"csv of {target!r}", [gmanalyze, "export", "--to=csv", "-o", "folder\x1b[31m", target], (0, 3))
        bad += check(f"diff of {target!r}", [gmanalyze, "diff", "--calibrate=never", target, target], (0, 3))
        bad += check(f"several {target!r}", [gmanalyze, "--calibrate=never", target, target], (0, 3))
        for given in ("budget.json", "budget2.json", "broken.json"):
            bad += check(f"{given} of {target!r}", [gmanalyze, "--calibrate=never", f"--budget={given}", target], (0, 1, 2, 3, 4))
        bad += check(f"broken model of {target!r}", [gmanalyze, "--calibrate=never", "--model=broken.json", target], (3,))
        bad += check(f"symbolize {target!r}", [gmanalyze, "symbolize", target], (0, 3))
    odd = "y\x1b[31m\u202e"
    for line in (["export", odd, odd], ["export", f"--to={odd}", odd], ["validate", odd, odd], ["sql", odd, odd, odd],
                 ["symbolize", odd, odd], ["symbolize", f"--debug-dir={odd}", odd], ["recover", odd, odd], ["help", odd],
                 [f"--top={odd}", odd], [f"--rule={odd}", odd], [f"--explain={odd}"], [f"--kernel=({odd}", odd],
                 [f"--max-regression={odd}", odd], ["-o", odd, odd], ["-o", f"{odd}.sarif", odd, odd]):
        bad += check(f"usage {line!r}", [gmanalyze, *line], (2,))
    names = [f for f in os.listdir(".") if BAD.search(f) and not f.startswith(("na", "folder"))]
    inside = [f for f in os.listdir("folder\x1b[31m") if BAD.search(f)]
    assert not names and not inside, (names, inside)
    print(f"{changed} texts in {columns} columns, {bad} faults")
    sys.exit(bad > 0)


main()
