"""The kernel: passes Jupyter's requests to the prompt."""
import re

from ipykernel.kernelbase import Kernel

from . import shown
from .prompt import Ended, Prompt, pieces


class EinKernel(Kernel):
    implementation = "ein"
    language = "ein"
    language_info = {"name": "ein", "mimetype": "text/x-ein", "file_extension": ".ein", "pygments_lexer": "text",
                     "codemirror_mode": "text"}
    help_links = []
    _prompt = None
    _version = None

    @property
    def implementation_version(self):
        if self._version is None:
            import subprocess
            from .prompt import program
            self._version = subprocess.run([program(), "--version"], capture_output=True, text=True).stdout.split()[-1]
        return self._version

    @property
    def banner(self):
        return "Ein %s: type an equation, an expression, or :help" % self.implementation_version

    def _ask(self, **request):
        if self._prompt is None:
            self._prompt = Prompt()
        try:
            return self._prompt.ask(**request)
        except Ended:
            self._prompt = None
            raise

    # ---- execution ----

    def do_execute(self, code, silent, store_history=True, user_expressions=None, allow_stdin=False, **_):
        for line, text in pieces(code):
            try:
                answer = self._ask(text=text, file="In [%d]" % self.execution_count, line=line)
            except (Ended, OSError) as e:
                return self._failed(type(e).__name__, str(e))
            if not silent:
                self._stream("stderr", self._prompt.said())
                self._show(answer)
            if not answer["ok"]:
                return self._failed("interrupted" if "interrupted" in answer["error"] else "error", answer["error"])
        return {"status": "ok", "execution_count": self.execution_count, "payload": [], "user_expressions": {}}

    def _stream(self, name, text):
        if text:
            self.send_response(self.iopub_socket, "stream", {"name": name, "text": text})

    def _show(self, answer):
        if answer.get("values") or answer.get("svg"):
            self.send_response(self.iopub_socket, "display_data", {"data": shown.bundle(answer), "metadata": {}})
        else:
            self._stream("stdout", answer["text"])

    def _failed(self, name, text):
        said = {"ename": name, "evalue": text, "traceback": [text]}
        self.send_response(self.iopub_socket, "error", said)
        return {"status": "error", "execution_count": self.execution_count, **said}

    # ---- completion and inspection ----

    def do_complete(self, code, cursor_pos):
        begin = code.rfind("\n", 0, cursor_pos) + 1
        try:
            answer = self._ask(complete=code[begin:cursor_pos])
        except (Ended, OSError):
            answer = {"from": cursor_pos - begin, "words": []}
        return {"status": "ok", "matches": answer["words"], "cursor_start": begin + answer["from"],
                "cursor_end": cursor_pos, "metadata": {}}

    def do_is_complete(self, code):
        try:
            whole = self._ask(whole=code)["whole"]
        except (Ended, OSError):
            return {"status": "unknown"}
        return {"status": "complete"} if whole else {"status": "incomplete", "indent": "  "}

    def do_inspect(self, code, cursor_pos, detail_level=0, omit_sections=()):
        """The name at the cursor: its labels, extents and dtype."""
        name = next((m.group() for m in re.finditer(r"\w+'*", code) if m.start() <= cursor_pos <= m.end()), None)
        try:
            answer = self._ask(text=":type " + name) if name else {"ok": False}
        except (Ended, OSError):
            answer = {"ok": False}
        if not answer["ok"]:
            return {"status": "ok", "found": False, "data": {}, "metadata": {}}
        return {"status": "ok", "found": True, "data": {"text/plain": answer["text"]}, "metadata": {}}

    def do_shutdown(self, restart):
        if self._prompt:
            self._prompt.close()
        self._prompt = None
        return {"status": "ok", "restart": restart}
