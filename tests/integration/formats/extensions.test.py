#!/usr/bin/env python3
"""Submissions that build a library while they are imported, in every usual way. The isolated engine
judges them on the CPU."""

import functools
import pathlib
import subprocess
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "run"), str(HERE.parents[1] / "lib")]
from runner import PYTHON, ROOT, Runner, job, task  # noqa: E402
from tap import Skip, contains, equal, run, test  # noqa: E402
from tools import nvcc_lack  # noqa: E402

REFERENCE = """
import torch
from utils import uniform, verbose_allclose

def generate_input(size, seed):
    return uniform(size, seed), uniform(size, seed + 1), torch.empty(size)

def ref_kernel(data):
    return data[0] + data[1]

def check_implementation(data, output):
    reasons = verbose_allclose(output, ref_kernel(data))
    return reasons[0] if len(reasons) > 0 else ""
"""
# The function of all libraries below. With FACTOR 1 its result is right, with another factor wrong.
ADD = """
#define FACTOR 1
extern "C" void add(const float *a, const float *b, float *sum, long size)
{
	for (long i = 0; i < size; i++)
		sum[i] = a[i] + FACTOR * b[i];
}
"""
# load_inline includes torch's headers and adds the module.
TENSORS = (
	ADD.replace('extern "C"', "static")
	+ """
void add_tensors(torch::Tensor a, torch::Tensor b, torch::Tensor sum)
{
	add(a.data_ptr<float>(), b.data_ptr<float>(), sum.data_ptr<float>(), sum.numel());
}
"""
)
# A Python module that does not include torch's headers, because they take ten seconds to compile.
BOUND = (
	"#include <pybind11/pybind11.h>\n"
	+ ADD
	+ """
static void add_tensors(unsigned long a, unsigned long b, unsigned long sum, long size)
{
	add((const float *)a, (const float *)b, (float *)sum, size);
}
PYBIND11_MODULE(bound, module)
{
	module.def("add_tensors", &add_tensors);
}
"""
)
# The same for Python's own interface, whose headers take a tenth of the time.
MODULE = (
	"#include <Python.h>\n"
	+ ADD
	+ """
static PyObject *add_tensors(PyObject *, PyObject *arguments)
{
	unsigned long a, b, sum;
	long size;
	if (!PyArg_ParseTuple(arguments, "kkkl", &a, &b, &sum, &size))
		return NULL;
	add((const float *)a, (const float *)b, (float *)sum, size);
	Py_RETURN_NONE;
}
static PyMethodDef methods[] = { { "add_tensors", add_tensors, METH_VARARGS, NULL }, {} };
static PyModuleDef module = { PyModuleDef_HEAD_INIT, "", NULL, -1, methods };
#define INIT(name) PyMODINIT_FUNC PyInit_##name() { return PyModule_Create(&module); }
#define INIT_OF(name) INIT(name)
INIT_OF(TORCH_EXTENSION_NAME)
"""
)
CALL = """
def custom_kernel(data):
    library.add_tensors(*data)
    return data[2]
"""
CALL_BOUND = """
def custom_kernel(data):
    library.add_tensors(*(tensor.data_ptr() for tensor in data), len(data[0]))
    return data[2]
"""
BY_POINTER = """
def custom_kernel(data):
    a, b, output = data
    library.add(*(ctypes.c_void_p(each.data_ptr()) for each in data), ctypes.c_long(len(a)))
    return output
"""


def submission(code, source, call):
	return f"SOURCE = {source!r}\n" + textwrap.dedent(code) + call


LOAD_INLINE = submission(
	"""
	from torch.utils.cpp_extension import load_inline
	library = load_inline("inlined", SOURCE, functions=["add_tensors"])
	""",
	TENSORS,
	CALL,
)
LOAD = submission(
	"""
	import os, pathlib
	from torch.utils.cpp_extension import load
	folder = pathlib.Path(os.environ["TORCH_EXTENSIONS_DIR"]) / "mine"
	folder.mkdir(parents=True, exist_ok=True)
	(folder / "library.h").write_text(SOURCE)
	(folder / "module.cpp").write_text('#include "library.h"\\n')
	library = load("loaded", [str(folder / "module.cpp")], extra_cflags=["-O1"])
	""",
	MODULE,
	CALL_BOUND,
)
BY_PYBIND11 = submission(
	"""
	import importlib.util, subprocess, sysconfig, tempfile
	folder = tempfile.mkdtemp()
	open(f"{folder}/bound.cpp", "w").write(SOURCE)
	subprocess.run(["g++", "-O1", "-std=c++17", "-shared", "-fPIC",
	    "-I" + sysconfig.get_paths()["include"], f"{folder}/bound.cpp", "-o", f"{folder}/bound.so"],
	    check=True)
	found = importlib.util.spec_from_file_location("bound", f"{folder}/bound.so")
	library = importlib.util.module_from_spec(found)
	found.loader.exec_module(library)
	""",
	BOUND,
	CALL_BOUND,
)


def by_ctypes(command, ending):
	return submission(
		f"""
		import ctypes, os, subprocess, tempfile
		folder = tempfile.mkdtemp()
		open(folder + "/add{ending}", "w").write(SOURCE)
		subprocess.run({command} + ["-shared", folder + "/add{ending}", "-o", folder + "/add.so"],
		    check=True)
		library = ctypes.CDLL(folder + "/add.so")
		""",
		ADD,
		BY_POINTER,
	)


BY_CTYPES = by_ctypes('["g++", "-O1", "-fPIC"]', ".cpp")
BY_NVCC = by_ctypes('["nvcc", "-Xcompiler", "-fPIC"]', ".cu")


@functools.lru_cache(None)
def headers_lack(header):
	"""The reason why a library that includes the header cannot be built here, or None."""
	find = (
		"import sysconfig; from torch.utils.cpp_extension import include_paths; "
		"print(' '.join('-I' + path for path in [*include_paths(), "
		"sysconfig.get_paths()['include']]))"
	)
	answer = subprocess.run([PYTHON, "-c", find], capture_output=True, text=True)
	if answer.returncode:
		return f"{PYTHON} cannot import torch"
	answer = subprocess.run(
		["g++", "-E", "-x", "c++", *answer.stdout.split(), "-"],
		input=f"#include <{header}>\n",
		capture_output=True,
		text=True,
	)
	return f"{header} is not there" if answer.returncode else None


@functools.lru_cache(None)
def runner():
	return Runner("--python", PYTHON)


def judge(text, mode="ranked"):
	names = ("eval.py", "utils.py")
	definition = task(
		engine="",
		tests=["size: 100; seed: 1"],
		benchmarks=["size: 1000; seed: 2"],
		files=[
			*({"name": name, "source": "@STOCK@", "is_submission": False} for name in names),
			{"name": "reference.py", "source": "reference.py", "is_submission": False},
			{"name": "submission.py", "source": "@SUBMISSION@", "is_submission": True},
		],
		test_timeout_s=200,
		ranked_timeout_s=200,
	)
	files = [
		{"path": "reference.py", "text": REFERENCE},
		{"path": "utils.py", "text": (ROOT / "harness" / "utils.py").read_text()},
	]
	runner().send(
		job(
			text,
			(ROOT / "harness" / "eval.py").read_text(),
			mode=mode,
			files=files,
			definition=definition,
		)
	)
	return runner().result()


def expect(text, **changes):
	result = judge(text, **changes)
	equal((result.verdict, result.reason, result.engine), ("passed", result.reason, "isolated"))


def expect_own(text, mode="ranked"):
	"""Checks that the submission passes, and that another FACTOR makes it wrong, which proves that
	its own library ran."""
	expect(text, mode=mode)
	result = judge(text.replace("FACTOR 1", "FACTOR 2"), mode=mode)
	equal(result.verdict, "wrong answer")
	contains(result.reason, "100 of 100 elements are wrong")


# A timed run on the CPU repeats with new processes, which build the library again. The tests of
# load() and gcc show that. Libraries that take seconds to build run in mode test.


@test
def by_load_inline():
	if headers_lack("torch/extension.h"):
		raise Skip(headers_lack("torch/extension.h"))
	expect(LOAD_INLINE, mode="test")


@test
def by_load_from_files_that_it_writes():
	if headers_lack("Python.h"):
		raise Skip(headers_lack("Python.h"))
	expect_own(LOAD)


@test
def by_pybind11():
	if headers_lack("pybind11/pybind11.h"):
		raise Skip(headers_lack("pybind11/pybind11.h"))
	expect_own(BY_PYBIND11, mode="test")


@test
def by_ctypes_on_a_library_of_gcc():
	expect_own(BY_CTYPES)


@test
def by_ctypes_on_a_library_of_nvcc():
	if nvcc_lack():
		raise Skip(nvcc_lack())
	expect_own(BY_NVCC, mode="test")


@test
def a_library_that_does_not_compile_is_the_submission_s_fault():
	result = judge(BY_CTYPES.replace("FACTOR * b[i]", "FACTOR * b[i"))
	equal(result.verdict, "runtime error")
	contains(result.log("stderr", 0) + result.log("stderr"), "expected")


try:
	code = run()
finally:
	runner().__exit__()
sys.exit(code)
