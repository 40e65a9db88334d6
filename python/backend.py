"""The build backend of this folder for pip (PEP 517, PEP 660); it needs only the standard library. A wheel has the
packages and the path of the folder that they came from, so that they find libein. An editable install (pip install -e)
has only a path to this folder."""
import base64
import hashlib
import pathlib
import re
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = ("ein", "ein_kernel")
REQUIRES = ('Provides-Extra: jupyter\nRequires-Dist: ipykernel; extra == "jupyter"\n'
            'Requires-Dist: jupyter_client; extra == "jupyter"\n')


def version():
    """The version of the checkout or, in PREFIX/share/ein/python, of the installed Ein."""
    build = HERE.parent / "meson.build"
    if build.exists():
        return re.search(r"^ *version: '([^']*)'", build.read_text(encoding="utf-8"), re.M).group(1)
    for config in HERE.parents[2].glob("lib*/**/pkgconfig/libein.pc"):
        return re.search(r"^Version: *(\S+)", config.read_text(encoding="utf-8"), re.M).group(1)
    raise SystemExit("%s: neither a checkout of Ein (../meson.build) nor an installed one "
                     "(../../../lib/pkgconfig/libein.pc)" % HERE)


def _info():
    head = "Metadata-Version: 2.1\nName: ein\nVersion: %s\nRequires-Python: >=3.9\nLicense: MIT\n" % version()
    return {"METADATA": head + "Summary: Tensor computations as equations over labels, compiled\n" + REQUIRES,
            "WHEEL": "Wheel-Version: 1.0\nGenerator: ein\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            "top_level.txt": "\n".join(PACKAGES) + "\n"}


def _wheel(folder, files):
    name = "ein-%s" % version()
    files = {**files, **{"%s.dist-info/%s" % (name, k): text.encode() for k, text in _info().items()}}
    record = ""
    wheel = "%s-py3-none-any.whl" % name
    with zipfile.ZipFile(pathlib.Path(folder) / wheel, "w", zipfile.ZIP_DEFLATED) as z:
        for path, data in sorted(files.items()):
            z.writestr(zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)), data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += "%s,sha256=%s,%d\n" % (path, digest, len(data))
        z.writestr(zipfile.ZipInfo("%s.dist-info/RECORD" % name, (1980, 1, 1, 0, 0, 0)),
                   record + "%s.dist-info/RECORD,,\n" % name)
    return wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = {str(p.relative_to(HERE)): p.read_bytes() for k in PACKAGES for p in (HERE / k).rglob("*") if p.is_file()
             and "__pycache__" not in p.parts}
    files["ein/origin.txt"] = ("%s\n" % HERE).encode()
    return _wheel(wheel_directory, files)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _wheel(wheel_directory, {"ein.pth": ("%s\n" % HERE).encode()})


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("the source of Ein is its checkout: pip install ./python")
