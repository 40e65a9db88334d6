#!/bin/sh
# What comes out of the table of options: help, the man page, completions; and explain and doctor.
. "$(dirname "$0")/common"

for c in run build verify bench plan cache check fmt graph einsum jupyter explain machine doctor version help repl; do
  want 0 "$EIN" help $c
  shows "usage: ein $c"
  want 0 "$EIN" $c --help
  sed '1,/^options:/d' out | grep '^[^ ]' && wrong "ein help $c has a line that is not in its column"
  awk 'length > 120' out | grep . && wrong "ein help $c has a line of more than 120 characters"
done
# An option says what it does in each command.
want 0 "$EIN" help build
shows "-o, --output FILE "
grep -q "ein verify\|\.npy" out && wrong "ein help build explains other commands"
want 0 "$EIN" help run
shows "-o, --output [NAME=]FILE"
want 0 "$EIN" help verify
shows "--cc NAMES"
want 2 "$EIN" build -o
says "-o wants FILE after it"
want 0 "$EIN" --man
shows ".TH EIN 1"
shows "EXIT STATUS"
cp out ein.1
if command -v man >/dev/null && man --version >/dev/null 2>&1; then
  want 0 man --warnings -l ein.1
  silent
fi
want 0 "$EIN" --completions bash
cp out ein.bash
if command -v bash >/dev/null; then
  want 0 bash -c '. ./ein.bash; COMP_WORDS=(ein ru); COMP_CWORD=1; _ein; echo "${COMPREPLY[@]}"'
  shows run
  want 0 bash -c '. ./ein.bash; COMP_WORDS=(ein run --tar); COMP_CWORD=2; _ein; echo "${COMPREPLY[@]}"'
  shows --target
  choices() { # WORDS WANT: what bash offers for the last of the words
    want 0 bash -c '. ./ein.bash; COMP_WORDS=('"$1"'); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _ein; echo "${COMPREPLY[*]}"'
    [ "$(cat out)" = "$2" ] || wrong "bash offers $(cat out) for: $1"
  }
  choices 'ein bench --format = ""' 'text json'
  choices 'ein machine --format = j' json
  choices 'ein plan --format = t' 'text tra task'
  choices 'ein build --stop = ""' 'graph optimised task loop'
  choices 'ein build x.ein --stop o' optimised
  choices 'ein check --diagnostics =' 'text json'
  choices 'ein help ru' run
  choices 'ein explain E00' 'E001 E002 E003 E004 E005 E006 E007 E008 E009'
  # Names of files as they are, one each, however the beginning is quoted.
  touch 'my data.npy' 'my st*r.ein' mydata
  for typed in 'my ' 'my\ ' '"my ' "'my "; do
    want 0 env TYPED="$typed" bash -c '. ./ein.bash; COMP_WORDS=(ein run "$TYPED"); COMP_CWORD=2; _ein; printf "<%s>\n" "${COMPREPLY[@]}" | LC_ALL=C sort'
    [ "$(cat out)" = "$(printf '<my data.npy>\n<my st*r.ein>')" ] || wrong "bash offers $(cat out) for: $typed"
  done
  choices 'ein run x.ein -o Z = myd' mydata
fi
want 0 "$EIN" --completions zsh
cp out _ein
shows "'1:command:(run build "
shows "'*:code:(E001 E002 "
shows "'*:file:_files'"
if command -v zsh >/dev/null; then want 0 zsh -n _ein; fi
want 0 "$EIN" --completions fish
shows "program\\'s graph"
shows "complete -c ein -f -n '__fish_seen_subcommand_from help' -a 'run build "
shows "complete -c ein -f -n '__fish_seen_subcommand_from explain' -a 'E001 E002 "
if command -v fish >/dev/null; then want 0 fish --no-execute out; fi
want 2 "$EIN" --completions tcsh
want 0 "$EIN" --grammar vim
shows "syn keyword einKeyword dim "
want 2 "$EIN" --grammar emacs
says "--grammar is one of textmate|vim|tree-sitter|tree-sitter-queries, not emacs"

want 0 "$EIN" explain
shows E060
want 0 "$EIN" explain e060
shows "error E060"
want 2 "$EIN" explain E99999
want 0 "$EIN" doctor
shows "standard library"
finish
