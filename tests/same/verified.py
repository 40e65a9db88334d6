"""Shared code of the scripts with random programs: verified.main(doc, program, count, each, what) reads the command
line, makes programs from seeds, and compares the C of each with eval by `ein verify`. A failure prints the program."""
import argparse
import os
import subprocess
import tempfile


def main(doc, program, count, each, what):
    """program(seed, n) is a text with n of `what`, `each` if nobody says how many."""
    arg = argparse.ArgumentParser(description=doc)
    arg.add_argument("ein")
    arg.add_argument("--seed", type=int, default=1)
    arg.add_argument("--count", type=int, default=count, help="programs")
    arg.add_argument(f"--{what}", dest="each", type=int, default=each, help="of each program")
    arg.add_argument("--print", action="store_true", help="the first program, and nothing else")
    o = arg.parse_args()
    if o.print:
        print(program(o.seed, o.each), end="")
        return 0
    with tempfile.TemporaryDirectory() as there:
        path = os.path.join(there, "x.ein")
        for seed in range(o.seed, o.seed + o.count):
            text = program(seed, o.each)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            r = subprocess.run([o.ein, "verify", "--flags=-O1 -DEIN_ONE_VERSION", path], capture_output=True, text=True,
                               check=False)
            if r.returncode:
                print(f"seed {seed}: exit code {r.returncode}\n{r.stdout}{r.stderr}\n{text}")
                return 1
    return 0
