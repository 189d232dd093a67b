#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# mandoc has nothing to say about the built pages.
# shellcheck source=tests/lib.sh
. "${GMT_SOURCE:?}/tests/lib.sh"
needs mandoc
# References to pages of this or another package need not be installed.
said=$(mandoc -T lint "$GMT_MAN"/man1/gm*.1 "$GMT_MAN"/man5/gm*.5 2>&1 |
    grep -vE 'STYLE: referenced manual not found|outdated mandoc.db' || true)
[ -z "$said" ] || fail "$said"
