#include "lib/base/slurm_options.h"

#include "lib/base/scope.h"

#include <stdlib.h>
#include <string.h>

static const char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/* The options that a site may set, from srun(1). Options that Podium sets itself are not allowed.
 * Neither are options that make srun read or write files, start other programs, or hide messages.
 * SIGNS has no slash, because a slash turns a node list into a file name. */
enum value { NAME_VALUE, NUMBER_VALUE, SIZE_VALUE, NO_VALUE };
static const char SIGNS[] = "._-,:&|[]()*+@="; /* allowed in names besides letters and digits */
static const struct {
	const char *name;
	enum value value;
} KNOWN[] = {
	{ "partition", NAME_VALUE },
	{ "account", NAME_VALUE },
	{ "constraint", NAME_VALUE },
	{ "prefer", NAME_VALUE },
	{ "qos", NAME_VALUE },
	{ "reservation", NAME_VALUE },
	{ "nodelist", NAME_VALUE },
	{ "exclude", NAME_VALUE },
	{ "licenses", NAME_VALUE },
	{ "wckey", NAME_VALUE },
	{ "comment", NAME_VALUE },
	{ "gpu-freq", NAME_VALUE },
	{ "gres-flags", NAME_VALUE },
	{ "cpus-per-task", NUMBER_VALUE },
	{ "cpus-per-gpu", NUMBER_VALUE },
	{ "nice", NUMBER_VALUE },
	{ "mem", SIZE_VALUE },
	{ "mem-per-cpu", SIZE_VALUE },
	{ "mem-per-gpu", SIZE_VALUE },
	{ "tmp", SIZE_VALUE },
	{ "time", NUMBER_VALUE },
	{ "exclusive", NO_VALUE },
};

bool slurm_is_name(const char *text, size_t length, size_t most)
{
	for (size_t i = 0; i < length; i++)
		if (!text[i] || (!strchr(LETTERS, text[i]) && !strchr("._-", text[i])))
			return false;
	return length > 0 && length <= most && text[0] != '-' && text[0] != '.';
}

static bool is_made_of(const char *text, const char *further)
{
	for (; *text; text++)
		if (!strchr(LETTERS, *text) && !strchr(further, *text))
			return false;
	return true;
}

static bool is_number(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	return digits && digits <= 9 && !text[digits];
}

static bool is_size(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	return digits && digits <= 12
		&& (!text[digits] || (strchr("KMGT", text[digits]) && !text[digits + 1]));
}

static int check_value(
	const char *word, const char *name, enum value kind, const char *value, struct error *error)
{
	if (kind == NO_VALUE)
		return value ? fail(error, ERROR_INPUT, "--%s takes no value. Leave out \"=\".", name) : 0;
	if (!value || !*value)
		return fail(
			error, ERROR_INPUT, "--%s needs a value, in the same word: --%s=VALUE.", name, name);
	if (kind == NUMBER_VALUE && !is_number(value))
		return fail(error, ERROR_INPUT, "--%s must be a whole number, not \"%.40s\".", name, value);
	if (kind == SIZE_VALUE && !is_size(value))
		return fail(error, ERROR_INPUT,
			"--%s must be a number, with K, M, G or T behind it, not \"%.40s\".", name, value);
	if (kind == NAME_VALUE && !is_made_of(value, SIGNS))
		return fail(
			error, ERROR_INPUT, "\"%.60s\" has a character that --%s does not allow.", word, name);
	return 0;
}

static int check_option(const char *word, struct error *error)
{
	const char *name = word + 2, *equals = strchr(name, '=');
	size_t length = equals ? (size_t)(equals - name) : strlen(name);
	for (size_t i = 0; i < COUNT(KNOWN); i++)
		if (strlen(KNOWN[i].name) == length && strncmp(KNOWN[i].name, name, length) == 0)
			return check_value(
				word, KNOWN[i].name, KNOWN[i].value, equals ? equals + 1 : NULL, error);
	return fail(error, ERROR_INPUT,
		"\"%.60s\" is not an option of srun that Podium allows. docs/slurm.md lists the allowed "
		"options.",
		word);
}

static int append_option(struct slurm_options *options, const char *word, struct error *error)
{
	size_t used = 0;
	for (size_t i = 0; i < options->count; i++)
		used += strlen(options->text + used) + 1;
	if (options->count == slurm_most_words || used + strlen(word) + 1 > sizeof options->text)
		return fail(error, ERROR_INPUT,
			"There are too many options. At most %d with %zu bytes are allowed.", slurm_most_words,
			sizeof options->text);
	memcpy(options->text + used, word, strlen(word) + 1);
	options->count++;
	return 0;
}

static int read_gres(struct slurm_options *options, const char *value, struct error *error)
{
	const char *type = strchr(value, ':');
	bool good = strlen(value) < sizeof options->gres
		&& (type ? slurm_is_name(value, (size_t)(type - value), 32)
					&& slurm_is_name(type + 1, strlen(type + 1), slurm_model_bytes - 1)
				 : slurm_is_name(value, strlen(value), 32));
	if (!good)
		return fail(error, ERROR_INPUT,
			"gres must be sinfo's name for the GPUs, such as gpu:h200, not \"%.60s\".", value);
	memcpy(options->gres, value, strlen(value) + 1);
	return 0;
}

static int read_jobs(struct slurm_options *options, const char *value, struct error *error)
{
	long number = is_number(value) ? strtol(value, NULL, 10) : 0;
	if (number < 1 || number > slurm_most_jobs)
		return fail(error, ERROR_INPUT, "jobs must be a whole number from 1 to %d, not \"%.40s\".",
			slurm_most_jobs, value);
	options->jobs = number;
	return 0;
}

static int read_word(struct slurm_options *options, const char *word, struct error *error)
{
	bool is_of_model = options->model[0];
	if (is_of_model && strncmp(word, "jobs=", 5) == 0)
		return read_jobs(options, word + 5, error);
	if (is_of_model && strncmp(word, "gres=", 5) == 0)
		return read_gres(options, word + 5, error);
	if (strncmp(word, "--", 2) != 0)
		return fail(error, ERROR_INPUT, "\"%.60s\" is neither %san option such as --partition=gpu.",
			word,
			is_of_model ? "jobs=N nor gres=NAME:TYPE nor "
						: "a model's setting (those belong under slurm.MODEL) nor ");
	int rc = check_option(word, error);
	return rc ? rc : append_option(options, word, error);
}

/* Text with other characters is refused, so that error messages can quote the text unchanged. */
static bool is_printable(const char *text)
{
	for (; *text; text++)
		if ((*text < ' ' && *text != '\t') || *text > '~')
			return false;
	return true;
}

int slurm_options_read(
	struct slurm_options *options, const char *model, const char *text, struct error *error)
{
	char copy[1024], *rest = copy, *word;
	*options = (struct slurm_options){ 0 };
	if (!is_printable(model) || !is_printable(text))
		return fail(error, ERROR_INPUT,
			"Models and options of srun may only have visible ASCII characters. Remove the "
			"others.");
	if (*model && !slurm_is_name(model, strlen(model), slurm_model_bytes - 1))
		return fail(error, ERROR_INPUT, "\"%.60s\" cannot be the name of a GPU model.", model);
	memcpy(options->model, model, strlen(model) + 1);
	if (strlen(text) >= sizeof copy)
		return fail(
			error, ERROR_INPUT, "The options of srun are longer than %zu bytes.", sizeof copy - 1);
	memcpy(copy, text, strlen(text) + 1);
	int rc = 0;
	while (!rc && (word = strtok_r(rest, " \t", &rest)))
		rc = read_word(options, word, error);
	return rc;
}

size_t slurm_options_words(
	const struct slurm_options *options, const char *words[static slurm_most_words])
{
	const char *at = options->text;
	for (size_t i = 0; i < options->count; i++, at += strlen(at) + 1)
		words[i] = at;
	return options->count;
}

const char *slurm_options_value(const struct slurm_options *options, const char *name)
{
	const char *words[slurm_most_words];
	size_t count = slurm_options_words(options, words), length = strlen(name);
	for (size_t i = count; i--;) /* the last one wins, as in srun */
		if (strncmp(words[i] + 2, name, length) == 0 && words[i][2 + length] == '=')
			return words[i] + 3 + length;
	return NULL;
}
