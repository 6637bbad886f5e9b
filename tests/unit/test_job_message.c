#include "lib/job/message.h"

#include "lib/base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct device GPU = {
	.model = "H200", .product = "NVIDIA H200", .uuid = "GPU-1", .compute_capability = "9.0"
};
static const struct device CPU = {
	.model = "CPU", .product = "a processor", .uuid = "CPU", .compute_capability = ""
};
static const struct tools TOOLS = { .python = "/usr/bin/python3", .nvcc = "" };
static const struct file FILES[] = { { "reference.py", "x = 'ü'\n", 9 },
	{ "data.bin", "\0\xff", 2 }, { "empty.txt", NULL, 0 } };

/* Returns the member "job" of a valid message. */
static json_t *make_job(const struct job_message *changes)
{
	struct error error = { 0 };
	struct job_message job = *changes;
	json_t *task = json_pack("{s:s}", "language", "py");
	job.id = 17;
	job.task = task;
	job.tools = &TOOLS;
	job.files = FILES;
	job.file_count = COUNT(FILES);
	job.submission = (struct file){ "mine.py", "pass\n", 5 };
	json_t *message = job_message_make(&job, &error);
	assert_string_equal(error.text, "");
	assert_non_null(message);
	json_t *member = json_incref(json_object_get(message, "job"));
	json_decref(message);
	json_decref(task);
	return member;
}

static void assert_json(const json_t *object, const char *key, const char *expected)
{
	cleanup_free char *text =
		json_dumps(json_object_get(object, key), JSON_ENCODE_ANY | JSON_COMPACT);
	assert_string_equal(text ? text : "", expected);
}

static void a_message_has_everything_that_podium_run_needs(void **state)
{
	(void)state;
	json_t *job =
		make_job(&(struct job_message){ .mode = "test", .device = &GPU, .secret_seed = 5 });
	assert_json(job, "id", "17");
	assert_json(job, "mode", "\"test\"");
	assert_json(
		job, "device", "{\"model\":\"H200\",\"uuid\":\"GPU-1\",\"compute_capability\":\"9.0\"}");
	assert_json(job, "task", "{\"language\":\"py\"}");
	assert_json(job, "submission", "{\"name\":\"mine.py\",\"text\":\"pass\\n\"}");
	assert_json(job, "python", "\"/usr/bin/python3\"");
	assert_json(job, "nvcc", "\"\"");
	json_decref(job);
}

static void the_job_number_comes_first_so_that_later_damage_cannot_hide_it(void **state)
{
	(void)state;
	json_t *job = make_job(&(struct job_message){ .mode = "test", .device = &CPU });
	assert_string_equal(json_object_iter_key(json_object_iter(job)), "id");
	json_decref(job);
}

static void binary_files_are_sent_as_base64(void **state)
{
	(void)state;
	json_t *job = make_job(&(struct job_message){ .mode = "test", .device = &CPU });
	assert_json(job, "files",
		"[{\"path\":\"reference.py\",\"text\":\"x = "
		"'ü'\\n\"},{\"path\":\"data.bin\",\"base64\":\"AP8=\"},{\"path\":\"empty.txt\",\"text\":"
		"\"\"}]");
	json_decref(job);
}

static void only_ranked_and_compare_jobs_get_the_secret_seed(void **state)
{
	(void)state;
	static const struct {
		const char *mode, *seed;
	} modes[] = {
		{ "test", "" },
		{ "benchmark", "" },
		{ "profile", "" },
		{ "ranked", "5" },
		{ "compare", "5" },
	};
	for (size_t i = 0; i < COUNT(modes); i++) {
		json_t *job = make_job(
			&(struct job_message){ .mode = modes[i].mode, .device = &CPU, .secret_seed = 5 });
		assert_json(job, "secret_seed", modes[i].seed);
		json_decref(job);
	}
}

static void the_cpu_has_no_uuid_and_several_gpus_have_several_uuids(void **state)
{
	(void)state;
	json_t *job = make_job(&(struct job_message){ .mode = "test", .device = &CPU });
	assert_json(job, "device", "{\"model\":\"CPU\"}");
	json_decref(job);
	job = make_job(&(struct job_message){ .mode = "test", .device = &GPU });
	json_t *message = json_pack("{s:o}", "job", job);
	job_message_set_uuids(message, "GPU-1,GPU-2");
	assert_json(json_object_get(job, "device"), "uuid", "\"GPU-1,GPU-2\"");
	json_decref(message);
}

static void only_a_message_with_a_rival_contains_one(void **state)
{
	(void)state;
	json_t *job = make_job(&(struct job_message){ .mode = "test", .device = &GPU });
	assert_json(job, "rival", "");
	json_decref(job);
	job = make_job(&(struct job_message){
		.mode = "compare", .device = &GPU, .rival = { "yours.py", "1\n", 2 } });
	assert_json(job, "rival", "{\"name\":\"yours.py\",\"text\":\"1\\n\"}");
	json_decref(job);
}

static void a_binary_submission_is_an_error(void **state)
{
	(void)state;
	struct error error = { 0 };
	json_t *task = json_object();
	json_t *message = job_message_make(&(struct job_message){ .id = 3,
										   .mode = "test",
										   .device = &CPU,
										   .task = task,
										   .tools = &TOOLS,
										   .submission = { "mine.py", "\xff", 1 } },
		&error);
	assert_null(message);
	assert_string_equal(error.text, "Job 3 could not be written as JSON.");
	json_decref(task);
}

static void the_time_limit_covers_all_stages(void **state)
{
	(void)state;
	struct task task = { .test_timeout_s = 10,
		.benchmark_timeout_s = 20,
		.ranked_timeout_s = 30,
		.benchmark_count = 2 };
	assert_true(job_limit_ms(&task, "ranked") > 1000 * (task_compile_timeout_s + 10 + 20 + 30));
	assert_int_equal(job_limit_ms(&task, "compare") - job_limit_ms(&task, "ranked"),
		1000 * (task_compile_timeout_s + 30));
	assert_int_equal(
		job_limit_ms(&task, "profile") - job_limit_ms(&task, "test"), 1000 * 2 * (2 * 20 + 120));
}

static void a_task_for_several_gpus_needs_them_except_on_the_cpu(void **state)
{
	(void)state;
	const char *tests[] = { "world_size: 2; size: 8", "world_size: 4; size: 8" };
	struct task task = { .multi_gpu = true, .tests = tests, .test_count = COUNT(tests) };
	assert_int_equal(job_gpu_count(&task, &GPU), 4);
	assert_int_equal(job_gpu_count(&task, &CPU), 1);
	task.multi_gpu = false;
	assert_int_equal(job_gpu_count(&task, &GPU), 1);
}

static void a_job_names_its_engine_and_a_profile_the_custom_one(void **state)
{
	(void)state;
	const struct engine_choice sealed = { ENGINE_SEALED, "On GPUs." },
							   isolated = { ENGINE_ISOLATED, "The stock one." },
							   custom = { ENGINE_CUSTOM, "Its own one." };
	json_t *job =
		make_job(&(struct job_message){ .mode = "test", .device = &CPU, .engine = isolated });
	assert_json(job, "engine", "\"isolated\"");
	assert_null(json_object_get(job, "engine_reason"));
	assert_null(json_object_get(job, "may_fall_back"));
	json_decref(job);
	job = make_job(&(struct job_message){
		.mode = "ranked", .device = &CPU, .engine = custom, .may_fall_back = true });
	assert_json(job, "engine", "\"custom\"");
	assert_json(job, "engine_reason", "\"Its own one.\"");
	assert_json(job, "may_fall_back", "true");
	json_decref(job);
	job = make_job(&(struct job_message){ .mode = "compare", .device = &GPU, .engine = sealed });
	assert_json(job, "engine", "\"sealed\"");
	assert_null(json_object_get(job, "engine_reason"));
	json_decref(job);
	job = make_job(&(struct job_message){ .mode = "profile", .device = &GPU, .engine = sealed });
	assert_json(job, "engine", "\"custom\"");
	json_decref(job);
	job = make_job(&(struct job_message){ .mode = "profile", .device = &CPU, .engine = isolated });
	assert_json(job, "engine", "\"custom\"");
	assert_null(json_object_get(job, "engine_reason"));
	json_decref(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_names_its_engine_and_a_profile_the_custom_one),
		cmocka_unit_test(a_message_has_everything_that_podium_run_needs),
		cmocka_unit_test(the_job_number_comes_first_so_that_later_damage_cannot_hide_it),
		cmocka_unit_test(binary_files_are_sent_as_base64),
		cmocka_unit_test(only_ranked_and_compare_jobs_get_the_secret_seed),
		cmocka_unit_test(the_cpu_has_no_uuid_and_several_gpus_have_several_uuids),
		cmocka_unit_test(only_a_message_with_a_rival_contains_one),
		cmocka_unit_test(a_binary_submission_is_an_error),
		cmocka_unit_test(the_time_limit_covers_all_stages),
		cmocka_unit_test(a_task_for_several_gpus_needs_them_except_on_the_cpu),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
