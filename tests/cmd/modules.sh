#!/bin/sh
# use: where modules are found, and where they are not.
. "$(dirname "$0")/common"

mkdir -p project/sub outside
: >project/ein.root
echo 'def twice(x) = 2 * x' >project/lib.ein
echo 'use "lib.ein"
def four(x) = twice(twice(x))' >project/more.ein
echo 'use "../more.ein"
use "../lib.ein"
input X[i:3] : f32 = i
output Y[i] = four(twice(X[i]))' >project/sub/main.ein
want 0 "$EIN" run project/sub/main.ein
shows "0.0   8.0  16.0"
(cd project/sub && "$EIN" run main.ein >/dev/null) || wrong "not found from its own folder"

echo 'def f(x) = x' >outside/out.ein
echo 'use "../outside/out.ein"' >project/escape.ein
want 1 "$EIN" check project/escape.ein
says "outside of the project"
ln -s ../outside/out.ein project/link.ein
echo 'use "link.ein"' >project/escape2.ein
want 1 "$EIN" check project/escape2.ein
says "outside of the project"
echo "use \"$work/outside/out.ein\"" >project/escape3.ein
want 1 "$EIN" check project/escape3.ein
ln -s lib.ein project/alias.ein
echo 'use "alias.ein"
use "lib.ein"
output Y = twice(3)' >project/both.ein
want 0 "$EIN" run project/both.ein
shows "= 6"

echo 'use "self.ein"' >self.ein
want 1 "$EIN" check self.ein
says "uses itself"
echo 'use "b.ein"' >a.ein
echo 'use "c.ein"' >b.ein
echo 'use "b.ein"' >c.ein
want 1 "$EIN" check a.ein
says "b.ein -> c.ein -> b.ein"

mkfifo pipe.ein
mkdir folder.ein
for what in pipe folder nowhere; do
  echo "use \"$what.ein\"" >u.ein
  want 1 timeout 10 "$EIN" check u.ein
  says "u.ein:1:"
done
echo 'use "lib"' >project/ext.ein
want 1 "$EIN" check project/ext.ein
says 'use "lib.ein"'
echo 'use nosuchmodule' >u.ein
want 1 "$EIN" check u.ein
says "no module nosuchmodule"

cat >things.ein <<'END'
dim A = 4, B
input X[i:A] : f32
output Y[i] = X[i]
END
echo 'use "things.ein"' >u.ein
want 1 "$EIN" check u.ein
says "things.ein:1:"
says "dim B"
says "an \`input\` cannot stand in a module"
says "nor an equation"

want 4 env EIN_STDLIB="$work/nowhere" "$EIN" check mat.ein
says "standard library"
says "set EIN_STDLIB"
printf 'use nn\ninput x[i:3]\noutput y = sum[i] relu(x[i])\n' >lone.ein
want 4 env EIN_STDLIB="$work/nowhere" "$EIN" check lone.ein
says "1 error"
finish
