#!/bin/sh
# Writes goldens anew, for review by git diff:  tests/bless.sh [tests/bad/x.ein ...]   (default: all)
# Says which files changed. A program that exits with another code than its kind demands is not blessed.
cd "$(dirname "$0")/.." || exit 1
tab=$(printf '\t')
tests/list.sh | {
  bad=0
  while IFS=$tab read -r kind _ file; do
    case $kind in unit | fuzz | run) continue ;; esac
    [ $# -eq 0 ] || case " $* " in *" $file "*) ;; *) continue ;; esac
    tests/run.sh --bless "$kind" "$file" || bad=1
  done
  exit $bad
}
