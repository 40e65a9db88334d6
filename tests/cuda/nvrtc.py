"""Compiles CUDA texts with NVRTC, as ein does at run time: `nvrtc.py RUNTIME TEXT...`, where RUNTIME is the output of
`ein build --emit=runtime`. Exits with 77 if there is no libnvrtc. Compiles equal texts only once. Prints NVRTC's
messages for texts that it rejects, and the kernels that spill registers although they state how many blocks share a
multiprocessor."""
import ctypes
import ctypes.util
import glob
import os
import re
import sys

OPTIONS = [b"--gpu-architecture=" + os.environ.get("NVRTC_ARCH", "sm_80").encode(), b"--fmad=false", b"--ptxas-options=-v"]
STATED = re.compile(rb"__launch_bounds__\(\d+, \d+\) __global__ void (\w+)")
SPILLS = re.compile(r"properties for (\w+)\n[^\n]*?(\d+) bytes spill stores, (\d+) bytes spill loads")


def library():
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    for path in glob.glob(home + "/lib64/libnvrtc.so*") + [ctypes.util.find_library("nvrtc") or ""]:
        try:
            return ctypes.CDLL(path) if path else None
        except OSError:
            continue
    return None


def complaint(nvrtc, text, runtime):
    """What NVRTC says of a text that it rejects, and which kernels spill that should not; nothing: all is well."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, b"text.cu", 1, (ctypes.c_char_p * 1)(runtime), (ctypes.c_char_p * 1)(b"ein_run.h"))
    failed = nvrtc.nvrtcCompileProgram(program, len(OPTIONS), (ctypes.c_char_p * len(OPTIONS))(*OPTIONS))
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    said = log.value.decode(errors="replace")
    if failed:
        return said or "no reason"
    stated = {x.decode() for x in STATED.findall(text)}
    spills = [x for x in SPILLS.findall(said) if x[0] in stated and (x[1] != "0" or x[2] != "0")]
    return "".join(f"{k} spills {a} bytes, loads {b}\n" for k, a, b in spills)


def kernels(text):
    """What NVRTC sees of it, without what differs by name alone."""
    return text.split(b"#if !defined(__CUDACC_RTC__)")[0].split(b"\n", 1)[1]


def main(runtime, texts):
    nvrtc = library()
    if not nvrtc:
        print("skipped: there is no libnvrtc")
        return 77
    with open(runtime, "rb") as f:
        runtime = f.read()
    seen, wrong = set(), 0
    for name in texts:
        with open(name, "rb") as f:
            text = f.read()
        if kernels(text) in seen:
            continue
        seen.add(kernels(text))
        said = complaint(nvrtc, text, runtime)
        wrong += bool(said)
        if said:
            print(f"{name}: {said[:2000]}")
    print(f"{len(seen)} texts compiled, {wrong} refused")
    return 1 if wrong or not seen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
