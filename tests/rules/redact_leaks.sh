#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmanalyze --redact on every recording of the repository: no name that a trace holds is in any report of it, in any
# format, and the findings are those of a report with names.
# shellcheck source=tests/rules/lib.sh
. "${GMT_SOURCE:?}/tests/rules/lib.sh"
needs sqlite3 gunzip python3

make_trace golden.db golden/trace
for packed in "$GMT_SOURCE"/tests/data/*.db.gz "$GMT_SOURCE"/tests/data/deep/*.db.gz; do
    gunzip -c "$packed" >"$(basename "$packed" .gz)"
done
python3 "$rules/redact_leaks.py" "$GMANALYZE" "$rules/model.json" ./*.db
