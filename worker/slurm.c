#include "worker/slurm.h"

#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/gpu/device.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { most_offers = 64, most_devices = 100000, most_error_bytes = 300 };

/* A part of the text. Parsers copy nothing before they know that the text is well-formed. */
struct piece {
	const char *bytes;
	size_t length;
};

static bool piece_equals(struct piece piece, const char *text)
{
	return strlen(text) == piece.length && memcmp(piece.bytes, text, piece.length) == 0;
}

/* Takes the piece before `mark` off `rest`. False at the end. */
static bool take_piece(struct piece *rest, char mark, struct piece *piece)
{
	if (!rest->bytes)
		return false;
	const char *end = memchr(rest->bytes, mark, rest->length);
	*piece = (struct piece){ rest->bytes, end ? (size_t)(end - rest->bytes) : rest->length };
	rest->bytes = end ? end + 1 : NULL;
	rest->length = end ? rest->length - piece->length - 1 : 0;
	return true;
}

static bool begins_with(struct piece text, const char *words)
{
	return text.length >= strlen(words) && memcmp(text.bytes, words, strlen(words)) == 0;
}

static void drop_front(struct piece *text, size_t length)
{
	text->bytes += length;
	text->length -= length;
}

static struct piece whole_text(const char *text)
{
	return (struct piece){ text, strlen(text) };
}

/* ---- names ---- */

/* Returns the usual spelling of a word that follows a product's number, such as "PCIe"; NULL for
 * any other word, which stays in capitals. */
static const char *find_spelling(const char *word)
{
	static const char *const words[] = { "PCIe", "Ti", "Ada", "Laptop" };
	for (size_t i = 0; i < COUNT(words); i++)
		if (strcasecmp(word, words[i]) == 0)
			return words[i];
	return NULL;
}

const char *slurm_model(struct arena *arena, const char *type)
{
	char *product = arena_strdup(arena, type), *word, *rest;
	for (char *at = product; *at; at++)
		*at = *at == '_' || *at == '-' || *at == '.' ? ' ' : (char)toupper((unsigned char)*at);
	cleanup_buffer struct buffer words = { 0 };
	for (rest = product; (word = strtok_r(rest, " ", &rest));)
		buffer_printf(&words, "%s%s", words.length ? " " : "",
			find_spelling(word) ? find_spelling(word) : word);
	return device_model(arena, buffer_string(&words));
}

/* ---- sinfo ---- */

/* Whether a node in this state, in sinfo's short form, takes jobs now or later without an admin.
 * The mark "*" behind the state means that the node does not answer. Source: sinfo(1), NODE STATE
 * CODES. */
static bool takes_jobs(struct piece state)
{
	static const char *const good[] = { "idle", "mix", "alloc", "comp", "plnd", "boot", "resv",
		"pow_up", "pow_dn" };
	struct piece word = { state.bytes, 0 };
	while (word.length < state.length
		&& (isalpha((unsigned char)word.bytes[word.length]) || word.bytes[word.length] == '_'))
		word.length++;
	if (memchr(state.bytes + word.length, '*', state.length - word.length))
		return false;
	for (size_t i = 0; i < COUNT(good); i++)
		if (piece_equals(word, good[i]))
			return true;
	return false;
}

static bool is_default(struct piece partition)
{
	return partition.length && partition.bytes[partition.length - 1] == '*';
}

static bool is_listed(struct piece partition, const char *partitions)
{
	struct piece rest = whole_text(partitions), one;
	partition.length -= is_default(partition);
	while (take_piece(&rest, ',', &one))
		if (one.length == partition.length && memcmp(one.bytes, partition.bytes, one.length) == 0)
			return true;
	return false;
}

struct node {
	struct piece name, state, partition, gres;
};

static bool take_node(struct piece *rest, struct node *node)
{
	struct piece line;
	while (take_piece(rest, '\n', &line)) {
		if (take_piece(&line, '|', &node->name) && take_piece(&line, '|', &node->state)
			&& take_piece(&line, '|', &node->partition) && take_piece(&line, '|', &node->gres)
			&& !line.bytes && slurm_is_name(node->name.bytes, node->name.length, 255))
			return true;
	}
	return false;
}

static bool has_default(const char *text)
{
	struct piece rest = whole_text(text);
	struct node node;
	while (take_node(&rest, &node))
		if (is_default(node.partition))
			return true;
	return false;
}

struct offers {
	struct arena *arena;
	struct slurm_offer *list;
	size_t count;
};

static void add_offer(
	struct offers *offers, const char *model, const char *gres, int64_t devices, bool usable)
{
	size_t i = 0;
	while (i < offers->count && strcmp(offers->list[i].gres, gres) != 0)
		i++;
	if (i == most_offers)
		return;
	if (i == offers->count)
		offers->list[offers->count++] = (struct slurm_offer){ .model = model, .gres = gres };
	offers->list[i].devices += devices;
	offers->list[i].usable += usable ? devices : 0;
}

/* The number at the front of "4(S:0-1)"; 0 if there is none. */
static int64_t read_count(struct piece text)
{
	int64_t number = 0;
	size_t i = 0;
	for (; i < text.length && isdigit((unsigned char)text.bytes[i]) && number <= most_devices; i++)
		number = number * 10 + text.bytes[i] - '0';
	bool good = i && number <= most_devices && (i == text.length || text.bytes[i] == '(');
	return good ? number : 0;
}

/* Counts one entry of a node's list, such as "gpu:h200:4(S:0-1)", "gpu:4" or "mps:400". Skips all
 * but GPUs. */
static void add_gres(struct offers *offers, struct piece gres, bool usable)
{
	struct piece name, second, third;
	if (!take_piece(&gres, ':', &name) || !piece_equals(name, "gpu")
		|| !take_piece(&gres, ':', &second))
		return;
	if (read_count(second) && isdigit((unsigned char)second.bytes[0])
		&& (!gres.bytes || memchr(second.bytes, '(', second.length))) {
		add_offer(offers, "", "gpu", read_count(second), usable);
	} else if (slurm_is_name(second.bytes, second.length, slurm_model_bytes - 1)
		&& take_piece(&gres, ':', &third) && read_count(third)) {
		const char *type = arena_strndup(offers->arena, second.bytes, second.length);
		add_offer(offers, slurm_model(offers->arena, type),
			arena_printf(offers->arena, "gpu:%s", type), read_count(third), usable);
	}
}

/* Takes the first entry off a list such as "gpu:h200:4(S:0,2),gpu:a100:1". A comma in parentheses
 * does not end an entry. */
static bool take_gres(struct piece *rest, struct piece *gres)
{
	int depth = 0;
	size_t length = 0;
	if (!rest->bytes)
		return false;
	for (; length < rest->length && (depth > 0 || rest->bytes[length] != ','); length++)
		depth += (rest->bytes[length] == '(') - (rest->bytes[length] == ')');
	*gres = (struct piece){ rest->bytes, length };
	bool is_last = length == rest->length;
	*rest = is_last ? (struct piece){ 0 }
					: (struct piece){ rest->bytes + length + 1, rest->length - length - 1 };
	return true;
}

/* Whether the node was not counted yet: sinfo lists a node once for each of its partitions. */
static bool is_new(const struct node *node, struct piece *seen, size_t *count, size_t most)
{
	for (size_t i = 0; i < *count; i++)
		if (seen[i].length == node->name.length
			&& memcmp(seen[i].bytes, node->name.bytes, seen[i].length) == 0)
			return false;
	if (*count == most)
		return false;
	seen[(*count)++] = node->name;
	return true;
}

void slurm_read_nodes(struct arena *arena, const char *text, const char *partitions,
	struct slurm_offer **list, size_t *count)
{
	enum { most_nodes = 4096 };
	struct offers offers = { arena, arena_array(arena, struct slurm_offer, most_offers + 1), 0 };
	struct piece rest = whole_text(text), gres,
				 *seen = arena_array(arena, struct piece, most_nodes);
	struct slurm_offer processors = { .model = "CPU", .gres = "" };
	struct node node;
	size_t nodes = 0;
	bool by_default = !partitions && has_default(text);
	while (take_node(&rest, &node)) {
		bool is_ours = partitions ? is_listed(node.partition, partitions)
								  : !by_default || is_default(node.partition);
		if (!is_ours || !is_new(&node, seen, &nodes, most_nodes))
			continue;
		bool usable = takes_jobs(node.state);
		processors.devices++;
		processors.usable += usable;
		while (take_gres(&node.gres, &gres))
			add_gres(&offers, gres, usable);
	}
	offers.list[offers.count] = processors;
	*list = offers.list;
	*count = offers.count + 1;
}

/* ---- squeue ---- */

static bool copy_printable(struct piece piece, char *place, size_t size)
{
	if (piece.length >= size)
		piece.length = size - 1;
	for (size_t i = 0; i < piece.length; i++)
		place[i] = piece.bytes[i] >= ' ' && piece.bytes[i] < 127 ? piece.bytes[i] : '?';
	place[piece.length] = '\0';
	return piece.length > 0;
}

static bool is_number(struct piece piece)
{
	for (size_t i = 0; i < piece.length; i++)
		if (!isdigit((unsigned char)piece.bytes[i]))
			return false;
	return piece.length > 0 && piece.length < 16;
}

bool slurm_read_job(const char *text, struct slurm_job *job)
{
	struct piece rest = whole_text(text), line, number, state, reason, node;
	long long newest = -1;
	*job = (struct slurm_job){ 0 };
	while (take_piece(&rest, '\n', &line)) {
		if (!take_piece(&line, '|', &number) || !take_piece(&line, '|', &state)
			|| !take_piece(&line, '|', &reason) || !take_piece(&line, '|', &node) || line.bytes
			|| !is_number(number) || atoll(number.bytes) <= newest)
			continue;
		newest = atoll(number.bytes);
		copy_printable(number, job->number, sizeof job->number);
		copy_printable(state, job->state, sizeof job->state);
		copy_printable(reason, job->reason, sizeof job->reason);
		copy_printable(node, job->node, sizeof job->node);
	}
	return newest >= 0;
}

/* The final states of squeue(1), JOB STATE CODES. */
bool slurm_is_over(const struct slurm_job *job)
{
	static const char *const over[] = {
		"BOOT_FAIL",
		"CANCELLED",
		"COMPLETED",
		"DEADLINE",
		"FAILED",
		"NODE_FAIL",
		"OUT_OF_MEMORY",
		"PREEMPTED",
		"TIMEOUT",
		"REVOKED",
	};
	return text_is_one_of(job->state, over, COUNT(over));
}

size_t slurm_read_leftovers(
	const char *text, const char *prefix, struct slurm_leftover *leftovers, size_t most)
{
	struct piece rest = whole_text(text), line, number;
	size_t count = 0;
	while (count < most && take_piece(&rest, '\n', &line)) {
		if (!take_piece(&line, '|', &number) || !is_number(number) || !line.bytes
			|| !begins_with(line, prefix))
			continue;
		drop_front(&line, strlen(prefix));
		if (!is_number(line))
			continue;
		copy_printable(number, leftovers[count].number, slurm_number_bytes);
		leftovers[count++].place = atoll(line.bytes);
	}
	return count;
}

/* ---- the end ---- */

/* Whether the line gives no reason, such as "srun: error: node2: task 0: Exited with exit code 2".
 */
static bool says_little(struct piece line)
{
	static const char *const parts[] = { ": task ", "Job step aborted", "forcing job termination",
		"Force Terminated" };
	for (size_t i = 0; i < COUNT(parts); i++)
		if (memmem(line.bytes, line.length, parts[i], strlen(parts[i])))
			return true;
	return false;
}

/* Removes prefixes such as "srun: error: ", "slurmstepd-node2: error: " and "slurm_load_partitions:
 * ", or the front of a line of podium-run's log. */
static struct piece strip_prefix(struct piece line)
{
	static const char *const marks[] = { " error podium-run: ", "error: ",
		"slurm_load_partitions: ", "slurm_load_jobs error: ", "srun: " };
	for (size_t i = 0; i < COUNT(marks); i++) {
		const char *found = memmem(line.bytes, line.length, marks[i], strlen(marks[i]));
		if (!found)
			continue;
		drop_front(&line, (size_t)(found - line.bytes) + strlen(marks[i]));
		break;
	}
	return line;
}

void slurm_say_error(struct buffer *out, const char *said)
{
	struct piece rest = whole_text(said), line, last = { 0 };
	while (take_piece(&rest, '\n', &line))
		if (line.length && !says_little(line))
			last = strip_prefix(line);
	if (!last.length)
		return;
	cleanup_free char *copy = strndup(last.bytes, last.length);
	cleanup_buffer struct buffer printable = { 0 }, valid = { 0 };
	text_append_valid(&valid, copy, strlen(copy));
	text_append_printable(&printable, buffer_string(&valid));
	size_t kept = printable.length <= most_error_bytes
		? printable.length
		: text_utf8_prefix(buffer_string(&printable), most_error_bytes);
	while (kept && printable.data[kept - 1] == '.')
		kept--;
	buffer_append(out, buffer_string(&printable), kept);
}

/* The reasons by job state. `words` finds the reason in srun's output while the state is unknown.
 */
static const struct end {
	const char *state, *words, *sentence;
} ENDS[] = {
	{ "PREEMPTED", "DUE TO PREEMPTION",
		"Slurm took the node away for a job of higher priority (preempted)" },
	{ "NODE_FAIL", "ode failure", "the node failed (Slurm: NODE_FAIL)" },
	{ "NODE_FAIL", "DUE TO NODE FAILURE", "the node failed (Slurm: NODE_FAIL)" },
	{ "BOOT_FAIL", NULL, "the node did not start (Slurm: BOOT_FAIL)" },
	{ "TIMEOUT", "DUE TO TIME LIMIT", "Slurm's time limit was reached" },
	{ "DEADLINE", "DUE TO DEADLINE", "Slurm's deadline was reached" },
	{ "OUT_OF_MEMORY", "ut Of Memory", "it used more memory than Slurm allows (OUT_OF_MEMORY)" },
	{ "CANCELLED", "CANCELLED AT", "its Slurm job was cancelled in the cluster" },
};

static const struct end *find_end(const struct slurm_job *job, const char *said)
{
	for (size_t i = 0; i < COUNT(ENDS); i++)
		if (strcmp(job->state, ENDS[i].state) == 0)
			return &ENDS[i];
	for (size_t i = 0; i < COUNT(ENDS) && !slurm_is_over(job); i++)
		if (ENDS[i].words && strstr(said, ENDS[i].words))
			return &ENDS[i];
	return NULL;
}

void slurm_say_end(
	struct buffer *out, const struct slurm_job *job, const char *said, int64_t limit_min)
{
	const struct end *end = find_end(job, said);
	if (*job->number && *job->node)
		buffer_printf(out, "While it ran on the node %s (Slurm job %s), ", job->node, job->number);
	else
		buffer_text(out, "While it ran in the cluster, ");
	if (end && strcmp(end->state, "TIMEOUT") == 0) {
		buffer_printf(out,
			"%s; the job had asked for %lld min, and Podium's own limits end a job before that.",
			end->sentence, (long long)limit_min);
		return;
	}
	buffer_text(out, end ? end->sentence : "podium-run exited: ");
	size_t plain = out->length;
	if (!end)
		slurm_say_error(out, said);
	if (!end && out->length == plain)
		buffer_text(out, *job->state ? job->state : "neither Slurm nor srun says why");
	buffer_byte(out, '.');
}
