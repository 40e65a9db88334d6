"""What generators share whose programs `ein verify` judges: GENERATOR EIN FIRST LAST [OPTION...], a program for each
seed. The options are verify's (default --target=jit). A program that fails is printed."""
import collections
import random
import subprocess
import sys
import tempfile
from pathlib import Path


def asked(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)


def verify_all(program, stop=None, is_so=None, what=None):
    """Verifies program(random) for each seed. If `stop` is a language, also counts as `what` the programs whose text in
    it is_so. Returns how many programs there were, the counts, and how many failed."""
    ein, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    count, failed = collections.Counter({"equal": 0, "both fail": 0}), 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "seed.ein")
        for seed in range(first, last + 1):
            path.write_text(program(random.Random(seed)))
            if stop:
                count[what] += is_so(asked(ein, "build", f"--stop={stop}", "-o", "-", str(path)).stdout)
            done = asked(ein, "verify", str(path), *(sys.argv[4:] or ["--target=jit"]))
            if done.returncode == 0:
                count["both fail" if "both fail" in done.stdout else "equal"] += 1
            elif done.returncode == 1 and "error[E" in done.stderr:
                count["refused"] += 1
            else:
                failed += 1
                print(f"seed {seed}, exit code {done.returncode}:\n{path.read_text()}{done.stdout}{done.stderr}")
    print(", ".join(f"{n} {name}" for name, n in count.items()) + f", {failed} failed")
    return last + 1 - first, count, failed
