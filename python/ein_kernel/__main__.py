"""python -m ein_kernel -f CONNECTION    run by Jupyter
python -m ein_kernel install ...       registers the kernel with Jupyter: with --user, --prefix DIR, or for this Python"""
import argparse
import json
import os
import pathlib
import sys
import tempfile

WANTED = ("Jupyter's packages ipykernel and jupyter_client are not installed for %s: %s\n"
          "Install them: %s -m pip install ipykernel jupyter_client" % (sys.executable, "%s", sys.executable))


def spec():
    """The kernel's specification. It has the paths of ein and of these packages, so nothing else needs to be
    installed."""
    from .prompt import program
    above = str(pathlib.Path(__file__).resolve().parents[1])
    paths = [above, *(p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep)
                      if p and os.path.realpath(p) != above)]
    return {"argv": [sys.executable, "-m", "ein_kernel", "-f", "{connection_file}"],
            "display_name": "Ein", "language": "ein", "interrupt_mode": "signal",
            "env": {"EIN": program(), "PYTHONPATH": os.pathsep.join(paths)}}


def install(words):
    a = argparse.ArgumentParser(prog="ein jupyter install", description="register the kernel with Jupyter")
    where = a.add_mutually_exclusive_group()
    where.add_argument("--user", action="store_true", help="only for the current user")
    where.add_argument("--prefix", metavar="DIR",
                       help="in DIR/share/jupyter/kernels; the default is the prefix of this Python")
    said = a.parse_args(words)
    try:
        import ipykernel  # noqa: F401
        from jupyter_client.kernelspec import KernelSpecManager
    except ImportError as e:
        print(WANTED % e, file=sys.stderr)
        return 4
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "kernel.json").write_text(json.dumps(spec(), indent=1) + "\n", encoding="utf-8")
        try:
            there = KernelSpecManager().install_kernel_spec(folder, "ein", user=said.user,
                                                            prefix=None if said.user else said.prefix or sys.prefix)
        except OSError as e:
            print("cannot install the kernel: %s\n--user installs it only for the current user" % e, file=sys.stderr)
            return 4
    print("installed the kernel Ein in %s" % there)
    return 0


def main():
    if sys.argv[1:2] == ["install"]:
        return install(sys.argv[2:])
    try:
        from ipykernel.kernelapp import IPKernelApp
    except ImportError as e:
        print(WANTED % e, file=sys.stderr)
        return 4
    from .kernel import EinKernel
    IPKernelApp.launch_instance(kernel_class=EinKernel)
    return 0


if __name__ == "__main__":
    sys.exit(main())
