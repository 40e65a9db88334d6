#!/bin/sh
# Lists the tests, one a line: kind, suite and file with tabs between. A text test says its suite in a
# line `# suite: ci` or `# suite: long`, a unit test in `/* suite: long */`; else it is quick.
#   tests/list.sh --same FILE   succeeds if FILE holds the same list: no test was added since
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.." || exit 1

if [ "$1" = --same ]; then
  [ "$("$0")" = "$(cat "$2")" ] && exit 0
  echo "The list of tests has changed: run meson setup --reconfigure on this build folder."
  exit 1
fi

list() { # KIND FILE...
  kind=$1
  shift
  [ -e "$1" ] || return 0
  long=$(grep -lE '^(#|/\*) suite: long' "$@")
  ci=$(grep -lE '^(#|/\*) suite: ci' "$@")
  for file; do
    suite=quick
    case "
$ci
" in *"
$file
"*) suite=ci ;; esac
    case "
$long
" in *"
$file
"*) suite=long ;; esac
    printf '%s\t%s\t%s\n' "$kind" "$suite" "$file"
  done
}

list unit tests/*/test_*.c
list fuzz tests/fuzz/*.c
for kind in bad warn parse graph plan run; do
  list $kind tests/$kind/*.ein
done
list wrong tests/wrong/*.tra tests/wrong/*.ia tests/wrong/*.plan tests/wrong/*.json
list run stdlib/examples/*.ein
list run samples/*.ein
list run samples/papers/*.ein samples/nets/*.ein samples/science/*.ein
list known tests/shape/known/*.ein
list cmd tests/cmd/*.sh
list cmd tests/hostile/*.sh
list cmd tests/lib/*.sh
