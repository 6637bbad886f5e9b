#!/usr/bin/env python3
"""compile_cu compiles as nvcc does: the same names, messages and errors. It leaves the work to an
nvcc whose steps it does not know."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from tap import Skip, contains, equal, lacks, run, test  # noqa: E402
from tools import nvcc_lack, system_nvcc  # noqa: E402

FOLDER = tempfile.TemporaryDirectory()
WORK = pathlib.Path(FOLDER.name)
SCRIPT = ROOT / "harness" / "isolated" / "compile_cu"
FLAGS = "-O1 -gencode=arch=compute_90a,code=sm_90a -Xcompiler=-fPIC -Xptxas=--verbose -shared"

# Names that are local to the file have the module ID in them.
SOURCE = r"""
static __device__ int hidden;
namespace {
__constant__ int table[4];
__global__ void inner(int *p) { *p += table[1]; }
}
static __global__ void outer(int *p) { *p += hidden; }
extern "C" void run(int *p)
{
	int unused;
	inner<<<1, 1>>>(p);
	outer<<<1, 1>>>(p);
	cudaMemcpyToSymbol(table, p, sizeof table);
}
"""


def compiled(name, source, by_script):
	"""(exit code, standard output, error output) of a compilation. The calls of nvcc itself go to
	the file "calls"."""
	(WORK / f"{name}.cu").write_text(source)
	nvcc = WORK / "nvcc"
	nvcc.write_text(f'#!/bin/sh\necho "$*" >> calls\nexec {system_nvcc()} "$@"\n')
	nvcc.chmod(0o755)
	(WORK / "calls").unlink(missing_ok=True)
	words = [nvcc, *FLAGS.split(), f"{name}.cu", "-o", f"{name}.so"]
	answer = subprocess.run(
		["sh", SCRIPT, *words] if by_script else words, cwd=WORK, capture_output=True, text=True
	)
	return answer.returncode, without_chance(answer.stdout), without_chance(answer.stderr)


CHANCE = re.compile(
	r"\d+_(GLOBAL__N_|INTERNAL)(_submission|_[0-9a-f]{8}_\d+_(one|two)_cu_run)"
	r"|\d+(?=__device_stub)|Compile time = [\d.]+|tmpxft_[0-9a-f]+_[0-9a-f]+-\d+_"
)


def without_chance(text):
	"""Leaves out the module ID, times, and names of temporary files."""
	return CHANCE.sub("", text)


def names(path, option):
	said = subprocess.run(["nm", *option, path], capture_output=True, text=True, check=True).stdout
	return sorted(without_chance(line[17:]) for line in said.splitlines())


def local_names(object_file):
	found = re.findall(rb"[\w.]*_GLOBAL__N_\w*", object_file)
	assert len(found) > 10, found
	return sorted(without_chance(name.decode()) for name in found)


@test
def the_object_and_the_messages_are_those_of_nvcc():
	if nvcc_lack():
		raise Skip(nvcc_lack())
	by_script = compiled("one", SOURCE, True)
	equal((WORK / "calls").read_text().count("\n"), 1)  # no compilation by nvcc itself
	contains((WORK / "calls").read_text(), "--dryrun")
	shared = (WORK / "one.so").read_bytes()
	found = names(WORK / "one.so", ["-D"])
	by_nvcc = compiled("one", SOURCE, False)
	equal(by_script, by_nvcc)
	contains(by_script[2], 'variable "unused" was declared but never referenced')
	contains(by_script[2], "ptxas info")
	equal(found, names(WORK / "one.so", ["-D"]))
	# Host code and GPU code must have the same names for what is local to the file. With different
	# module IDs the names would differ here.
	equal(local_names(shared), local_names((WORK / "one.so").read_bytes()))
	equal(set(re.findall(rb"_GLOBAL__N_(_\w{10})", shared)), {b"_submission"})


@test
def errors_are_those_of_nvcc():
	if nvcc_lack():
		raise Skip(nvcc_lack())
	for source in (
		SOURCE.replace("inner<<<", "missing<<<"),
		SOURCE.replace("*p += hidden", 'asm("no instruction;")'),
		SOURCE + "#include <no_such_file>\n",
		SOURCE + 'extern "C" void run(int *p) __attribute__((alias("nothing")));\n',
	):
		by_script, by_nvcc = compiled("two", source, True), compiled("two", source, False)
		assert by_script[0], by_script
		equal(by_script[1:], by_nvcc[1:])


@test
def an_nvcc_with_other_steps_runs_as_usual():
	host = "cudafe++ -x --gen_module_id_file --module_id_file_name"
	device = "cicc --module_id_file_name"
	usual = [f'{host} "{WORK}/id" "x"', f'{device} "{WORK}/id"', "fatbinary x", "touch by_steps"]
	for steps in (
		[],
		usual[1:],
		[usual[0], *usual],
		[usual[0], usual[1], *usual[1:]],
		usual[:2],
		[usual[0], f'{device} "{WORK}/other"', *usual[2:]],
		None,
	):
		told = "exit 1" if steps is None else "".join(f"echo '#$ {step}' >&2\n" for step in steps)
		nvcc = WORK / "nvcc"
		nvcc.write_text(
			f'#!/bin/sh\ncase "$*" in *--dryrun*)\n{told}\nexit 0 ;; esac\necho "ran $*"; exit 7\n'
		)
		nvcc.chmod(0o755)
		answer = subprocess.run(
			["sh", SCRIPT, nvcc, "a flag", "x.cu"], cwd=WORK, capture_output=True, text=True
		)
		equal((steps, answer.returncode, answer.stdout), (steps, 7, "ran a flag x.cu\n"))
		lacks(os.listdir(WORK), "by_steps")


sys.exit(run())
