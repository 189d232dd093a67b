#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sourced: makes traces of the fixtures, and one whose names are as bad as names can be.
: "${GMT_SOURCE:?}"

constant() {
    cat "$GMT_SOURCE/libtrace/store/db/database.h" "$GMT_SOURCE/libtrace/record/spool_names.h" | awk -v name="$1" '$2 == name { print $3 }'
}

# make_trace FILE SQL...: of fixtures by their names, and of files.
make_trace() {
    local file=$1 sql
    shift
    {
        echo "PRAGMA application_id = $(($(constant GMT_TRACE_APPLICATION_ID)));"
        echo "PRAGMA user_version = $(constant GMT_TRACE_USER_VERSION);"
        cat "$GMT_SOURCE/libtrace/store/db/schema.sql" "$GMT_SOURCE/tests/rules/common.sql"
        for sql in "$@"; do
            [ -e "$sql" ] || sql=$GMT_SOURCE/tests/rules/$sql.sql
            cat "$sql"
        done
    } | sqlite3 "$file"
}

# A line of text with markup, quotes, control characters, and bytes that are no UTF-8.
hostile="'<script>alert(1)</script> | \\| a\\\\|b \`x\` @all #1 http://a/ \"q\", \\' || char(9, 10, 27, 127) || CAST(x'ff80c3' AS TEXT)"

# spoil FILE: gives everything that has a name a hostile one.
spoil() {
    sqlite3 "$1" "
        UPDATE kernel SET name = $hostile || id, mangled = $hostile || id;
        UPDATE OR IGNORE string SET text = $hostile || id;
        UPDATE module SET path = '/' || $hostile || id;
        UPDATE process SET command = $hostile, exe = $hostile, hostname = $hostile, cwd = $hostile;
        UPDATE device SET name = $hostile;
        UPDATE api SET runtime_name = $hostile;
        UPDATE thread SET name = $hostile"
}
