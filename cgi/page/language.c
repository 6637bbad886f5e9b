/* Pages about Podium's harness for each language, so that contestants can read the code that runs
 * their submissions. */
#include "cgi/page/language.h"

#include "cgi/page/help.h"
#include "cgi/page/pages.h"
#include "cgi/page/shown_leaderboard.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "templates/language.h"

#include <string.h>

static const struct language LANGUAGES[] = {
	{
		.code = "py",
		.example_name = "submission.py",
		.command = "python3 eval.py MODE CASEFILE",
		.defines = "custom_kernel(data)",
		.contract = "In the task’s \"reference.py\", \"generate_input\" makes its argument, and "
					"\"check_implementation\" checks what it returns.",
		.example = "#!POPCORN leaderboard vectoradd_py\n"
				   "#!POPCORN gpus H200\n"
				   "import torch\n"
				   "\n"
				   "\n"
				   "def custom_kernel(data):\n"
				   "    a, b, output = data\n"
				   "    torch.add(a, b, out=output)\n"
				   "    return output\n",
	},
	{
		.code = "cu",
		.example_name = "submission.cu",
		.command = "./eval.out MODE CASEFILE",
		.defines = "output_t custom_kernel(input_t data)",
		.contract =
			"nvcc compiles it together with \"eval.cu\". The task’s \"task.h\" defines the two "
			"types. In its \"reference.cuh\", \"generate_input\" makes the argument, and "
			"\"check_implementation\" checks what the function returns.",
		.example =
			"//!POPCORN leaderboard twice_cu\n"
			"//!POPCORN gpus H200\n"
			"#include \"task.h\"\n"
			"#include \"utils.h\"\n"
			"\n"
			"__global__ void twice(const float *x, float *y, int size)\n"
			"{\n"
			"\tint i = blockIdx.x * blockDim.x + threadIdx.x;\n"
			"\tif (i < size)\n"
			"\t\ty[i] = 2 * x[i];\n"
			"}\n"
			"\n"
			"/* What input_t holds is up to the task; here x, y and size, and y is the output. */\n"
			"output_t custom_kernel(input_t data)\n"
			"{\n"
			"\ttwice<<<(data.size + 255) / 256, 256>>>(data.x, data.y, data.size);\n"
			"\tCUDA_CHECK(cudaGetLastError());\n"
			"\treturn data.y;\n"
			"}\n",
	},
};

/* The exit codes of the harness. docs/podium-run.md has the whole table. */
static const struct exit_meaning EXITS[] = {
	{ "0", "the result lines end with \"check: pass\" or \"check: fail\"",
		"passed or wrong answer" },
	{ "0", "the harness exited before it wrote the line \"check\"", "runtime error" },
	{ "2", "the mode is unknown, or the task’s files do not load", "internal error" },
	{ "110", "a CUDA call failed", "runtime error" },
	{ "111", "the harness could not write its results", "internal error" },
	{ "112", "an answer is wrong", "wrong answer" },
	{ "113", "a case is malformed, or its input could not be made", "internal error" },
	{ "114", "the harness reached its own time limit", "time limit" },
	{ "signal", "the harness crashed or was killed", "runtime error or memory limit" },
	{ "others", "the submission raised an error or did not load", "runtime error" },
};

static const struct help_heading HEADINGS[] = {
	{ "example", "Example" },
	{ "files", "Files" },
	{ "verdicts", "Verdicts" },
	{ 0 },
};

static const char RESULT_LINES[] = "test-count: 2\n"
								   "test.0.spec: size: 128; seed: 5236\n"
								   "test.0.status: pass\n"
								   "test.1.spec: size: 1000; seed: 1001\n"
								   "test.1.status: fail\n"
								   "test.1.error: element 17 is 0.25, expected 0.5\n"
								   "check: fail\n"
								   "\n"
								   "benchmark-count: 1\n"
								   "benchmark.0.spec: size: 1048576; seed: 6543\n"
								   "benchmark.0.runs: 100\n"
								   "benchmark.0.mean: 31904.2\n"
								   "benchmark.0.std: 210.5\n"
								   "benchmark.0.err: 21.05\n"
								   "benchmark.0.best: 31530.0\n"
								   "benchmark.0.worst: 32811.0\n"
								   "check: pass\n";

static int no_such_language(struct request *request, const char *code)
{
	cleanup_buffer struct buffer names = { 0 };
	for (size_t i = 0; i < COUNT(LANGUAGES); i++)
		buffer_printf(&names, "%s%s (%s)", i ? ", " : "", LANGUAGES[i].code,
			language_title(LANGUAGES[i].code));
	return fail(request->error, ERROR_NOT_FOUND, "There is no language %s here. There are: %s.",
		quote(request->arena, code), names.data);
}

static int find_language(struct request *request, const struct language **language)
{
	const char *code = request->path_parameters[0];
	for (size_t i = 0; i < COUNT(LANGUAGES); i++) {
		*language = &LANGUAGES[i];
		if (strcmp(code, LANGUAGES[i].code) == 0)
			return 0;
	}
	return no_such_language(request, code);
}

static size_t files_of(
	struct arena *arena, const struct language *language, const struct stock_file ***files)
{
	size_t count = 0;
	*files = arena_array(arena, const struct stock_file *, stock_file_count + 1);
	for (size_t i = 0; i < stock_file_count; i++)
		if (strcmp(stock_files[i].language, language->code) == 0)
			(*files)[count++] = &stock_files[i];
	return count;
}

int page_language(struct request *request)
{
	const struct language *language;
	int rc = find_language(request, &language);
	if (rc)
		return rc;
	struct language_view view = {
		.language = language,
		.title = language_title(language->code),
		.exits = EXITS,
		.exit_count = COUNT(EXITS),
		.result_lines = RESULT_LINES,
	};
	view.file_count = files_of(request->arena, language, &view.files);
	struct page page =
		page_make(request, arena_printf(request->arena, "%s harness", view.title), "help");
	page.help_headings = HEADINGS;
	language_page(&request->body, &page, &view);
	request->may_be_cached = true;
	return 0;
}

static int no_such_harness_file(struct request *request, const struct language *language,
	const struct stock_file **files, size_t count)
{
	cleanup_buffer struct buffer names = { 0 };
	for (size_t i = 0; i < count; i++)
		buffer_printf(&names, "%s%s", i ? ", " : "", files[i]->name);
	return fail(request->error, ERROR_NOT_FOUND, "The %s harness has no file %s. Its files are %s.",
		language_title(language->code), quote(request->arena, request->path_parameters[1]),
		buffer_string(&names));
}

int page_language_raw(struct request *request)
{
	const struct language *language;
	const struct stock_file **files;
	int rc = find_language(request, &language);
	if (rc)
		return rc;
	size_t count = files_of(request->arena, language, &files);
	for (size_t i = 0; i < count; i++)
		if (strcmp(files[i]->name, request->path_parameters[1]) == 0) {
			response_as_text(request, files[i]->name, request_query(request, "download"));
			buffer_append(
				&request->body, files[i]->bytes, (size_t)(files[i]->end - files[i]->bytes));
			request->may_be_cached = true;
			return 0;
		}
	return no_such_harness_file(request, language, files, count);
}
