#include "lib/task/stock.h"

#include "lib/base/embed.h"

EMBED(eval_py, "harness/eval.py");
EMBED(utils_py, "harness/utils.py");
EMBED(single_reference_py, "harness/single_reference.py");
EMBED(score_eval_py, "harness/score_eval.py");
EMBED(eval_cu, "harness/eval.cu");
EMBED(utils_h, "harness/utils.h");
EMBED(wrapped_kernel_cu, "harness/wrapped_kernel.cu");
EMBED(single_reference_cuh, "harness/single_reference.cuh");
EMBED(single_main_cu, "harness/single_main.cu");
EMBED(score_eval_cu, "harness/score_eval.cu");

#define STOCK(file_name, symbol, file_language, file_meaning) \
	{ \
		.name = file_name, .language = file_language, .meaning = file_meaning, \
		.bytes = embedded_##symbol, .end = embedded_##symbol##_end \
	}

const struct stock_file stock_files[] = {
	STOCK("eval.py", eval_py, "py",
		"runs a submission on every case, checks what it returns and times it"),
	STOCK("utils.py", utils_py, "py",
		"provides seeds, comparisons and deterministic results to \"reference.py\""),
	STOCK("single_reference.py", single_reference_py, "py",
		"serves as \"reference.py\" for a task that is a single file"),
	STOCK("score_eval.py", score_eval_py, "py",
		"runs old tasks, whose evaluation reports only one score"),
	STOCK("eval.cu", eval_cu, "cu",
		"runs a submission on every case, checks what it returns and times it"),
	STOCK("utils.h", utils_h, "cu",
		"provides device buffers, random inputs and comparisons to other files"),
	STOCK("wrapped_kernel.cu", wrapped_kernel_cu, "cu",
		"compiles \"eval.cu\" with a submission that is only a \"__global__\" function"),
	STOCK("single_reference.cuh", single_reference_cuh, "cu",
		"serves as \"task.h\" and \"reference.cuh\" for a task that is a single file"),
	STOCK("single_main.cu", single_main_cu, "cu",
		"compiles \"eval.cu\" with a submission that such a task includes as \"train.cuh\""),
	STOCK("score_eval.cu", score_eval_cu, "cu",
		"runs old tasks, whose evaluation reports only one score"),
};

const size_t stock_file_count = sizeof stock_files / sizeof stock_files[0];

struct fileset stock_fileset(struct arena *arena)
{
	struct fileset set = fileset_make(arena);
	for (size_t i = 0; i < stock_file_count; i++) /* cannot fail: all names differ */
		fileset_add(&set, stock_files[i].name, stock_files[i].bytes,
			(size_t)(stock_files[i].end - stock_files[i].bytes), NULL);
	return set;
}
