#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmtrace.db(5) names every table and view of schema.sql, and no other.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sqlite3 "$work/trace.db" <"$GMT_SOURCE/libtrace/store/db/schema.sql"
sqlite3 "$work/trace.db" "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')
    AND name NOT LIKE 'sqlite_%'" | sort >"$work/schema"
sed -nE 's/^\.It Sy (.*)$/\1/p' "$GMT_MAN/man5/gmtrace.db.5" | tr -s ' ,' '\n' | sort >"$work/page"
diff "$work/schema" "$work/page" || {
    echo "FAIL: schema.sql (<) and gmtrace.db(5) (>) differ"
    exit 1
}
