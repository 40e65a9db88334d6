#!/bin/sh
# Runs one text test:  tests/run.sh [--bless] KIND FILE
#
#   KIND    FILE      beside it  what must hold
#   bad     x.ein     x.err      `ein check` says exactly x.err and exits with 1
#   warn    x.ein     x.err      the same, but exits with 0
#   parse   x.ein     x.want     `ein fmt` gives x.want, and x.want again from x.want
#   graph   x.ein     x.want     `ein build --stop=graph` gives x.want
#   plan    x.ein     x.want     `ein plan` gives x.want
#   wrong   x.tra     x.err      `ein plan` of a text that was mistyped (.ia too; .plan and .json with mm.ein) says exactly x.err and exits with 1
#   run     x.ein                `ein run --target=eval --expect` finds every `# expect:` comment true
#
# A line `# args: -D N=4` among the first three of FILE adds arguments. Commands run in the file's folder.
# EIN is the compiler to use (default build/ein). EIN_ROUNDTRIP=1 replaces every intermediate language by
# its reread self (--roundtrip). --bless writes x.err or x.want anew instead of comparing.
# Builtins only, but for ein and one cat: a test costs a few milliseconds.

root=$(cd "${0%/*}/.." && pwd)
bless=
if [ "$1" = --bless ]; then
  bless=1
  shift
fi
kind=$1
file=${2##*/}
stem=${file%.*}
: "${EIN:=$root/build/ein}"
trip=${EIN_ROUNDTRIP:+--roundtrip}
case $2 in */*) cd "${2%/*}" || exit 1 ;; esac

args=
{
  for _ in 1 2 3; do
    read -r line && case $line in '# args: '*) args=${line#'# args: '} ;; esac
  done
} <"$file"

fail() {
  echo "$kind $2: $1"
  exit 1
}

differ() { # WANT GOT WHAT
  tmp=$(mktemp -d)
  printf '%s\n' "$1" >"$tmp/want"
  printf '%s\n' "$2" >"$tmp/got"
  (cd "$tmp" && diff -u want got)
  rm -r "$tmp"
  fail "differs from $3" "$file"
}

# same GOLDEN CODE GOT: GOT, which ends in a line "exit N", is the file GOLDEN and CODE.
same() {
  if [ -n "$bless" ]; then
    [ "${3##*exit }" = "$2" ] || fail "exit code ${3##*exit }, not $2: not blessed" "$file"
    text=${3%exit *}
    if [ ! -e "$1" ] || [ "${text}x" != "$(cat "$1" && printf x)" ]; then
      printf '%s' "$text" >"$1" && echo "$kind/$1"
    fi
    return
  fi
  [ -e "$1" ] || fail "$1 is missing; tests/bless.sh writes it" "$file"
  want=$(cat "$1" && echo "exit $2")
  [ "$3" = "$want" ] || differ "$want" "$3" "$1"
}

all() { "$EIN" "$@" 2>&1; echo "exit $?"; }   # what a command prints anywhere
out() { "$EIN" "$@"; echo "exit $?"; }        # what it prints on stdout; the rest goes to the log
ok() { [ -n "$bless" ] || "$EIN" "$@" || fail "ein $*: exit code $?" "$file"; }

# What each kind does: the one place to change it. $args and $trip are words, or nothing.
# shellcheck disable=SC2086
case $kind in
bad) same "$stem.err" 1 "$(all check $args $trip "$file")" ;;
warn) same "$stem.err" 0 "$(all check $args $trip "$file")" ;;
parse)
  same "$stem.want" 0 "$(out fmt - <"$file")"
  same "$stem.want" 0 "$(out fmt - <"$stem.want")"
  ;;
graph) same "$stem.want" 0 "$(out build "$file" $args $trip --stop=graph -o -)" ;;
wrong)
  case $file in
  *.plan) set -- mm.ein -n 4 "--plan=$file" ;;
  *.json) set -- mm.ein "--machine=$file" ;;
  *) set -- "$file" ;;
  esac
  same "$stem.err" 1 "$(all plan "$@")"
  ;;
plan) same "$stem.want" 0 "$(out plan "$file" $args $trip)" ;;
run)
  ok run --target=eval --expect $args $trip "$file"
  ;;
*) fail "no such kind of test" "$file" ;;
esac
