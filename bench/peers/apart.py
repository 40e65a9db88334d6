"""A process of its own that runs only while it is asked: between question and answer. At any other time all its threads are
stopped by the system, so they take no time from others who are asked, whether they would spin or wake. It ends with its
parent, however that ends."""
import ctypes
import multiprocessing
import os
import signal
import sys
import traceback

PR_SET_PDEATHSIG = 1  # of Linux


class Trouble(Exception):
    """No answer: what is asked raised `kind`, or the process ended (and has no kind)."""

    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind


def ends_with(parent):
    """This process, when that one does, even if that is killed and this stopped."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def serve(pipe, served):
    """Answers with what methods of `served` return, until nobody can ask any more."""
    while True:
        try:
            method, words = pipe.recv()
        except EOFError:
            return
        try:
            answer = True, getattr(served, method)(*words)
        except (Exception, SystemExit) as e:  # a library may refuse in any way it likes
            answer = False, (type(e).__name__, str(e))
        pipe.send(answer)


class Apart:
    """The process is a fork of this one, begun by the first question, and by the next one after it has crashed. `make` makes there
    what is asked; its first question is `first`."""
    all = []

    def __init__(self, make, first=None):
        self.make, self.first = make, first
        self.pid = self.pipe = None
        Apart.all.append(self)

    def begin(self):
        parent = os.getpid()
        self.pipe, pipe = multiprocessing.Pipe()
        sys.stdout.flush()
        self.pid = os.fork()
        if not self.pid:
            self.child(parent, pipe)
        pipe.close()
        self.group()

    def child(self, parent, pipe):
        code = 1
        try:
            os.setpgid(0, 0)
            ends_with(parent)
            for one in Apart.all:
                if one.pipe:
                    one.pipe.close()
            serve(pipe, self.make())
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)

    def group(self):
        """Of the processes that it starts, too; whichever of the two comes first makes it."""
        try:
            os.setpgid(self.pid, self.pid)
        except OSError:
            pass

    def ask(self, method, *words):
        if not self.pid and self.first and method != self.first:
            self.ask(self.first)
        self.tell(method, *words)
        return self.answer()

    def tell(self, method, *words):
        """The question, whose answer is to be waited for."""
        if not self.pid:
            self.begin()
        os.killpg(self.pid, signal.SIGCONT)
        try:
            self.pipe.send((method, words))
        except BrokenPipeError:
            pass  # `answer` tells why

    def answer(self):
        try:
            good, answer = self.pipe.recv()
        except (EOFError, ConnectionResetError):
            raise Trouble("", self.ended()) from None
        self.stop()
        if not good:
            raise Trouble(*answer)
        return answer

    def stop(self):
        """When this returns none of its threads runs."""
        os.killpg(self.pid, signal.SIGSTOP)
        _, status = os.waitpid(self.pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            self.ended(status)

    def ended(self, status=None):
        """How."""
        if status is None:
            _, status = os.waitpid(self.pid, 0)
        self.pid = None
        self.pipe.close()
        if os.WIFSIGNALED(status):
            return f"ended by {signal.Signals(os.WTERMSIG(status)).name}"
        return f"ended with exit code {os.WEXITSTATUS(status)}"

    def end(self):
        if self.pid:
            os.killpg(self.pid, signal.SIGKILL)
            self.ended()

    @classmethod
    def end_all(cls):
        for one in cls.all:
            one.end()
