/* Output of Slurm's programs. The names in the output come from the cluster's admins and from
 * anybody with a job there. */
#include "worker/slurm.h"

#include "tests/fuzz/fuzz.h"

static void check_offers(struct arena *arena, const char *text, const char *partitions)
{
	struct slurm_offer *offers;
	size_t count;
	slurm_read_nodes(arena, text, partitions, &offers, &count);
	require(count >= 1 && strcmp(offers[count - 1].model, "CPU") == 0);
	for (size_t i = 0; i < count; i++) {
		require(offers[i].usable >= 0 && offers[i].usable <= offers[i].devices);
		require(!*offers[i].model
			|| slurm_is_name(offers[i].model, strlen(offers[i].model), slurm_model_bytes - 1));
		require(i == count - 1 || strncmp(offers[i].gres, "gpu", 3) == 0);
	}
}

static void check_sentence(const char *sentence)
{
	if (*sentence)
		require_sentence(sentence);
}

/* Each accepted word must be an option that srun cannot take for anything else. */
static void check_options(const char *text)
{
	const char *words[slurm_most_words];
	struct slurm_options options;
	struct error error = { 0 };
	int rc = slurm_options_read(&options, "H200", text, &error);
	if (rc) {
		require_error(rc, &error);
		return;
	}
	size_t count = slurm_options_words(&options, words);
	for (size_t i = 0; i < count; i++)
		require(strncmp(words[i], "--", 2) == 0 && !strpbrk(words[i], " \t\n;$`'\"\\"));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	cleanup_free char *text = fuzz_string(bytes, length);
	cleanup_arena struct arena *arena = arena_new();
	cleanup_buffer struct buffer end = { 0 }, error = { 0 };
	struct slurm_job job;
	struct slurm_leftover left[4];
	check_offers(arena, text, NULL);
	check_offers(arena, text, "main,gpu");
	if (slurm_read_job(text, &job)) {
		require(strspn(job.number, "0123456789") == strlen(job.number));
		check_sentence(job.state);
		check_sentence(job.reason);
		check_sentence(job.node);
	}
	require(slurm_read_leftovers(text, "podium-", left, 4) <= 4);
	slurm_say_end(&end, &job, text, 5);
	require_sentence(buffer_string(&end));
	slurm_say_error(&error, text);
	check_sentence(buffer_string(&error));
	require(error.length <= 300);
	check_options(text);
	return 0;
}
