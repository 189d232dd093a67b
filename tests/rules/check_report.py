#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_report.py SCHEMA REPORT.json...: reports are valid, and hold nothing that the schema does not describe."""
import copy
import json
import pathlib
import sys

import jsonschema


def closed(schema):
    """The same schema, with no room for fields that it does not name."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: closed(value) for key, value in schema.items()}
    if "properties" in result and result.get("type") == "object":
        result.setdefault("additionalProperties", False)
    return result


def main():
    schema = json.loads(pathlib.Path(sys.argv[1]).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    published = jsonschema.Draft202012Validator(schema)
    strict = jsonschema.Draft202012Validator(closed(schema))
    failed, used = 0, 0
    for name in sys.argv[2:]:
        report = json.loads(pathlib.Path(name).read_bytes().decode())
        for error in strict.iter_errors(report):
            failed += 1
            # One report that is wrong is seldom alone.
            if failed <= 20:
                print(f"FAIL: {name}: {list(error.absolute_path)}: {error.message[:200]}")
        used += len(report["findings"])
        # What readers of later versions meet: one field more is fine, one less is not.
        later = copy.deepcopy(report)
        later["verdict"]["added_later"] = 1
        if not published.is_valid(later):
            failed += 1
            print(f"FAIL: {name}: a field that was added makes it invalid")
        del later["verdict"]["wall_ns"]
        if published.is_valid(later):
            failed += 1
            print(f"FAIL: {name}: a missing field is not noticed")
    print(f"{len(sys.argv) - 2} reports with {used} findings, {failed} failures")
    return 1 if failed or used == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
