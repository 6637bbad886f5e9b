#!/usr/bin/env python3
"""The judge and the contestants of tasks in CUDA C++ (harness/isolated/*.cu), built with nvcc and run without a GPU; and the
statistics of blocks.h against those of podium_statistics.py."""
import base64
import concurrent.futures
import contextlib
import copy
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
ISOLATED = ROOT / "harness" / "isolated"
BUILD = ROOT / os.environ.get("B", "build/release")
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from tap import contains, equal, lacks, run, test  # noqa: E402

NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
FLAGS = [
	"--std=c++20", "-DNDEBUG", "--expt-extended-lambda", "--expt-relaxed-constexpr",
	"-forward-unknown-to-host-compiler", "-O0", "-gencode=arch=compute_90a,code=sm_90a", "-I."
]
CASES = "size: 3; seed: 5\nsize: 700; seed: 6\n"

# ---- the tasks ----

TASK = """#pragma once
#include "utils.h"
#include <array>
#include <string>
#include <tuple>
#include <vector>
enum class Kind : short { even, odd };
struct Piece { std::vector<double> weights; float table[3]; bool flag; };
using input_t = std::tuple<std::vector<float>, int, std::array<Piece, 2>, Kind, std::string>;
struct output_t { std::vector<float> values; std::vector<std::vector<int>> counts; std::pair<double, bool> rest; };
constexpr std::array<const char *, 2> ArgumentNames = {"size", "seed"};
"""
REFERENCE = """#pragma once
#include "task.h"
inline input_t generate_input(int size, unsigned seed)
{
	std::vector<float> values(static_cast<std::size_t>(size));
	for (std::size_t i = 0; i < values.size(); i++)
		values[i] = static_cast<float>(random_bits(seed, i) >> 40);
	Piece piece{{1.5, static_cast<double>(seed)}, {1, 2, 3}, seed % 2 == 1};
	return {values, size, {piece, piece}, seed % 2 ? Kind::odd : Kind::even, "seed " + std::to_string(seed)};
}
inline void check_implementation(TestReporter &reporter, const input_t &data, const output_t &output)
{
	const auto &[values, size, pieces, kind, text] = data;
	reporter.check_equal("the number of values", output.values.size(), values.size());
	for (std::size_t i = 0; i < values.size() && i < output.values.size() && reporter.has_passed(); i++)
		reporter.check_equal(("value " + std::to_string(i)).c_str(), output.values[i], values[i] * 2);
	reporter.check_equal("the number of counts", output.counts.size(), std::size_t(2));
	for (const auto &count : output.counts)
		reporter.check_equal("a count", count.size(), static_cast<std::size_t>(size % 5));
	reporter.check_equal("the seed", output.rest.first, pieces[1].weights[1]);
	reporter.check_equal("the flag", output.rest.second, pieces[0].flag && kind == Kind::odd && pieces[0].table[2] == 3 &&
		text == "seed " + std::to_string(static_cast<unsigned>(pieces[0].weights[1])));
}
"""
# What it does is in the environment, so that it is compiled once.
SUBMISSION = """#include "task.h"
#include <cstdio>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <thread>
#include <unistd.h>
static const char *mode = getenv("MODE") ? getenv("MODE") : "";
static bool is(const char *name) { return std::strcmp(mode, name) == 0; }
struct Early { Early() { if (is("ends while it is loaded")) _exit(0); } } early;
static void note(const char *what)
{
	timespec now;
	std::FILE *file = std::fopen(mode + std::strlen("notes in "), "a");
	clock_gettime(CLOCK_MONOTONIC, &now);
	std::fprintf(file, "%s %.9f\\n", what, double(now.tv_sec) + 1e-9 * double(now.tv_nsec));
	std::fclose(file);
}
static bool does_note = std::strncmp(mode, "notes in ", 9) == 0;
struct Loaded { Loaded() { if (does_note) note("loaded"); } } loaded;
output_t custom_kernel(input_t data)
{
	static int calls;
	calls++;
	if (does_note)
		note("called");
	auto &[values, size, pieces, kind, text] = data;
	output_t made;
	for (float &value : values)
		made.values.push_back(value * (is("is wrong") || (is("is wrong when timed") && calls > 6) ? 3 : 2));
	made.counts.assign(2, std::vector<int>(static_cast<std::size_t>(size % 5)));
	made.rest = {pieces[1].weights[1], kind == Kind::odd};
	if (is("changes its input"))
		values.assign(values.size(), 0), pieces[1].weights = {};
	if (is("raises"))
		throw std::runtime_error("no such luck");
	if (is("ends"))
		_exit(0);
	if (is("hangs"))
		for (;;)
			sleep(1);
	if (is("returns more and more"))
		made.values.resize(std::size_t(1000) << calls);
	if (is("reads the environment"))
		throw std::runtime_error(std::string("seed ") + (getenv("POPCORN_SEED") ? "there" : "not there"));
	return made;
}
"""
UNCARRIED = {
	"task.h": TASK.replace("using input_t = std::tuple<std::vector<float>,",
	"using input_t = std::tuple<std::vector<const float *>,"), "reference.cuh": """#pragma once
#include "task.h"
inline input_t generate_input(int, unsigned) { return input_t(); }
inline void check_implementation(TestReporter &reporter, const input_t &, const output_t &) { reporter.pass(); }
"""
}
GPU_TASK, KERNEL_TASK = (ROOT / "tasks" / name for name in ("vectoradd_cu", "vectoradd_kernel_cu"))


def headers(task):
	return {path.name: path.read_text() for path in task.glob("*.*h")}


# On the CPU device nothing shows how far a machine has drifted: behind a reference, this says it of the first attempts at a case.
DRIFTING = """
#include "isolated/blocks.h"
#include <cstdlib>
namespace podium {
struct CalmBlock : Block { bool constant_moved(const Rule &) const { return false; } };
inline double pretended_disturbance(const Blocks &, const Rule &)
{
	static int drifts = std::atoi(std::getenv("DRIFTS"));
	return drifts-- > 0 ? 2500 : 0;
}
} // namespace podium
#define Block CalmBlock
#define steady_disturbance pretended_disturbance
"""


class Work:
	"""A folder for each program that is built, as podium-run makes it, and what nvcc made there."""

	def __init__(self):
		self.path = pathlib.Path(tempfile.mkdtemp(prefix="podium-isolated-cu."))
		self.results = {}

	def folder(self, name, files):
		folder = self.path / name
		(folder / "isolated").mkdir(parents=True)
		for source in [
			*ISOLATED.glob("*.cu"), *ISOLATED.glob("*.h"), ROOT / "harness" / "eval.cu",
			BUILD / "harness" / "isolated" / "native.o"
		]:
			shutil.copy(source, folder / "isolated")
		for file, text in {"utils.h": (ROOT / "harness" / "utils.h").read_text(), **files}.items():
			(folder / file).write_text(text)
		return folder

	def compile(self, name, files, *words):
		folder = self.folder(name, files)
		self.results[name] = subprocess.run(["nice", NVCC, *FLAGS, *words], cwd=folder,
			capture_output=True, text=True)
		return folder

	def built(self, name, program):
		result = self.results[name]
		if result.returncode:
			raise AssertionError(f"{name} could not be compiled:\n{result.stdout}{result.stderr}")
		return self.path / name / program

	def build(self):
		"""Two at a time."""
		task = {"task.h": TASK, "reference.cuh": REFERENCE}
		shared = ["-Xcompiler=-fPIC", "-shared", "-Xlinker=-z,defs", "-o", "submission.so"]
		jobs = [("judge", task, "isolated/judge.cu", "isolated/native.o", "-o", "judge.out"),
			("contestant", {"task.h": TASK}, "isolated/contestant.cu", "isolated/native.o", "-o",
			"contestant.out"),
			("submission", {"task.h": TASK,
			"submission.cu": SUBMISSION}, *shared, "isolated/entry.cu", "submission.cu"),
			("misnamed", {"task.h": TASK, "submission.cu": "void custom_kernel() {}\n"}, *shared,
			"isolated/entry.cu", "submission.cu"),
			("uncarried", UNCARRIED, "isolated/judge.cu", "isolated/native.o", "-o", "judge.out"),
			("judge of a machine that drifts", {**task, "reference.cuh": REFERENCE + DRIFTING},
			"isolated/judge.cu", "isolated/native.o", "-o", "judge.out")]
		jobs.append(("judge on a GPU", headers(GPU_TASK), "isolated/judge.cu", "isolated/native.o",
			"-o", "judge.out"))
		jobs += [(f"wrapped {sample}", {
			**headers(KERNEL_TASK), "submission.cuh":
			(KERNEL_TASK / "samples" / f"{sample}.cu").read_text()
		}, *shared, "isolated/entry_wrapped.cu") for sample in ("right", "other_parameters")]
		with concurrent.futures.ThreadPoolExecutor(2) as pool:
			for done in [pool.submit(self.compile, *job) for job in jobs]:
				done.result()


WORK = Work()
# As podium-run puts them: the modules beside the native part.
for module in (ISOLATED / "podium_statistics.py", ISOLATED / "podium_wire.py",
	BUILD / "harness" / "isolated" / "native.so"):
	shutil.copy(module, WORK.path)
sys.path.insert(0, str(WORK.path))
import podium_statistics as statistics  # noqa: E402
import podium_wire as wire  # noqa: E402


@contextlib.contextmanager
def contestant(command, folder, end, **environment):
	"""A process with this end of a channel as descriptor 3."""
	process = subprocess.Popen(
		[sys.executable, "-c", BECOME,
		json.dumps([end.fileno()]), *map(str, command)], cwd=folder, pass_fds=[end.fileno()],
		env={"PATH": os.environ["PATH"], **environment}, stdin=subprocess.DEVNULL)
	try:
		yield process
	finally:
		process.kill()
		process.wait()


class Judged:

	def __init__(self, code, text):
		self.code, self.text = code, text
		pairs = [line.split(": ", 1) for line in text.splitlines()]
		self.lines = dict(pairs)
		equal(len(self.lines), len(pairs))  # no key twice


def run_folder(mode):
	"""One like that of a contestant."""
	folder = pathlib.Path(tempfile.mkdtemp(prefix="contestant.", dir=WORK.path))
	shutil.copy(WORK.built("contestant", "contestant.out"), folder)
	shutil.copy(WORK.built("submission", "submission.so"), folder)
	return folder, {"MODE": mode}


def judge(
		mode="test", submission="", cases=CASES, rival=None, liar=None, program="judge",
		**environment):
	"""One run of a judge. `submission`: what the entry does; `liar`: a function that takes its place, with the socket."""
	folder = pathlib.Path(tempfile.mkdtemp(prefix="judge.", dir=WORK.path))
	(folder / "cases.txt").write_text(cases)
	reading, writing = os.pipe()
	pairs = [
		socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		for _ in range(3 if rival is not None else 1 if mode == "test" else 2)
	]
	with contextlib.ExitStack() as stack:
		over = threading.Event()
		stack.callback(over.set)
		for index, (_, end) in enumerate(pairs):
			if index == 0 and liar:
				threading.Thread(target=tell_lies, args=[liar, end, over], daemon=True).start()
				continue
			where, variables = run_folder([submission, "", rival][index])
			stack.enter_context(
				contestant(["./contestant.out", *(["--null"] if index == 1 else [])], where, end,
				**variables))
			end.close()
		descriptors = [writing] + [ours.fileno() for ours, _ in pairs]
		process = stack.enter_context(
			subprocess.Popen(
			[
			sys.executable, "-c", BECOME,
			json.dumps(descriptors),
			str(WORK.built(program, "judge.out")), mode, "cases.txt"
			], cwd=folder, pass_fds=descriptors, stdin=subprocess.DEVNULL,
			stderr=subprocess.DEVNULL, env={
			"PATH": os.environ["PATH"], "POPCORN_FD": "3", "POPCORN_SEED": "77",
			"CUDA_VISIBLE_DEVICES": "", **environment
			}))
		os.close(writing)
		for ours, _ in pairs:
			ours.close()
		with open(reading) as lines:
			text = lines.read()
		return Judged(process.wait(), text)


# Descriptors 3, 4, ... in this order, whatever they are now.
BECOME = """
import fcntl, json, os, sys
given = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, 100) for descriptor in json.loads(sys.argv[1])]
for index, descriptor in enumerate(given):
    os.dup2(descriptor, 3 + index)
os.closerange(3 + len(given), 200)
os.execv(sys.argv[2], sys.argv[2:])
"""


def ends_with(result, code, *parts):
	if result.code != code:
		raise AssertionError(f"exit code {result.code}, expected {code}:\n{result.text}")
	for part in parts:
		contains(result.text, part)


# ---- honest submissions ----


@test
def a_right_answer_passes_with_every_type_that_can_be_carried():
	result = judge()
	ends_with(result, 0)
	equal(
		result.lines, {
		"test-count": "2", "test.0.spec": "size: 3; seed: 5", "test.0.status": "pass",
		"test.1.spec": "size: 700; seed: 6", "test.1.status": "pass", "check": "pass"
		})


@test
def a_case_is_measured_again_while_the_machine_drifts():
	for drifts, repeated in ((0, 0), (1, 4), (9, 8)):
		result = judge("benchmark", cases="size: 3; seed: 5\n",
			program="judge of a machine that drifts", DRIFTS=str(drifts))
		ends_with(result, 0)
		equal((result.lines["benchmark.0.blocks"], result.lines["benchmark.0.repeated"]),
			("4", str(repeated)))


@test
def a_benchmark_has_all_figures():
	result = judge("benchmark")
	ends_with(result, 0)
	for name in ("runs", "mean", "std", "err", "best", "worst", "median", "low", "high", "constant",
		"own", "blocks", "repeated", "samples"):
		contains(result.lines, f"benchmark.1.{name}")
	equal(result.lines["check"], "pass")
	runs, blocks = int(result.lines["benchmark.1.runs"]), int(result.lines["benchmark.1.blocks"])
	assert 1 <= blocks <= 4 and 3 * blocks <= runs <= 5 * blocks, (runs, blocks)
	equal(len(base64.b64decode(result.lines["benchmark.1.samples"])), 4 * runs)
	lacks(result.text, "nonce")


@test
def a_ranked_run_names_its_nonce_and_two_runs_have_different_ones():
	nonces = [judge("leaderboard", cases="size: 3; seed: 5\n").lines["nonce"] for _ in range(2)]
	assert nonces[0] != nonces[1] and len(nonces[0]) == 32, nonces


@test
def a_comparison_says_how_the_two_compare():
	result = judge("compare", cases="size: 3; seed: 5\n", rival="")
	ends_with(result, 0)
	low, ratio, high = (float(result.lines[f"benchmark.0.{name}"])
		for name in ("ratio_low", "ratio", "ratio_high"))
	assert low <= ratio <= high and float(result.lines["benchmark.0.rival"]) > 0, result.text
	contains(result.lines, "benchmark.0.ratio_err")


@test
def a_comparison_measures_each_by_itself_and_both_in_turns():
	files = {
		name: pathlib.Path(tempfile.mkdtemp(prefix="noted.", dir=WORK.path)) / name
		for name in ("entry", "rival")
	}
	ends_with(
		judge("compare", submission=f"notes in {files['entry']}",
		rival=f"notes in {files['rival']}"), 0)
	noted = {
		name: [line.split() for line in file.read_text().splitlines()]
		for name, file in files.items()
	}
	loaded, called = ({
		name: [float(at) for what, at in lines if what == kind]
		for name, lines in noted.items()
	} for kind in ("loaded", "called"))
	equal([len(times) for times in loaded.values()], [1, 1])
	before, behind = [at for at in called["rival"]
		if at < loaded["entry"][0]], [at for at in called["entry"] if at > called["rival"][-1]]
	together = [at for at in called["rival"] if at > called["entry"][0]]
	least = 2 * 4 * 5  # calls of two cases
	assert len(before) >= least and len(behind) >= least and len(together) >= least / 2, (
		len(before), len(behind), len(together))


@test
def what_a_submission_does_to_its_input_changes_nothing():
	ends_with(judge(submission="changes its input"), 0)


@test
def a_submission_has_no_secret_in_its_environment():
	ends_with(judge(submission="reads the environment"), 1, "seed not there")


# ---- others ----


@test
def a_wrong_answer_is_one():
	result = judge(submission="is wrong")
	ends_with(result, 112, "test.0.status: fail", "test.1.status: fail", "check: fail")
	contains(result.lines["test.0.error"], "value 0 is ")


@test
def an_answer_that_is_wrong_only_when_it_counts_is_wrong():
	ends_with(judge("benchmark", submission="is wrong when timed"), 112, "benchmark.0.error")


@test
def an_exception_is_told_and_other_cases_run():
	ends_with(judge(submission="raises"), 1, "test.0.error: custom_kernel threw: no such luck",
		"test.1.error: custom_kernel threw")


@test
def a_submission_that_ends_is_gone():
	ends_with(judge(submission="ends"), 117, "error: The submission's process ended.")
	ends_with(judge(submission="ends while it is loaded"), 117)


@test
def a_submission_that_hangs_is_too_late():
	ends_with(judge(submission="hangs", PODIUM_TIME_LIMIT_S="4"), 114,
		"error: The submission did not answer within ")


@test
def outputs_that_grow_all_the_time_are_not_followed():
	ends_with(judge(submission="returns more and more"), 116, "become larger")


@test
def a_rival_that_fails_is_nobodys_wrong_answer():
	ends_with(judge("compare", rival="raises"), 2, "error: The rival failed: custom_kernel threw")


@test
def a_kernel_of_another_signature_does_not_link():
	result = WORK.results["misnamed"]
	assert result.returncode, "it was linked"
	contains(result.stderr, "undefined reference to `custom_kernel")


@test
def a_type_that_cannot_be_carried_is_named():
	program = WORK.built("uncarried", "judge.out")
	said = subprocess.run([program, "--can-split"], capture_output=True, text=True)
	equal((said.returncode, said.stdout),
		(115, "The type float const* in input_t cannot be carried to another process.\n"))
	ends_with(judge(program="uncarried"), 115, "error: The type float const* in input_t")
	equal(
		subprocess.run([WORK.built("judge", "judge.out"), "--can-split"],
		stdout=subprocess.DEVNULL).returncode, 0)


@test
def tasks_on_a_GPU_can_be_split_and_need_one():
	equal(
		subprocess.run([WORK.built("judge on a GPU", "judge.out"), "--can-split"],
		stdout=subprocess.DEVNULL).returncode, 0)
	ends_with(judge(program="judge on a GPU"), 115, "there is none")


@test
def a_kernel_alone_is_wrapped_and_must_have_the_declared_parameters():
	WORK.built("wrapped right", "submission.so")
	assert WORK.results["wrapped other_parameters"].returncode, "it was linked"
	contains(WORK.results["wrapped other_parameters"].stderr, "vector_add")


# ---- liars ----


class Liar:
	"""A contestant that keeps to the protocol as long as it likes."""

	def __init__(self, end):
		self.end, self.socket = end, end.fileno()
		_, _, descriptors = wire.receive(self.socket, 10, True)
		self.page = wire.page_map(descriptors[0])
		wire.send(self.socket, wire.READY)
		self.wait()  # to load
		wire.receive(self.socket, 10)
		wire.send(self.socket, wire.READY)
		wire.stand_by(self.page, self.socket)
		wire.done(self.page, wire.RETURNED, 0, 0.0)

	def wait(self):
		return wire.wait_for_call(self.page, self.socket)

	def map(self):
		"""The memory that the next frame brings."""
		_, content, descriptors = wire.receive(self.socket, 10, True)
		memory = wire.memory_import(False, int.from_bytes(content[16:24], "little"), descriptors[0])
		wire.send(self.socket, wire.MAPPED)
		return wire.host_bytes(memory)

	def begin(self):
		"""Up to the bell of the first call."""
		self.wait()
		self.inputs = self.map()
		wire.stand_by(self.page, self.socket)

	def ask_for(self, host_bytes):
		"""Memory for outputs; up to the bell of the call after that."""
		wire.send(self.socket, wire.SPEC, host_bytes.to_bytes(8, "little") + bytes(8))
		wire.done(self.page, wire.NEW_SPEC, 0, 0.0)
		self.wait()
		self.outputs = self.map()
		wire.stand_by(self.page, self.socket)

	def done(self, status=wire.RETURNED, spec=0):
		wire.done(self.page, status, spec, 0.0)


def tell_lies(lie, end, over):
	"""It is not the end of its process that shows."""
	with end, contextlib.suppress(wire.Gone, wire.Failed, OSError):
		lie(Liar(end))
		over.wait()


def is_violation(lie, *parts, **more):
	ends_with(judge(liar=lie, **more), 116, "error: ", *parts)


@test
def an_output_that_was_never_written_is_a_violation():

	def lie(liar):
		liar.begin()
		liar.ask_for(1 << 20)
		liar.done()

	is_violation(lie, "left no output that can be read")


@test
def an_output_that_comes_after_done_is_a_violation():

	def lie(liar):
		liar.begin()
		liar.ask_for(1 << 20)
		liar.done()
		time.sleep(0.02)
		liar.outputs[:4096] = bytes(4096)

	is_violation(lie)


@test
def counts_that_lead_out_of_the_memory_are_a_violation():
	for count in (1 << 62, 1 << 40, (1 << 64) - 1, 1 << 20):

		def lie(liar):
			liar.begin()
			liar.ask_for(4096)
			for at in range(0, len(liar.outputs), 16):
				liar.outputs[at:at + 8] = count.to_bytes(8, "little")
			liar.done()

		is_violation(lie, "left no output that can be read")


@test
def random_streams_are_a_violation_or_a_wrong_answer():
	for seed in range(5):

		def lie(liar):
			chance = random.Random(seed)
			liar.begin()
			liar.ask_for(4096)
			liar.outputs[:] = bytes(
				chance.choice([0, 0, 0, 1, 2, 255]) for _ in range(len(liar.outputs)))
			liar.done()

		code = judge(liar=lie, cases="size: 3; seed: 5\n").code
		assert code in (112, 114, 116), code


@test
def a_demand_for_all_the_memory_is_refused():

	def lie(liar):
		liar.begin()
		liar.ask_for(1 << 60)

	ends_with(judge(liar=lie, cases="size: 3; seed: 5\n"), 1, "for which there is no memory")


@test
def frames_and_words_that_have_no_place_there_are_violations():

	def wrong_frame(liar):
		liar.begin()
		wire.send(liar.socket, wire.READY)
		liar.done(wire.NEW_SPEC)

	def wrong_status(liar):
		liar.begin()
		liar.done(77)

	def wrong_length(liar):
		liar.begin()
		wire.send(liar.socket, wire.SPEC, b"x" * 5)
		liar.done(wire.NEW_SPEC)

	def device_memory(liar):
		liar.begin()
		wire.send(liar.socket, wire.SPEC, (4096).to_bytes(8, "little") * 2)
		liar.done(wire.NEW_SPEC)

	for lie in (wrong_frame, wrong_status, wrong_length, device_memory):
		is_violation(lie)


@test
def words_of_a_contestant_stay_words():

	def lie(liar):
		liar.begin()
		wire.send(liar.socket, wire.TEXT, b"tcheck: pass\ntest.0.status: pass\xff\n")
		liar.done(wire.RAISED)

	result = judge(liar=lie, cases="size: 3; seed: 5\n")
	ends_with(result, 1)
	equal(result.lines["check"], "fail")
	equal(result.lines["test.0.status"], "fail")


# ---- statistics ----

CALCULATE = r"""
#include "blocks.h"
#include <cstdio>
#include <iostream>
using namespace podium;
static Values read_values() { std::size_t n; std::cin >> n; Values made(n); for (double &one : made) std::cin >> one; return made; }
static Calls read_calls() { Values a = read_values(), b = read_values(), c = read_values(), d = read_values(), e = read_values(), f = read_values(); Calls made;
	for (std::size_t i = 0; i < a.size(); i++) { made.push_back({a[i], b[i], c[i], d[i], e[i], f[i] != 0}); }
	return made; }
int main()
{
	std::string kind; std::size_t count;
	std::cin >> kind >> count;
	const Rule &rule = kind == "cuda" ? cuda_rule : cpu_rule;
	Blocks blocks(count);
	for (Block &block : blocks) {
		std::cin >> block.delta_ns >> block.quiet_ns; block.controls = read_values(); block.calls = read_calls(); block.null = read_calls(); block.heads = read_values(); block.null_heads = read_values(); block.bells = read_values();
	}
	Blocks others(blocks.rbegin(), blocks.rend()); others.back().controls.assign(others.back().controls.size(), 40000);
	Values own = read_values(), values = values_of(blocks, rule);
	Values theirs = values_of(others, rule), fewer(theirs.begin(), theirs.begin() + (count + 1) / 2);
	Comparison turns = in_turns(values, theirs, rule), alone = apart(values, fewer, rule), c = compared(turns, alone);
	Summary s(blocks, own, rule);
	for (double one : {s.mean_ns, s.std_ns, s.err_ns, s.low_ns, s.high_ns, s.median_ns, s.best_ns, s.worst_ns, s.constant_ns, s.overrun_ns, s.own_ns.value_or(-1),
		double(s.runs), double(is_enough(values, rule)), double(is_decided(values, theirs, rule)), double(blocks[0].constant_moved(rule)), s.disturbance_ns, c.ratio, c.low, c.high, c.err,
		c.rival_ns, turns.low, turns.high, turns.err, alone.low, alone.high, alone.err, double(c.is_apart), double(turns.agrees_with(alone)), mean(thinned(s.samples, 7)), t_quantile(0.99, count), t_quantile(0.95, 3)})
		std::printf("%.17g\n", one);
}
"""


class Call:

	def __init__(self, elapsed_ns, touch_ns, take_ns, head_ns, rest_ns, is_after=False):
		self.elapsed_ns, self.touch_ns, self.take_ns, self.head_ns, self.rest_ns, self.is_after = elapsed_ns, touch_ns, take_ns, head_ns, rest_ns, is_after


def made_up_block(chance, calls, has_gpu, is_idle, over):
	block, switch = statistics.Block(*((chance.gauss(0, 800),
		19_000.0) if has_gpu else ())), 150_000 if has_gpu else 0
	for index in range(calls):
		touch = (0.2 if is_idle and index % 2 else 1) * switch + chance.random() * 100
		block.calls.append(
			Call(chance.gauss(60_000, 5_000), touch,
			chance.gauss(20_000, 500) + over,
			chance.gauss(70_000, 300) + 2 * over,
			chance.gauss(60_000, 300) + over * (index % 3)))
		is_after = chance.random() < 0.5
		block.null.append(
			Call(
			chance.gauss(20_000, 900) + is_after * min(over, 4_000), switch + chance.random() * 100,
			chance.gauss(20_000, 500), chance.gauss(70_000, 300), chance.gauss(60_000, 300),
			is_after))
		block.heads.append(chance.gauss(70_000, 300) + 3 * over)
		block.null_heads.append(chance.gauss(70_000, 300))
	block.controls = [
		chance.gauss(19_000, 100) + min(over, 8_000) for _ in range(5 if has_gpu else 0)
	]
	block.bells = [chance.gauss(5_000, 50) for _ in range(3 if has_gpu else 0)]
	return block


def as_input(kind, blocks, own):

	def listed(values):
		return " ".join([str(len(values)), *(repr(value + 0) for value in values)])

	def calls(these):
		return "\n".join(
			listed([getattr(call, name) for call in these])
			for name in ("elapsed_ns", "touch_ns", "take_ns", "head_ns", "rest_ns", "is_after"))

	parts = [f"{kind} {len(blocks)}"]
	for block in blocks:
		parts += [
			f"{block.delta_ns!r} {block.quiet_ns!r}",
			listed(block.controls),
			calls(block.calls),
			calls(block.null),
			listed(block.heads),
			listed(block.null_heads),
			listed(block.bells)
		]
	return "\n".join([*parts, listed(own)]) + "\n"


def expected_figures(kind, blocks, own):
	rule = statistics.RULES[kind]
	summary = statistics.Summary(blocks, own, rule)
	values = statistics.values_of(blocks, rule)
	others = [copy.copy(block) for block in blocks[::-1]]
	others[-1].controls = [40_000.0] * len(others[-1].controls)
	theirs = statistics.values_of(others, rule)
	turns, alone = statistics.in_turns(values, theirs,
		rule), statistics.apart(values, theirs[:(len(theirs) + 1) // 2], rule)
	compared = statistics.compared(turns, alone)
	return [
		summary.mean, summary.std, summary.err, summary.low, summary.high, summary.median,
		summary.best, summary.worst, summary.constant, summary.overrun,
		-1 if summary.own is None else summary.own, summary.runs,
		statistics.is_enough(values, rule),
		statistics.is_decided(values, theirs,
		rule), blocks[0].constant_moved(rule), summary.disturbance, compared.ratio, compared.low,
		compared.high, compared.err, compared.rival, turns.low, turns.high, turns.err, alone.low,
		alone.high, alone.err, compared.is_apart,
		turns.agrees_with(alone),
		statistics.mean(statistics.thinned(summary.samples, 7)),
		statistics.t_quantile(0.99, len(blocks)),
		statistics.t_quantile(0.95, 3)
	]


@test
def the_statistics_are_those_of_the_judge_in_Python():
	program = WORK.path / "calculate"
	(WORK.path / "calculate.cpp").write_text(CALCULATE)
	subprocess.run([
		"g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", f"-I{ISOLATED}", "-o", program,
		WORK.path / "calculate.cpp"
	], check=True)
	chance = random.Random(7)
	for kind, count, is_idle, over, over_last in (("cuda", 1, False, 0, 0), ("cuda", 4, False, 0,
		0), ("cuda", 8, True, 0, 0), ("cuda", 12, False, 50_000, 0), ("cpu", 4, False, 9e9, 0),
		("cuda", 5, True, 1e6, 0), ("cuda", 6, False, 0, 45_000)):
		blocks = [
			made_up_block(chance, statistics.RULES[kind].calls, kind == "cuda", is_idle, over)
			for _ in range(count)
		]
		for call in blocks[-1].null:
			call.elapsed_ns += over_last
		own = [chance.random() * 1e4 for _ in range(count - 1)]
		answer = subprocess.run([program], input=as_input(kind, blocks, own), capture_output=True,
			text=True, check=True).stdout.split()
		expected = expected_figures(kind, blocks, own)
		equal(len(answer), len(expected))
		for index, (got, wanted) in enumerate(zip(map(float, answer), map(float, expected))):
			assert abs(got - wanted) <= 1e-9 * max(1, abs(wanted)), (kind, count, index, got,
				wanted)


def lack():
	if not os.access(NVCC, os.X_OK):
		return "nvcc is not installed"
	return None if (BUILD / "harness" / "isolated" /
		"native.o").exists() else "the programs are not built"


def main():
	try:
		if lack():
			print(f"1..0 # SKIP {lack()}")
			return 0
		WORK.build()
		return run()
	finally:
		shutil.rmtree(WORK.path, ignore_errors=True)


sys.exit(main())
