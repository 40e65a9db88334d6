"""A separate process that runs only between a request and its answer. Otherwise the system stops all its threads, so
that they take no time from other processes, even if they spin or wake up. The process ends with its parent, however
that ends."""
import ctypes
import multiprocessing
import os
import signal
import sys
import traceback

PR_SET_PDEATHSIG = 1  # of Linux


class Trouble(Exception):
    """No answer: the request raised `kind`, or the process ended (then kind is empty)."""

    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind


def ends_with(parent):
    """Ends this process when the parent ends, even if the parent is killed and this one is stopped."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def serve(pipe, served):
    """Answers requests with the results of methods of `served`, until the pipe closes."""
    while True:
        try:
            method, words = pipe.recv()
        except EOFError:
            return
        try:
            answer = True, getattr(served, method)(*words)
        except (Exception, SystemExit) as e:  # a library may raise anything
            answer = False, (type(e).__name__, str(e))
        pipe.send(answer)


class Apart:
    """The process is a fork of this one. The first request starts it, and so does the next one after a crash. `make`
    creates the object that answers there; `first` is its first request."""
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
        """Makes the process group, which also has the processes that it starts; parent and child both try, and the
        first one succeeds."""
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
        """Sends a request, whose answer must be awaited."""
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
        """Stops the process. After this returns, none of its threads runs."""
        os.killpg(self.pid, signal.SIGSTOP)
        _, status = os.waitpid(self.pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            self.ended(status)

    def ended(self, status=None):
        """Returns how the process ended."""
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
