#!/bin/sh
# suite: ci
# Names of files and words of the command line that a shell, a terminal or a parser of options might take otherwise.
. "$(dirname "$0")/common"

cat >y.ein <<'END'
dim N = 3
input X[i:N] : f32 = i
output Y[i] = 2 * X[i]
END
here=$(pwd)
newline='a
b'
for name in '$(touch owned)' '`touch owned`' ';touch owned' '|touch owned' '&touch owned' '>owned' '-rf' '--help' '-' ' ' '*' \
  '"' "'" '\' '%s%n%p' '#' '~' '{a,b}' '!!' "$newline" "$(printf '\377\376')" "$(printf 'a\033[2Jb')" "$(printf 'a\rb')" \
  "$(printf '\342\200\256gnp')" 'a=b' 'a:b' '..a'; do
  cp y.ein "./$name.ein"
  accepted "$EIN" check "./$name.ein"
  accepted "$EIN" fmt --write "./$name.ein"
  accepted "$EIN" run "./$name.ein" -o "Y=./$name.npy"
  accepted "$EIN" run "./$name.ein" "X=./$name.npy" -o "Y=./$name.raw"
  accepted "$EIN" run "$here/$name.ein" "X=$here/$name.npy" -o "$here/$name.npy"
  accepted "$EIN" graph --dot "./$name.ein" -o "./$name.dot"
  echo 'output Y = ' >"./$name.ein"
  refused 1 "$EIN" check "./$name.ein"
  ! LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]')" err || wrong "a control character of a name reaches the terminal: $name"
done
[ ! -e owned ] || wrong "a shell has seen a file's name"

refused 2 "$EIN" check -y.ein
refused 2 "$EIN" check --
refused 2 "$EIN" "$(long 100000 a)"
refused 2 "$EIN" run y.ein "--$(long 100000 a)"
refused 2 "$EIN" run y.ein -D ''
refused 2 "$EIN" run y.ein -D =
refused 2 "$EIN" run y.ein -D N
refused 2 "$EIN" run y.ein -D "$(printf '\377')=3"
refused 2 "$EIN" run y.ein -D "N=3
"
refused 2 "$EIN" run y.ein -D "N=$(long 100000 9)"
refused 2 "$EIN" run y.ein -D -N=3
refused 2 "$EIN" run y.ein X=
refused 2 "$EIN" run y.ein X=uniform:seed=99999999999999999999
refused 2 "$EIN" run y.ein X=randint:lo=5:hi=-5
refused 2 "$EIN" run y.ein X=const:1e999
refused 2 "$EIN" run y.ein X=const:
refused 2 "$EIN" run y.ein X=const:nan:nan
refused 2 "$EIN" run y.ein X=/dev/zero
refused 2 "$EIN" run y.ein -o Y=
refused 2 "$EIN" run y.ein -o ''
refused 2 "$EIN" run y.ein -o Y=d/
refused 4 "$EIN" run y.ein -o "Y=$(long 300 a).npy"
refused 4 "$EIN" run y.ein -o "Y=$(long 5000 a/).npy"
accepted "$EIN" run y.ein -o Y=-x.npy
[ -f ./-x.npy ] || wrong "-o Y=-x.npy"
accepted "$EIN" run y.ein X=randint:lo=-9223372036854775808:hi=9223372036854775807
accepted "$EIN" check $(long 5000 'y.ein ')
accepted "$EIN" run y.ein $(long 5000 'X=iota ') $(long 5000 '-DN=4 ')
refused 2 "$EIN" explain "$(long 100000 E)"
refused 2 "$EIN" einsum "$(long 30000 'ij,')->i" iota
refused 2 "$EIN" einsum "$(long 100000 i)->i" iota
finish
