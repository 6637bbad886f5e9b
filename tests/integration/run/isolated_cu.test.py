#!/usr/bin/env python3
"""How podium-run builds CUDA C++ tasks for the isolated engine: which program comes from which
files, what it caches, and when the custom engine runs instead. A script stands in for nvcc, so that
the test needs neither nvcc nor a GPU."""

import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
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
{
	echo "\$kind-count: 1"
	echo "\$kind.0.spec: size: 1; seed: 2"
	echo "\$kind.0.message: kit $stamp"
	echo "\$kind.0.status: pass"
	echo "check: pass"
} >&3
sleep 0.3
END
	;;
contestant.out) printf '#!/bin/sh\necho $(ls)\nexec sleep 100\n' | made ;;
entry.o) echo entry > entry.o ;;
submission.so)
	if grep -q WRONG submission.cu; then
		echo 'submission.cu(1): error: identifier "WRONG" is undefined' >&2
		exit 1
	fi
	[ -e eval.cu ] && { echo "eval.cu lies beside the submission" >&2; exit 2; }
	{ cat submission.cu entry.o reference.cuh; } > submission.so ;;
eval.out)
	printf '#!/bin/sh\nprintf "test-count: 1\\ntest.0.status: pass\\ncheck: pass\\n" >&3\n' |
		made ;;
esac
"""
FILES = {
	"task.h": "types",
	"reference.cuh": "the reference",
	"utils.h": "helpers",
	"table.bin": "data",
}
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="podium-nvcc."))


def make_nvcc():
	FOLDER.chmod(0o755)
	path = FOLDER / "nvcc"
	path.write_text(NVCC)
	path.chmod(0o755)
	return str(path)


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
		device=GPU,
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
	equal(result.log(), "contestant.out submission.so table.bin\n")


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


make_nvcc()
try:
	status = run()
finally:
	shutil.rmtree(FOLDER)
sys.exit(status)
