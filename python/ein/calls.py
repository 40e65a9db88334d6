"""Calls that Ctrl-C can interrupt. Only the main thread handles signals, and not while it runs C code. So a second
thread makes the call while the main thread waits; an exception that the signal handler raises there cancels the call
and is then passed on. Other threads call directly."""
import os
import queue
import signal
import threading


class _Job:
    def __init__(self, work):
        self.work, self.result, self.failure, self.done = work, None, None, threading.Lock()
        self.taken = self.dropped = self.over = False
        self.done.acquire()


class _Worker:
    def __init__(self):
        self.jobs, self.thread = queue.SimpleQueue(), None

    def put(self, job):
        if not self.thread:
            self.thread = threading.Thread(target=self._run, name="ein", daemon=True)
            self.thread.start()
        self.jobs.put(job)

    def _run(self):
        while True:
            job = self.jobs.get()
            if not job.taken:
                job.taken = True
                try:
                    job.result = None if job.dropped else job.work()
                except BaseException as e:
                    job.failure = e
                job.over = True
                job.done.release()
            del job


_worker = _Worker()
_busy = threading.Lock()


def _forked():
    """A child process has only the thread that forked."""
    global _worker, _busy
    _worker, _busy = _Worker(), threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def interruptible(work, cancel):
    """Returns work(); cancel() ends it. A signal handler that makes another call meanwhile makes it directly."""
    main = threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT))
    if not main or not _busy.acquire(blocking=False):
        return work()
    try:
        return _beside(_Job(work), cancel)
    finally:
        _busy.release()


def _beside(job, cancel):
    try:
        _worker.put(job)
        job.done.acquire()
    except BaseException:
        _ended(job, cancel)
        raise
    if job.failure:
        raise job.failure
    return job.result


def _ended(job, cancel):
    """Waits until the call has ended, whatever Ctrl-C does meanwhile, because the call uses the caller's memory.
    Cancels repeatedly, in case the call had not begun; and puts the job again, in case the worker had not received it:
    it takes no job twice."""
    while True:
        try:
            job.dropped = True
            _worker.put(job)
            while not job.over:
                cancel()
                job.done.acquire(timeout=0.02)
            return
        except BaseException:
            pass
