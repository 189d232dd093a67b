#!/bin/zsh -f
# SPDX-License-Identifier: Apache-2.0
# zsh_offers.zsh FOLDER LINE: what completion offers at the end of the line, one a line, with the functions of that folder: an
# interactive zsh on a pseudo-terminal is sent the line and a tab, and its compadd prints what it is given.
zmodload zsh/zpty || exit 77
setup=$(mktemp)
trap 'rm -f $setup' EXIT
cat >$setup <<END
fpath=($1 \$fpath)
PROMPT=
autoload -Uz compinit
compinit -u -d $setup.dump
rm -f $setup.dump
bindkey "^I" complete-word
print_mark() { print -- "@MARK" }
compprefuncs=(print_mark)
comppostfuncs=(print_mark exit)
compadd() {
    if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
        builtin compadd "\$@"
        return
    fi
    local -a hits
    builtin compadd -A hits "\$@"
    local hit
    for hit in \$hits; do print -r -- "@HIT \$hit"; done
}
print "@READY"
END
zpty shell zsh -f -i
zpty -w shell "source $setup"
while zpty -r shell said; do
    [[ $said == *@READY* ]] && break
done
zpty -w -n shell "$2"$'\t'
marks=0
while zpty -r shell said; do
    for line in ${(f)said}; do
        [[ $line == *@MARK* ]] && ((marks++))
        [[ $line == *@HIT\ * ]] && print -r -- ${${line#*@HIT }%$'\r'}
    done
    ((marks > 1)) && break
done
zpty -d shell
