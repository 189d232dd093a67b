#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_formats.py SARIF-SCHEMA FOLDER: every report in the folder is what its format's rules want."""
import csv
import io
import json
import pathlib
import re
import sys

import jsonschema

failed = 0


def fail(path, what):
    global failed
    failed += 1
    print(f"FAIL: {path.name}: {what}")


def validator(path):
    schema = json.loads(pathlib.Path(path).read_text())
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema, format_checker=jsonschema.FormatChecker())


# What code scanning of GitHub wants beyond the schema (docs.github.com, "SARIF support for code scanning": the tables
# of properties, and the limits). It refuses the whole file for one result without a place.
MOST = {"bytes": 10 << 20, "results": 5000, "rules": 25000, "locations": 1000, "tags": 20, "name": 255, "text": 1024}


def check_place(path, location):
    """A file, relative to the one root or absolute, and a line. Returns the file."""
    place = location.get("physicalLocation", {})
    where = place.get("artifactLocation", {})
    uri = where.get("uri", "")
    absolute = uri.startswith("file:///")
    if not re.fullmatch(r"[!-~]+", uri) or absolute == ("uriBaseId" in where):
        fail(path, f"place {where}")
    if not absolute and (re.match(r"[a-z]+:|/", uri) or ".." in uri.split("/") or where["uriBaseId"] != "%SRCROOT%"):
        fail(path, f"{uri} is not below the root")
    if place.get("region", {}).get("startLine", 0) < 1:
        fail(path, f"no line in {place}")
    return uri


def places_of(result):
    """Of a result, all that it names: the first is where it is shown."""
    frames = [frame["location"] for stack in result.get("stacks", []) for frame in stack["frames"]]
    named = [frame for frame in frames if "physicalLocation" in frame]
    return result["locations"] + result.get("relatedLocations", []) + named


def check_scanned(path, result):
    if not result.get("message", {}).get("text") or not result.get("locations"):
        fail(path, "a result without a message or a location")
        return []
    if len(result["locations"]) + len(result.get("relatedLocations", [])) > MOST["locations"]:
        fail(path, "too many locations")
    if not result["partialFingerprints"].get("primaryLocationLineHash"):
        fail(path, "the fingerprint that alerts are identified by is missing")
    files = [check_place(path, place) for place in places_of(result)]
    if files[0].startswith("file:") and not all(file.startswith("file:") for file in files):
        fail(path, f"shown in {files[0]}, outside of the repository, though {files} has a place in it")
    return files


def check_scanned_run(path, run, files):
    if path.stat().st_size > MOST["bytes"] or len(run["results"]) > MOST["results"]:
        fail(path, "too large an upload")
    rules = run["tool"]["driver"]["rules"]
    if not run["tool"]["driver"].get("name") or len(rules) > MOST["rules"]:
        fail(path, "no name of the tool, or too many rules")
    if len({rule["id"] for rule in rules}) != len(rules):
        fail(path, "two rules of one id")
    for rule in rules:
        texts = [rule.get(key, {}).get("text", "") for key in ("shortDescription", "fullDescription")]
        if not all(0 < len(text) <= MOST["text"] for text in texts) or not rule.get("help", {}).get("text"):
            fail(path, f"{rule['id']} lacks a text")
        if len(rule.get("name", "")) > MOST["name"] or len(rule["properties"]["tags"]) > MOST["tags"]:
            fail(path, f"{rule['id']}: name or tags")
        if rule["defaultConfiguration"]["level"] not in ("none", "note", "warning", "error"):
            fail(path, f"{rule['id']}: level")
    # One root: no file goes by two names, one of them the end of the other.
    inside = {file for file in files if not file.startswith("file:")}
    for file in files - inside:
        if any(file.endswith("/" + other) for other in inside):
            fail(path, f"{file} has a name below the root, too")


def check_sarif(path, sarif):
    log = json.loads(path.read_bytes().decode())
    for error in sarif.iter_errors(log):
        fail(path, f"{list(error.absolute_path)}: {error.message[:200]}")
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    if len(run["results"]) > 200:
        fail(path, f"{len(run['results'])} results")
    files = set()
    for result in run["results"]:
        # What the schema cannot say.
        if rules[result["ruleIndex"]]["id"] != result["ruleId"]:
            fail(path, "ruleIndex names another rule")
        if result["level"] not in ("error", "warning", "note"):
            fail(path, f"level {result['level']}")
        files.update(check_scanned(path, result))
        prints = result["partialFingerprints"]
        if any(not re.fullmatch(r"[0-9a-f]{16}", prints[name]) for name in ("gmtrace/v1", "gmtrace/v2")):
            fail(path, "fingerprint")
        if prints["primaryLocationLineHash"] != prints["gmtrace/v2"]:
            fail(path, "alerts are identified by another fingerprint")
    check_scanned_run(path, run, files)
    for rule in rules:
        if any(not text.startswith(f"# {rule['id']} ") or "\n## Fix\n" not in text for text in rule["help"].values()):
            fail(path, f"{rule['id']} has no help")
    return [result["partialFingerprints"]["gmtrace/v2"] for result in run["results"]]


def check_csv(path):
    raw = path.read_bytes()
    text = raw.decode()
    if text.count("\n") != text.count("\r\n"):
        fail(path, "a line that ends without CR LF")
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    if any(len(row) != len(rows[0]) for row in rows):
        fail(path, "rows of different lengths")
    column = {name: i for i, name in enumerate(rows[0])}
    for row in rows[1:]:
        for name in column:
            if name.endswith(("_ns", "_bytes")) or name in ("line", "rank"):
                cell = row[column[name]]
                if cell != "":
                    float(cell)
    return [row[column["fingerprint"]] for row in rows[1:] if row[column["severity"]] != "note"]


def check_markdown(path):
    text = path.read_bytes().decode()
    outside = re.sub(r"(?ms)^(`{3,})\w*\n.*?^\1$", "", text)
    if outside.count("<details>") != outside.count("</details>"):
        fail(path, "details that do not end")
    # Code spans hold anything; outside of them nothing of a trace may be markup.
    prose = re.sub(r"(?s)(`+)(?!`).*?(?<!`)\1(?!`)", "", outside)
    for pattern in (r"<script", r"(?<!\\)\|\s*`x`", r"https?://", r"(?<![`\w])@all"):
        if re.search(pattern, prose):
            fail(path, f"markup of a name: {pattern}")
    for block in re.findall(r"(?m)(?:^\|.*\n)+", outside):
        # A backslash takes the bar behind it out of the count.
        cells = {sum(hit[1] is not None for hit in re.finditer(r"\\.|(\|)", line)) for line in block.splitlines()}
        if len(cells) != 1:
            fail(path, f"a table with rows of {cells} cells")
    if len(text) > 65536:
        fail(path, "too long for a comment")
    if re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text):
        fail(path, "control characters")


def main():
    schema, folder = sys.argv[1:]
    sarif, n = validator(schema), 0
    # A validator that accepts everything would prove nothing.
    if sarif.is_valid({"version": "2.1.0", "runs": [{"tool": {"driver": {}}}]}):
        fail(pathlib.Path(schema), "accepts a tool without a name")
    for path in sorted(pathlib.Path(folder).glob("*.sarif")):
        n += 1
        found = check_sarif(path, sarif)
        listed = check_csv(path.with_suffix(".csv"))
        check_markdown(path.with_suffix(".md"))
        if found != listed[:200]:
            fail(path, "the findings of SARIF and of CSV differ")
    print(f"{n} reports in three formats, {failed} failures")
    return 1 if failed or n == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
