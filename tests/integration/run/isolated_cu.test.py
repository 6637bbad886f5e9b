#!/usr/bin/env python3
"""How podium-run builds CUDA C++ tasks for the isolated and the sealed engine: which program comes
from which files, what it caches, and when a weaker engine runs instead. A script stands in for
nvcc, so that the test needs neither nvcc nor a GPU."""

import base64
import gzip
import hashlib
import json
import os
import pathlib
import shutil
import struct
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
from plans import kernel, plan_text  # noqa: E402
from runner import GPU, Runner, cu_task, job  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

# The nvcc of this test. It "compiles" to scripts, and words in the sources decide what a script
# does.
NVCC = r"""#!/bin/sh
name=$(expr "$*" : '.*-o \([^ ]*\)$')
made() { cat > "$name"; chmod 755 "$name"; }
if grep -qs BROKEN reference.cuh && [ "$name" != eval.out ]; then
	echo "reference.cuh(3): error: it is broken" >&2
	exit 2
fi
case "$name" in
macros) echo "the macros of VERSION 1" > macros ;;
judge.out)
	[ -e submission.cu ] && { echo "a submission lies beside the judge" >&2; exit 2; }
	stamp=$(date +%s%N)
	made <<END
#!/bin/sh
if [ "\$1" = --can-split ]; then
	if $(grep -qs UNSPLITTABLE reference.cuh && echo true || echo false); then
		echo "The type int* in input_t cannot be carried."
		exit 115
	fi
	exit 0
fi
kind=test; [ "\$1" = test ] || kind=benchmark
if [ "\$PODIUM_SEALED" ]; then
	mkdir "\$PODIUM_PLANS"
	$(cat plans.sh 2> /dev/null)
fi
if [ "\$PODIUM_SEALED" ] && $(grep -qs UNSEALABLE reference.cuh && echo true || echo false); then
	echo "error: The case a: 1: It waits." >&3
	exit 121
fi
if $(grep -qs PRINTS reference.cuh && echo true || echo false); then
	echo "error: The case a: 1: The kernel $(tail -n 1 reference.cuh) calls vprintf. Do not." >&3
	exit 121
fi
{
	echo "\$kind-count: 1"
	echo "\$kind.0.spec: size: 1; seed: 2"
	echo "\$kind.0.message: kit $stamp"
	echo "\$kind.0.status: pass"
	echo "check: pass"
	if [ "\$3" = leaderboard ]; then
		sleep 0.1
		printf 'benchmark-count: 1\\nbenchmark.0.runs: 12\\nbenchmark.0.mean: 500\\n'
		printf 'benchmark.0.status: pass\\ncheck: pass\\n'
	fi
} >&3
sleep 0.3
$(cat trace.sh 2> /dev/null)
END
	;;
contestant.out)
	case "$*" in *sealed/builder.cu*) [ -e sealed/launch.h ] || exit 1 ;; esac
	printf '#!/bin/sh\necho $(ls) $*\necho $(ls ../engine)\n' | made
	echo "echo made contestant $(date +%s%N) \$(grep ^made submission.so) >&2" >> "$name"
	printf 'ls STORE >&2\nexec sleep 100\n' >> "$name" ;;
wraps.o) echo made wraps $(date +%s%N) > wraps.o ;;
entry.o) echo made entry $(date +%s%N) > entry.o ;;
submission.so)
	if grep -q WRONG submission.cu; then
		echo 'submission.cu(1): error: identifier "WRONG" is undefined' >&2
		exit 1
	fi
	[ -e eval.cu ] && { echo "eval.cu lies beside the submission" >&2; exit 2; }
	{ cat submission.cu; echo; cat *.o reference.cuh; } > submission.so ;;
eval.out)
	printf '#!/bin/sh\nprintf "test-count: 1\\ntest.0.status: pass\\ncheck: pass\\n" >&3\n' |
		made ;;
esac
"""
FILES = {
	"task.h": "types with a DeviceBuffer",
	"reference.cuh": "the reference",
	"utils.h": "helpers",
	"table.bin": "data",
}
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="podium-nvcc."))
STORE = pathlib.Path(tempfile.mkdtemp(prefix="podium-kits."))


def make_nvcc():
	FOLDER.chmod(0o755)
	write_nvcc(NVCC)


def write_nvcc(text, time_s=1000):
	path = FOLDER / "nvcc"
	path.write_text(text.replace("STORE", str(STORE)))
	path.chmod(0o755)
	os.utime(path, (time_s, time_s))


def message(submission="a kernel", reference="the reference", id=17, **changes):
	engine = changes.pop("engine", "")
	files = [
		{"path": path, "text": text} for path, text in {**FILES, "reference.cuh": reference}.items()
	]
	named = [{"name": path, "source": path, "is_submission": False} for path in ["eval.cu", *FILES]]
	definition = cu_task(engine=engine, tests=["size: 1; seed: 2"], benchmarks=["size: 1; seed: 2"])
	definition["files"] = [*named, definition["files"][1]]
	definition.update(changes.pop("definition", {}))
	return job(
		submission,
		harness="the harness",
		definition=definition,
		files=files,
		device=changes.pop("device", GPU),
		nvcc=str(FOLDER / "nvcc"),
		id=id,
		**changes,
	)


def judged(runner, *arguments, **changes):
	made = message(*arguments, **changes)
	runner.send(made)
	return runner.result(made["job"]["id"])


def one(*arguments, **changes):
	with Runner() as runner:
		return judged(runner, *arguments, **changes)


def engine_of(result):
	return result.verdicts[0]["engine"], result.verdicts[0].get("engine_reason")


@test
def a_task_that_can_be_split_is_judged_by_a_program_without_the_submission():
	result = one()
	equal((result.verdict, engine_of(result)), ("passed", ("isolated", None)))
	equal(result.stages[1]["command"], "./judge.out test ../cases.txt")
	equal(
		[s["command"] for s in one(mode="ranked").stages[1:]],
		["./judge.out test ../cases.txt leaderboard ../timed.txt"] * 2,
	)
	for part in (
		"-shared",
		"-Xcompiler=-fPIC",
		"-Xlinker=-z,defs",
		"submission.cu entry.o",
		"-o submission.so",
	):
		contains(result.stages[0]["command"], part)


@test
def a_contestant_has_programs_and_data_and_no_source():
	result = one()
	equal(result.log().splitlines()[0], "contestant.out submission.so table.bin")


@test
def shared_programs_are_built_once_for_each_version_of_a_task():
	with Runner() as runner:
		first, again, other = (
			judged(runner, submission, reference, id=number).cases[0]["message"]
			for number, (submission, reference) in enumerate(
				(("one", "the reference"), ("two", "the reference"), ("two", "another reference")),
				1,
			)
		)
	contains(first, "kit ")
	assert first == again != other, (first, again, other)


def kit_of_new_runner(*arguments, **changes):
	"""Judges with a new podium-run. Returns when each shared program of the job was compiled."""
	with Runner("--kits", str(STORE)) as runner:
		result = judged(runner, *arguments, **changes)
	equal(result.verdict, "passed")
	judge = result.cases[0]["message"]
	contains(judge, "kit ")
	others = next(line for line in result.log("stderr").splitlines() if line.startswith("made "))
	equal(others.split()[1::3][:2], ["contestant", "entry"])
	return judge, others


@test
def a_new_podium_run_takes_shared_programs_from_the_store():
	kits = [kit_of_new_runner("one"), kit_of_new_runner("two")]
	kits += [kit_of_new_runner(engine="sealed") for _ in range(2)]
	assert kits[0] == kits[1] != kits[2] == kits[3], kits


def kit_job(**changes):
	made = message(mode="kit", **changes)
	del made["job"]["submission"]
	return made


@test
def a_kit_is_built_before_the_first_submission():
	for engine in ("isolated", "sealed"):
		with Runner("--kits", str(STORE)) as runner:
			runner.send(kit_job(reference="built ahead", engine=engine, id=0))
			result = runner.result(0)
			equal((result.verdict, result.stages), ("passed", []))
			files = set(STORE.iterdir())
			built_ns = time.time_ns()
			judged_later = judged(runner, "one", "built ahead", engine=engine)
		equal((judged_later.verdict, set(STORE.iterdir())), ("passed", files))
		assert int(judged_later.cases[0]["message"].split()[1]) < built_ns


@test
def a_kit_that_cannot_be_built_has_a_reason():
	for changes, part in (
		({"reference": "UNSPLITTABLE"}, "cannot be carried"),
		({"reference": "BROKEN"}, "it is broken"),
		({"engine": "custom"}, "Only tasks in CUDA C++ with the isolated or the sealed engine"),
	):
		with Runner() as runner:
			runner.send(kit_job(**changes))
			result = runner.result(17)
		equal((result.verdict, result.stages), ("internal error", []))
		contains(result.reason, part)


@test
def a_cancelled_build_of_a_kit_ends_and_the_next_job_runs():
	hangs = 'case "$*" in *-DHANGS*) exec sleep 100;; esac;'
	try:
		for program in ("judge.out", "macros"):
			write_nvcc(NVCC.replace(f"\n{program})", f"\n{program}) {hangs}"))
			with Runner("--kits", str(STORE)) as runner:
				runner.send(kit_job(definition={"compile_flags": ["-DHANGS"]}, id=0))
				runner.until("progress")
				runner.send({"cancel": 0})
				verdicts = judged(runner, id=18).verdicts
				equal([one["verdict"] for one in verdicts], ["internal error", "passed"])
				contains(verdicts[0]["reason"], "cancelled")
	finally:
		write_nvcc(NVCC)


@test
def another_task_flag_or_compiler_has_other_programs():
	kits = [kit_of_new_runner()]
	kits.append(kit_of_new_runner(reference="another reference"))
	kits.append(kit_of_new_runner(definition={"compile_flags": ["-O1"]}))
	kits.append(kit_of_new_runner(device={**GPU, "compute_capability": "8.0"}))
	try:
		write_nvcc(NVCC.replace("VERSION 1", "VERSION 2"))
		kits.append(kit_of_new_runner())
		write_nvcc(NVCC, time_s=2000)
		kits.append(kit_of_new_runner())
	finally:
		write_nvcc(NVCC)
	equal(len(set(kits)), len(kits))
	equal(kit_of_new_runner(), kits[0])


@test
def a_compiler_that_cannot_be_identified_has_no_stored_programs():
	try:
		write_nvcc(NVCC.replace("macros) echo", "macros) exit 1; echo"))
		assert kit_of_new_runner() != kit_of_new_runner()
	finally:
		write_nvcc(NVCC)


@test
def a_damaged_file_of_the_store_is_built_again():
	first = kit_of_new_runner("one", "a damaged reference")
	newest = max(STORE.iterdir(), key=lambda path: path.stat().st_mtime_ns)
	newest.write_bytes(newest.read_bytes()[:-1] + b"!")
	second = kit_of_new_runner("one", "a damaged reference")
	assert first != second == kit_of_new_runner("one", "a damaged reference")


@test
def a_submission_does_not_see_the_store():
	kit_of_new_runner()
	assert any(STORE.iterdir())
	with Runner("--kits", str(STORE)) as runner:
		contains(judged(runner).log("stderr"), "No such file or directory")


@test
def a_task_that_cannot_be_split_starts_no_other_engine():
	for reference, part in (("UNSPLITTABLE", "cannot be carried"), ("BROKEN", "it is broken")):
		result = one(reference=reference)
		equal((result.verdict, result.engine), ("internal error", "isolated"))
		for piece in (part, "An admin can start a dry run of this version"):
			contains(result.reason, piece)
		lacks(" ".join(stage["command"] for stage in result.stages), "eval.out")


@test
def a_dry_run_finds_out_that_the_custom_engine_is_needed():
	result = one(reference="UNSPLITTABLE", may_fall_back=True)
	equal(
		(result.verdict, engine_of(result)),
		("passed", ("custom", "The type int* in input_t cannot be carried.")),
	)
	contains(result.stages[0]["command"], "-o eval.out")
	equal(result.stages[1]["command"], "./eval.out test ../cases.txt")


@test
def files_that_do_not_compile_with_the_engine_need_the_custom_one():
	result = one(reference="BROKEN", may_fall_back=True)
	equal((result.verdict, result.verdicts[0]["engine"]), ("passed", "custom"))
	contains(result.verdicts[0]["engine_reason"], "reference.cuh(3): error: it is broken")


@test
def a_job_of_the_custom_engine_compiles_the_tasks_own_harness():
	result = one(engine="custom")
	equal((result.verdict, engine_of(result)), ("passed", ("custom", None)))
	contains(result.stages[0]["command"], "-o eval.out")


@test
def an_error_in_the_submission_is_a_compile_error():
	result = one("WRONG")
	equal((result.verdict, len(result.stages)), ("compile error", 1))
	contains(result.reason, 'identifier "WRONG" is undefined')


@test
def the_isolated_engine_refuses_tasks_of_other_forms():
	for definition, part in (
		({"sources": ["eval.cu", "submission.cu", "table.bin"]}, "other sources"),
		({"sources": ["eval.cu"]}, "other sources"),
	):
		result = one(definition=definition)
		equal((result.verdict, result.engine), ("internal error", "isolated"))
		contains(result.reason, part)


@test
def a_comparison_builds_both_submissions():
	result = one(
		mode="compare", rival={"name": "other.cu", "text": "another kernel"}, secret_seed=5
	)
	equal((result.stages[1]["stage"], result.verdicts[0]["engine"]), ("compare", "isolated"))


@test
def the_side_that_compiles_no_longer_loses_a_comparison():
	result = one(mode="compare", rival={"name": "other.cu", "text": "WRONG"}, secret_seed=5)
	equal((result.verdict, result.verdicts[0]["loser"]), ("compile error", "rival"))
	contains(result.reason, "The submission that this one is compared with could not be compiled")
	lacks(result.reason, "WRONG")
	result = one(
		"WRONG", mode="compare", rival={"name": "other.cu", "text": "another kernel"}, secret_seed=5
	)
	equal((result.verdict, result.verdicts[0]["loser"]), ("compile error", "submission"))
	contains(result.reason, 'identifier "WRONG" is undefined')


# ---- the sealed engine ----


@test
def the_sealed_engine_builds_a_builder_and_stands_between_a_submission_and_cuda():
	result = one(engine="sealed")
	equal((result.verdict, engine_of(result)), ("passed", ("sealed", None)))
	for part in (
		"--default-stream=per-thread",
		"--wrap=cudaMalloc,",
		"wraps.o submission.cu entry.o",
	):
		contains(result.stages[0]["command"], part)
	lacks(one().stages[0]["command"], "wrap")
	equal(
		[s["command"] for s in one(engine="sealed", mode="ranked").stages[1:]],
		["./judge.out test ../cases.txt leaderboard ../timed.txt"] * 2,
	)


@test
def a_builder_has_the_recorder_and_no_source():
	program, engine = one(engine="sealed").log().splitlines()
	equal(program, f"builder.out submission.so table.bin ../engine/sealed.so {FOLDER.parent}")
	equal(engine, "libjansson.so.4 libsodium.so.23 native.so sealed.so")


@test
def each_engine_has_its_own_kit():
	with Runner() as runner:
		kits = [
			judged(runner, engine=engine, id=number).cases[0]["message"]
			for number, engine in enumerate(("isolated", "sealed", "isolated", "sealed"), 1)
		]
	assert kits[:2] == kits[2:] and kits[0] != kits[1], kits


@test
def a_dry_run_finds_out_that_a_task_cannot_be_sealed():
	result = one(reference="UNSEALABLE", engine="sealed", may_fall_back=True)
	equal(
		(result.verdict, engine_of(result)),
		("passed", ("isolated", "The sealed engine could not run: The case a: 1: It waits.")),
	)
	equal(result.log().splitlines()[0], "contestant.out submission.so table.bin")
	equal([stage["stage"] for stage in result.stages], ["compile", "test"])


@test
def a_call_that_cannot_be_recorded_is_an_error_of_the_submission():
	result = one(reference="UNSEALABLE", engine="sealed")
	equal((result.verdict, result.engine), ("runtime error", "sealed"))
	contains(result.reason, "The case a: 1: It waits.")


@test
def a_refused_kernel_has_its_line():
	source = (
		"namespace my {\n__global__ void add(float *);\n}\n__global__ void\n"
		"__launch_bounds__(64) scale_2 (float *to)\n{ adds(); }\n"
	)
	for kernel, line in (
		("_ZN2my3addEPf", 2),
		("_Z7scale_2Pf", 5),
		("_ZL7scale_2Pf", 5),
		("scale_2", 5),
		("scale", None),
		("adds", None),
		("_Z999999999999999999999a", None),
		("_ZN", None),
		("", None),
	):
		said = one(source, reference=f"PRINTS\n{kernel}\n", engine="sealed").reason
		end = f" The kernel is in submission.cu, line {line}." if line else ""
		equal(said.partition("Do not.")[2], end)


@test
def a_judge_that_dies_in_a_trace_has_judged():
	for dies in ("kill -9 $$", "kill -SEGV $$", "exit 3", "exit 112"):
		for mode, engine, verdict in (
			("ranked", "sealed", "passed"),
			("ranked", "isolated", "internal error"),
		):
			made = message(engine=engine, mode=mode)
			made["job"]["files"].append({"path": "trace.sh", "text": dies})
			with Runner() as runner:
				runner.send(made)
				result = runner.result()
			equal((dies, engine, result.verdict), (dies, engine, verdict))
			equal("score_ns" in result.verdicts[0], verdict == "passed")


@test
def a_task_that_cannot_be_split_falls_back_from_sealed_to_custom():
	result = one(reference="UNSPLITTABLE", engine="sealed", may_fall_back=True)
	equal((result.verdict, result.engine), ("passed", "custom"))
	result = one(reference="UNSPLITTABLE", engine="sealed")
	equal((result.verdict, result.engine), ("internal error", "sealed"))
	contains(result.reason, "The sealed engine cannot run this task: The type int* in input_t")


@test
def a_task_with_its_data_on_the_host_is_not_sealed():
	made = message(engine="sealed")
	for file in made["job"]["files"]:
		file["text"] = file["text"].replace("DeviceBuffer", "vector")
	with Runner() as runner:
		runner.send(made)
		result = runner.result()
	equal((result.verdict, result.engine), ("internal error", "sealed"))
	contains(result.reason, "The task's types have no DeviceBuffer")


def with_plan(file, figures, more="", times=b"", **changes):
	"""The events of a job whose judge saves these bytes as its plan."""
	script = more + "".join(
		f"echo {base64.b64encode(content).decode()} | base64 -d > $PODIUM_PLANS/0.{name}\n"
		for name, content in (("plan", file), ("figures", figures), ("times", times))
	)
	made = message(engine="sealed", **changes)
	made["job"]["files"].append({"path": "plans.sh", "text": script})
	with Runner() as runner:
		runner.send(made)
		result = runner.result()
	equal(result.verdict, "passed")
	return [event for event in result.events if event["event"] in ("plan", "blob")]


def content_of(event):
	return gzip.decompress(base64.b64decode(event["base64"]))


IMAGE = b"an image"
TEXT = plan_text([kernel("add")], [IMAGE]).encode()
PLAN = TEXT + bytes(-len(TEXT) % 16) + IMAGE
FIGURES = (
	struct.pack("<I", len(TEXT)) + struct.pack("<II", 64, 1) + struct.pack("<4I", 32, 8, 1024, 4)
)


@test
def the_plan_of_a_case_is_sent_as_one_of_a_python_task():
	blob, plan = sorted(with_plan(PLAN, FIGURES), key=lambda event: event["event"])
	equal((blob["sha256"], content_of(blob)), (hashlib.sha256(IMAGE).hexdigest(), IMAGE))
	content = content_of(plan)
	equal(content[: plan["text_bytes"]], TEXT)
	equal(
		json.loads(content[plan["text_bytes"] :]),
		[
			{
				"node": 0,
				"registers": 32,
				"local_bytes": 8,
				"static_shared_bytes": 1024,
				"blocks_per_sm": 4,
				"warps_per_sm_most": 64,
			}
		],
	)


@test
def a_blob_that_the_reader_has_is_not_sent():
	def kinds(hashes):
		events = with_plan(PLAN, FIGURES, known_blobs=hashes)
		return sorted(event["event"] for event in events)

	digest = hashlib.sha256(IMAGE).hexdigest()
	equal(kinds([digest]), ["plan"])
	for others in ([digest[:-1]], [7, None], {}, digest):
		equal(kinds(others), ["blob", "plan"])


def figures_with(times):
	(plan,) = [one for one in with_plan(PLAN, FIGURES, times=times) if one["event"] == "plan"]
	return json.loads(content_of(plan)[plan["text_bytes"] :])[0]


@test
def the_times_of_a_trace_are_figures_of_the_plan():
	equal(figures_with(b"").get("begin_ns"), None)
	made = figures_with(struct.pack("<QQ", 0, 1500))
	equal((made["node"], made["registers"]), (0, 32))
	equal((made["begin_ns"], made["end_ns"]), (0, 1500))
	for times in (
		struct.pack("<QQ", 2**64 - 1, 2**64 - 1),  # unknown
		struct.pack("<QQ", 2, 1),
		struct.pack("<QQ", 0, 1 << 40),
		struct.pack("<Q", 0),
	):
		lacks(figures_with(times), "begin_ns")


@test
def a_plan_that_the_reference_has_changed_is_not_sent():
	for file, figures in (
		(PLAN[:-1] + b"x", FIGURES),  # another blob
		(PLAN[:-1], FIGURES),
		(PLAN, FIGURES[:3]),
		(PLAN, struct.pack("<I", len(TEXT) - 1) + FIGURES[4:]),
		(PLAN, struct.pack("<I", len(PLAN) + 1) + FIGURES[4:]),
	):
		equal(with_plan(file, figures), [])
	equal(with_plan(PLAN, FIGURES, "ln -s /etc/passwd $PODIUM_PLANS/0.plan\n"), [])


make_nvcc()
try:
	status = run()
finally:
	shutil.rmtree(FOLDER)
sys.exit(status)
