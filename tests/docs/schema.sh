#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmtrace.db(5) names every table and view of schema.sql, and no other.
# shellcheck source=tests/lib.sh
. "${GMT_SOURCE:?}/tests/lib.sh"
sqlite3 "$work/trace.db" <"$GMT_SOURCE/libtrace/store/db/schema.sql"
sqlite3 "$work/trace.db" "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')
    AND name NOT LIKE 'sqlite_%'" | sort >"$work/schema"
sed -nE 's/^\.It Sy (.*)$/\1/p' "$GMT_MAN/man5/gmtrace.db.5" | tr -s ' ,' '\n' | sort >"$work/page"
same "schema.sql (-) and gmtrace.db(5) (+) differ" "$work/schema" "$work/page"
