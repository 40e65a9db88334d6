#!/bin/sh
# suite: ci
# Independent subnet training moves exactly as many bytes per round as the thesis' formula says (2.1.5; docs/papers.md).
. "$(dirname "$0")/common"
turn 2
command -v python3 >/dev/null || exit 77

want 0 python3 - "$EIN" "$here/../../samples/papers" <<'END'
import json
import subprocess
import sys

EIN, PAPERS = sys.argv[1:]
bad = 0


def received(name, sites, rounds, sizes):
    words = [w for k, v in {"S": sites, "R": rounds, **sizes}.items() for w in ("-D", f"{k}={v}")]
    done = subprocess.run([EIN, "plan", f"{PAPERS}/{name}.ein", "-n", str(sites), *words, "--format=json"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)["bytes"]


def round_is(name, sites, sizes, dealt, shared=0, between=0):
    """Weights that are dealt out: each comes once to a subnet and goes back, but for the share that is there. Shared ones go to all, and come from all.
    Those between two layers are everywhere, and what a subnet has learnt of them goes to all others."""
    global bad
    more = received(name, sites, 12, sizes) - received(name, sites, 11, sizes)
    want = 4 * (2 * dealt * (sites - 1) // sites + 2 * shared * (sites - 1) + between * (sites - 1) // sites)
    if more != want:
        print(f"{name} on {sites} sites: a round is {more} bytes, not {want}")
        bad = 1


net = dict(M=5120, D=1000, H=4000, C=200, B=512, J=10)
for sites in (4, 8):
    round_is("subnets", sites, net, 1000 * 4000 + 4000 * 200)
    round_is("subnets_deep", sites, dict(net, G=2000), 1000 * 4000 + 2000 * 200, between=4000 * 2000)
round_is("residual_subnets", 4, dict(M=1280, P=32, C=64, H=256, B=128, J=10, E=1000), 4 * 9 * 64 * 256, 64 * 3)
sys.exit(bad)
END
cat out
finish
