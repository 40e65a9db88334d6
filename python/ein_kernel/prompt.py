"""The process `ein repl --json`: a line of JSON in, a line of JSON out. Standard library only."""
import contextlib
import json
import os
import pathlib
import queue
import shutil
import signal
import subprocess
import threading


def program():
    """The path of ein: $EIN, in the checkout or the prefix of this package, or on PATH."""
    above = pathlib.Path(__file__).resolve().parents[1]
    origin = above / "ein" / "origin.txt"  # present if pip installed it
    if origin.exists():
        above = pathlib.Path(origin.read_text(encoding="utf-8").strip())
    prefix = [above.parents[2] / "bin" / "ein"] if above.parent.name == "ein" else []
    places = [os.environ.get("EIN"), above.parent / "build" / "ein", *prefix, shutil.which("ein")]
    for place in places:
        if place and os.access(place, os.X_OK) and os.path.isfile(place):
            return str(place)
    raise FileNotFoundError("cannot find the program ein. Build it (./bootstrap build), put it on PATH, or set EIN to "
                            "its path")


class Ended(Exception):
    """The process has ended, and its definitions are lost."""


class Prompt:
    def __init__(self, ein=None, words=()):
        pipe = subprocess.PIPE
        command = [ein or program(), "repl", "--json", *words]
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, encoding="utf-8",
                                        start_new_session=True)  # we forward Ctrl-C
        self.remarks = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        for line in self.process.stderr:
            self.remarks.put(line)

    def said(self):
        """Its messages besides the answers."""
        text = ""
        while not self.remarks.empty():
            text += self.remarks.get()
        return text

    def ask(self, **request):
        """Returns its answer. An interrupt meanwhile interrupts the computation, and the answer says so."""
        try:
            with self._interrupting():
                self.process.stdin.write(json.dumps(request) + "\n")
                self.process.stdin.flush()
                line = self.process.stdout.readline()
        except (BrokenPipeError, ValueError):
            line = ""
        if not line:
            code = self.process.wait()
            how = "by signal %d" % -code if code < 0 else "with code %d" % code
            raise Ended("ein has ended, %s; its definitions are lost" % how)
        return json.loads(line)

    @contextlib.contextmanager
    def _interrupting(self):
        """Ctrl-C raises no exception here, so that a request and its answer stay together, however often it is
        pressed. The prompt would miss an interrupt that comes before it reads the request, so the interrupt is
        repeated until the answer is there."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        answered = threading.Event()

        def insist():
            self.interrupt()
            while not answered.wait(0.25):
                self.interrupt()
        before = signal.signal(signal.SIGINT, lambda *_: threading.Thread(target=insist, daemon=True).start())
        try:
            yield
        finally:
            answered.set()
            signal.signal(signal.SIGINT, before if before is not None else signal.SIG_DFL)

    def interrupt(self):
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGINT)

    def close(self):
        if self.process.poll() is not None:
            return
        self.process.stdin.close()
        try:
            self.process.wait(2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def pieces(code):
    """Splits a cell into requests: (first line, text). A command, which is a line that begins with `:`, is a request
    of its own."""
    out, lines, first = [], [], 1
    for number, line in enumerate(code.split("\n"), 1):
        if line.lstrip().startswith(":"):
            out += [(first, "\n".join(lines))] if "".join(lines).strip() else []
            out.append((number, line.strip()))
            lines, first = [], number + 1
        else:
            lines.append(line)
    return out + ([(first, "\n".join(lines))] if "".join(lines).strip() else [])
