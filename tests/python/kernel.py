#!/usr/bin/env python3
"""Tests the Jupyter kernel. The connection to `ein repl --json` and the tables need only the standard library. The
tests of the kernel itself, of a notebook and of %%ein in IPython need Jupyter's packages; without them, they are
reported as skipped."""
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from ein_kernel import prompt, shown
from tensors import main, module

EIN = os.environ["EIN"]
LONG = "repeat t < 2000000000 {\n  state a[i:4] : i64 = i\n  next a[i] = a[i] * 3 + sum[j:4] a[j]\n}\na[i]"


class Cells(unittest.TestCase):
    def test_pieces(self):
        for code, want in (("", []), ("a = 1", [(1, "a = 1")]), (":plot a", [(1, ":plot a")]), ("\n\n  \n", []),
                           ("a = 1\nb = 2\n:plot a\n\nc = (\n 3)\n :vars",
                            [(1, "a = 1\nb = 2"), (3, ":plot a"), (4, "\nc = (\n 3)"), (7, ":vars")])):
            self.assertEqual(prompt.pieces(code), want)

    def test_tables(self):
        value = dict(name="x'", dtype="f64", shape=[2, 3], labels=["i", "j"], data=[1.0, 2.5, "inf", None, 1e9, -3.0])
        self.assertEqual(shown.table(value),
                         "<table><caption>x'[i:2, j:3] : f64</caption><tr><th>i\\j</th><th>0</th><th>1</th><th>2</th></tr>"
                         "<tr><th>0</th><td>1</td><td>2.5</td><td>inf</td></tr><tr><th>1</th><td>?</td><td>1e+09</td><td>-3</td></tr></table>".replace("'", "&#x27;"))
        wide = shown.table(dict(name="", dtype="bool", shape=[900], labels=["<b>"], data=[True] * 900))
        self.assertEqual((wide.count("<td>"), wide.count("…"), wide.count("<td>true")), (13, 2, 12))
        self.assertIn("[&lt;b&gt;:900]", wide)
        for other in (dict(shape=[], data=[1]), dict(shape=[2, 2, 2], data=[0] * 8), dict(shape=[2000]),
                      dict(shape=[0], data=[])):
            self.assertIsNone(shown.table(dict(name="x", dtype="f64", labels=["i"] * len(other["shape"]), **other)))


class Prompt(unittest.TestCase):
    def setUp(self):
        self.p = prompt.Prompt(EIN, ["--target=eval"])

    def tearDown(self):
        self.p.close()
        for stream in (self.p.process.stdout, self.p.process.stderr):
            stream.close()

    def test_answers(self):
        self.assertTrue(self.p.ask(text="x[i:3] : f64 = i / 2")["ok"])
        self.assertEqual(self.p.ask(text="x")["values"][0]["data"], [0, 0.5, 1])
        self.assertIn("<svg", self.p.ask(text=":plot x")["svg"])
        self.assertIn("<svg", self.p.ask(text=":graph x")["svg"])
        self.assertNotIn("svg", self.p.ask(text=":plan x"))
        self.p.ask(text=":sites 2")
        plan = self.p.ask(text=":plan x")
        self.assertIn("2 sites", plan["text"])
        self.assertIn("<svg", plan["svg"])
        wrong = self.p.ask(text="1 + nope", file="In [7]", line=3)
        self.assertIn("In [7]:3:5: error[E070]: nope", wrong["error"])
        self.assertIn("<prompt>:", self.p.ask(text="nope")["error"])
        self.assertEqual(self.p.ask(complete="αβ = sum[i] xyz + softm"), {"ok": True, "from": 18, "words": ["softmax"]})
        self.assertEqual([self.p.ask(whole=w)["whole"] for w in ("a = (", "a = 1", "a +")], [False, True, False])
        self.assertIn("is a JSON string, or an object with one", self.p.ask(nothing=1)["error"])
        self.assertIn("number of a line", self.p.ask(text="1", line=0)["error"])

    def test_plots(self):
        """A picture of whatever numbers there are."""
        for text in ("x[i:1] = 1.0", "x[i:5000] = sin(i / 100.0)", "x[i:9] = if i == 4 then nan else i",
                     "x[i:3] = 1e308 * (i - 1)", "x[i:4] = i > 1", "x[i:2] = nan",
                     "x[i:1, j:1] = 2", "x[i:300, j:7] = i * j", "x[i:3, j:200] = if i == 1 then inf else j",
                     "x[i:2, j:2] = nan"):
            self.p.ask(text=":reset")
            self.p.ask(text=text)
            svg = self.p.ask(text=":plot x")["svg"]
            self.assertTrue(svg.startswith("<svg") and svg.endswith("</svg>\n") and "nan" not in svg
                            and "inf" not in svg.replace("inf=", ""), text + svg[:2000])
            import xml.dom.minidom
            xml.dom.minidom.parseString(svg)

    def test_interrupted(self):
        """Ctrl-C ends what is computed, twice is as once, and what was defined stays."""
        self.p.ask(text="kept = 5")
        for presses in (1, 3):
            pressed = threading.Event()

            def press():
                for _ in range(presses):
                    time.sleep(0.3)
                    os.kill(os.getpid(), signal.SIGINT)
                pressed.set()
            threading.Thread(target=press).start()
            begun = time.monotonic()
            with contextlib.suppress(KeyboardInterrupt):  # the last one may come when all is over
                answer = self.p.ask(text=LONG)
                self.assertFalse(answer["ok"])
                self.assertIn("interrupted", answer["error"])
            while not pressed.is_set():
                with contextlib.suppress(KeyboardInterrupt):
                    time.sleep(0.1)
            self.assertLess(time.monotonic() - begun, 8)
        self.p.interrupt()  # while nothing is computed
        self.assertEqual(self.p.ask(text="kept + 1")["values"][0]["data"], [6])

    def test_ended(self):
        self.p.process.kill()
        with self.assertRaisesRegex(prompt.Ended, "by signal 9; its definitions are lost"):
            self.p.ask(text="1")

    def test_no_program(self):
        was = os.environ["EIN"], os.environ["PATH"]
        os.environ.update(EIN="/nowhere", PATH="/nowhere")
        try:
            if not os.access(pathlib.Path(prompt.__file__).parents[2] / "build" / "ein", os.X_OK):
                with self.assertRaisesRegex(FileNotFoundError, "cannot find the program ein"):
                    prompt.program()
        finally:
            os.environ.update(EIN=was[0], PATH=was[1])


class Command(unittest.TestCase):
    def run_ein(self, *words, **env):
        return subprocess.run([EIN, *words], env={**os.environ, **env}, capture_output=True, text=True, timeout=60)

    def test_words(self):
        for words, why in ((["jupyter"], "ein jupyter install"), (["jupyter", "remove"], "ein jupyter install"),
                           (["jupyter", "install", "--user", "--prefix", "/x"], "one of")):
            done = self.run_ein(*words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(why, done.stderr)

    @unittest.skipIf(module("ipykernel"), "Jupyter is installed")
    def test_without(self):
        """Where Jupyter is not, that is said, and how to get it."""
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_ein("jupyter", "install", "--prefix", folder, PATH=this_python(folder))
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertIn("-m pip install ipykernel jupyter_client", done.stderr)


def this_python(folder):
    """A PATH on which python3 is the one that runs this."""
    path = pathlib.Path(folder) / "bin"
    path.mkdir(exist_ok=True)
    (path / "python3").write_text('#!/bin/sh\nexec "%s" "$@"\n' % sys.executable)
    (path / "python3").chmod(0o755)
    return "%s:%s" % (path, os.environ["PATH"])


@unittest.skipUnless(module("ipykernel") and module("jupyter_client"),
                     "Jupyter (ipykernel, jupyter_client) is not installed")
class Kernel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Installed by the command, in a prefix of its own."""
        cls.folder = tempfile.TemporaryDirectory()
        done = subprocess.run([EIN, "jupyter", "install", "--prefix", cls.folder.name],
                              env={**os.environ, "PATH": this_python(cls.folder.name)}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "installed the kernel Ein in " + cls.folder.name in done.stdout, done.stdout
        os.environ.update(JUPYTER_PATH=cls.folder.name + "/share/jupyter",
                          JUPYTER_RUNTIME_DIR=cls.folder.name + "/runtime", IPYTHONDIR=cls.folder.name + "/ipython",
                          XDG_CACHE_HOME=cls.folder.name + "/cache")
        from jupyter_client.manager import KernelManager
        cls.manager = KernelManager(kernel_name="ein")
        cls.manager.start_kernel()
        cls.client = cls.manager.client()
        cls.client.start_channels()
        cls.client.wait_for_ready(60)

    @classmethod
    def tearDownClass(cls):
        cls.client.stop_channels()
        cls.manager.shutdown_kernel()
        cls.folder.cleanup()

    def cell(self, code, seconds=60, meanwhile=None):
        """(status of the reply, outputs)"""
        asked, outputs = self.client.execute(code), []
        if meanwhile:
            meanwhile()
        until = time.monotonic() + seconds
        while True:
            m = self.client.get_iopub_msg(timeout=max(0.1, until - time.monotonic()))
            if m["parent_header"].get("msg_id") != asked:
                continue
            if m["msg_type"] == "status" and m["content"]["execution_state"] == "idle":
                break
            if m["msg_type"] in ("stream", "display_data", "error"):
                outputs.append((m["msg_type"], m["content"]))
        while True:
            reply = self.client.get_shell_msg(timeout=seconds)
            if reply["parent_header"].get("msg_id") == asked:
                return reply["content"]["status"], outputs

    def ask(self, asked):
        while True:
            reply = self.client.get_shell_msg(timeout=60)
            if reply["parent_header"].get("msg_id") == asked:
                return reply["content"]

    def test_cells(self):
        self.assertEqual(self.cell("A[i:2, j:3] : f64 = 10*i + j"),
                         ("ok", [("stream", {"name": "stdout", "text": "A[i:2, j:3] : f64\n"})]))
        status, outputs = self.cell("A\nsum[i] A[i,j]\n:plot A\n:graph A")
        self.assertEqual((status, [kind for kind, _ in outputs]), ("ok", ["display_data"] * 3))
        self.assertEqual(outputs[0][1]["data"]["text/html"].count("<table>"), 2)
        self.assertIn("   0.0   1.0   2.0\n  10.0  11.0  12.0", outputs[0][1]["data"]["text/plain"])
        self.assertIn("<svg", outputs[1][1]["data"]["image/svg+xml"])
        self.assertIn("<svg", outputs[2][1]["data"]["image/svg+xml"])

    def test_mistake(self):
        status, outputs = self.cell("x = 1\ny = x + nope\nz = 2")
        self.assertEqual(status, "error")
        self.assertRegex(outputs[-1][1]["traceback"][0],
                         r"^In \[\d+\]:2:9: error\[E070\]: nope is not defined\n    2 \| y = x \+ nope\n")
        self.assertEqual(self.cell("x")[0], "ok")

    def test_interrupt(self):
        self.cell("kept = 7")
        status, outputs = self.cell(LONG, meanwhile=lambda: (time.sleep(1.5), self.manager.interrupt_kernel()))
        self.assertEqual((status, outputs[-1][1]["ename"]), ("error", "interrupted"))
        self.assertIn("7", self.cell("kept")[1][0][1]["data"]["text/plain"])

    def test_typing(self):
        self.cell("αβγ[i:2] : f32 = i")
        code = "x = 1\ny = softm"
        got = self.ask(self.client.complete(code, len(code)))
        self.assertEqual((got["matches"], code[got["cursor_start"]:got["cursor_end"]]), (["softmax"], "softm"))
        self.assertEqual(self.ask(self.client.complete("αβ", 2))["matches"], ["αβγ"])
        self.assertEqual([self.ask(self.client.is_complete(c))["status"] for c in ("a = (", "a = 1")],
                         ["incomplete", "complete"])
        self.assertIn("αβγ[i:2] : f32", self.ask(self.client.inspect("1 + αβγ[0]", 6))["data"]["text/plain"])
        self.assertIn("def softmax[j](x)", self.ask(self.client.inspect("softmax[j](x)", 3))["data"]["text/plain"])
        self.assertFalse(self.ask(self.client.inspect("what", 2))["found"])

    def test_ended(self):
        """Where the process goes, that is said, and the next cell finds a new one."""
        self.cell("gone = 1")
        self.assertEqual(self.cell(":quit")[0], "ok")
        status, outputs = self.cell("gone")
        self.assertEqual((status, outputs[-1][1]["ename"]), ("error", "Ended"))
        self.assertEqual(self.cell("new = 2")[0], "ok")

    @unittest.skipUnless(module("nbclient") and module("nbformat"), "nbclient and nbformat are not installed")
    def test_notebook(self):
        import nbclient
        import nbformat
        v4 = nbformat.v4
        book = v4.new_notebook(cells=[v4.new_markdown_cell("# Softmax"), v4.new_code_cell("x[i:4] : f64 = i"),
                                      v4.new_code_cell("softmax[i](x[i])\n:plot x")],
                               metadata={"kernelspec": {"name": "ein", "display_name": "Ein"}})
        nbclient.NotebookClient(book, kernel_name="ein", timeout=100).execute()
        self.assertIn("0.643914", book.cells[2].outputs[0].data["text/html"])
        self.assertIn("<svg", book.cells[2].outputs[1].data["image/svg+xml"])
        nbformat.validate(book)


@unittest.skipUnless(module("IPython"), "IPython is not installed")
class Magic(unittest.TestCase):
    def test_cells(self):
        import ein
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.environ["IPYTHONDIR"] = folder.name
        from IPython.core.interactiveshell import InteractiveShell
        from traitlets.config import Config
        shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
        shell.run_line_magic("load_ext", "ein")
        shell.push({"X": [[1.0, 3.0], [2.0, 2.0]], "N": 2})
        text = "dim N, M\ninput X[i:N, j:2] : f64\noutput Y[i] = sum[j] X[i,j]\noutput z[i:M] = i\n"
        r = shell.run_cell_magic("ein", "-D M=3 --target eval", text)
        self.assertEqual((list(r.Y), list(shell.user_ns["Y"]), list(shell.user_ns["z"])), ([4, 4], [4, 4], [0, 1, 2]))
        f = shell.run_cell_magic("ein", "-D M=N --target eval --function f", text)
        self.assertIs(shell.user_ns["f"], f)
        self.assertEqual(len(f(X=[[1.0, 2.0]]).z), 2)
        with self.assertRaises(ein.Error) as e:
            shell.run_cell_magic("ein", "", "output y = x\n")
        self.assertEqual(e.exception._render_traceback_()[0][:28], "ein.Error: <cell>.ein:1:12: ")
        with self.assertRaisesRegex(ValueError, "%%ein"):
            shell.run_cell_magic("ein", "--sites many", text)


if __name__ == "__main__":
    main()
