"""%%ein in Python notebooks: a cell that is a program. Its inputs are the variables with their names; its outputs
become variables."""
import argparse
import re
import shlex

from .functions import Function
from .library import Error


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise ValueError("%%%%ein: %s" % message)


def _parser():
    a = _Parser(prog="%%ein", add_help=False)
    a.add_argument("-D", dest="dims", action="append", default=[], metavar="NAME=N")
    a.add_argument("-n", "--sites", type=int)
    a.add_argument("--target")
    a.add_argument("--threads", type=int)
    a.add_argument("--deterministic", action="store_true")
    a.add_argument("--function", metavar="NAME")
    return a


def _dims(words, variables):
    """-D N=4, -D N=some_variable, or -D N alone, which is a variable of that name."""
    for word in words:
        name, _, value = word.partition("=")
        value = value or name
        if re.fullmatch("-?[0-9]+", value):
            yield name, int(value)
        elif value in variables:
            yield name, variables[value]
        else:
            raise Error("%%%%ein: -D %s: %s is neither a variable of the notebook nor an integer" % (word, value))


def cell(shell, line, text):
    """%%ein [-D NAME=N] [--sites N] [--target NAME] [--threads N] [--deterministic] [--function NAME]: with
    --function, nothing is computed, and NAME becomes the function."""
    said = _parser().parse_args(shlex.split(line))
    options = dict(target=said.target, threads=said.threads, sites=said.sites, deterministic=said.deterministic)
    f = Function(text, "<cell>.ein", options, dict(_dims(said.dims, shell.user_ns)))
    if said.function:
        shell.push({said.function: f})
        return f
    results = f({name: shell.user_ns[name] for name in f.inputs if name in shell.user_ns})
    shell.push(dict(results))
    return results


def register(shell):
    shell.register_magic_function(lambda line, text: cell(shell, line, text), "cell", "ein")
