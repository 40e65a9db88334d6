#!/bin/sh
# ein plan --why: the best plan under a pin, and the edges where it costs more, which add up to the extra cost.
. "$(dirname "$0")/common"
root=$(cd "$here/../.." && pwd)
A=$root/samples/02_attention.ein
M=$root/samples/machines/server_8_gpus.json
WHY='--why QH:h=4 --why QH:s=8 --why KH:s=4,h=1 --why T:s=8 --why Y:a=8 --why O:d=8'

# shellcheck disable=SC2086
{
  want 0 "$EIN" plan "$A" -n 8 $WHY --format=json -o bytes.json
  want 0 "$EIN" plan "$A" -n 8 $WHY --machine "$M" --format=json -o seconds.json
  want 0 "$EIN" plan "$A" -n 8 $WHY --costs=ia --format=json -o ia.json
  want 0 "$EIN" plan "$A" -n 8 $WHY --format=html -o x.html
}
want 0 grep -c 'Why not <code>T:s=8</code>' x.html
if command -v python3 >/dev/null; then
  want 0 python3 "$root/tests/plan/why.py" bytes.json seconds.json ia.json
  want 0 python3 "$root/tests/plan/schema.py" "$root/docs/schema/ein-placing-1.json" bytes.json seconds.json ia.json
fi

# It costs what the plan costs that is pinned so; what the plan has is said; a limit of memory and a pin hold for it too.
want 0 "$EIN" plan "$A" -n 8 --pin T:s=8
pinned=$(sed -n 's/.*in all, \(.*\) a site on average$/\1/p' out)
want 0 "$EIN" plan "$A" -n 8 --why T:s=8
shows "why not T:s=8         $pinned a site"
want 0 "$EIN" plan "$A" -n 8 --pin QH:h=4,s=2 --why QH:h=4
shows "why not QH:h=4        the plan has it"
want 0 "$EIN" plan "$A" -n 16 --why QH:h=3
shows "QH cannot be cut so by a mesh of 16 sites"

# Mistakes.
want 1 "$EIN" plan "$A" -n 16 --why QH
want 1 "$EIN" plan "$A" -n 16 --why Nope:h=2
says "no tensor that is computed is called Nope"
want 1 "$EIN" plan "$A" -n 16 --pin QH:s=16 --why QH:h=4
want 2 "$EIN" plan "$A" --why QH:h=4
want 2 "$EIN" plan "$A" -n 16 --costs=eindecomp --why QH:h=4
want 2 "$EIN" plan "$A" -n 16 --format=dot --why QH:h=4
finish
