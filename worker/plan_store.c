#include "worker/plan_store.h"

#include "harness/sealed/plan.h"
#include "lib/base/gzip.h"
#include "lib/base/member.h"
#include "lib/base/scope.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

enum {
	part_bytes = 512 * 1024,
	gzip_head_bytes = 10,
	gzip_tail_bytes = 8,
	most_figures_bytes = 2 << 20, /* about 500 bytes for each node */
	hash_bytes = crypto_hash_sha256_BYTES,
};
_Static_assert(hash_bytes == (int)plan_hash_bytes, "both are SHA-256");

/* ---- parts ---- */

bool plan_store_is_part(const json_t *event)
{
	const char *name = member_text(event, "event");
	return strcmp(name, "plan") == 0 || strcmp(name, "blob") == 0;
}

/* Turns the event of the first part into the file: its member "base64" becomes an array with an
 * element for each part. */
static json_t *begin_file(json_t *event)
{
	json_t *list = json_array();
	if (member_whole(event, "part", -1) == 0)
		json_array_append(list, json_object_get(event, "base64"));
	json_object_set_new(event, "base64", list);
	return event;
}

int64_t plan_store_add(json_t **file, json_t *event)
{
	int64_t parts = member_whole(event, "parts", 0), part = member_whole(event, "part", -1);
	if (!*file) {
		*file = begin_file(event);
	} else {
		json_t *list = json_object_get(*file, "base64");
		bool follows = part == (int64_t)json_array_size(list)
			&& json_equal(json_object_get(*file, "event"), json_object_get(event, "event"))
			&& json_equal(json_object_get(*file, "parts"), json_object_get(event, "parts"));
		if (follows)
			json_array_append(list, json_object_get(event, "base64"));
		else
			json_array_clear(list);
		json_decref(event);
	}
	int64_t count = (int64_t)json_array_size(json_object_get(*file, "base64"));
	return count && parts <= plan_most_parts && count < parts ? parts - count : 0;
}

/* ---- files ---- */

struct packed {
	unsigned char *bytes;
	size_t length;
};

/* The gzip of a complete file, in `arena`. */
static int decode_parts(
	struct arena *arena, const json_t *file, struct packed *packed, struct error *error)
{
	const json_t *list = json_object_get(file, "base64"), *part;
	size_t index, most = 0;
	int64_t parts = member_whole(file, "parts", 0);
	if (!json_array_size(list) || (int64_t)json_array_size(list) != parts)
		return fail(error, ERROR_SYSTEM, "podium-run sent the parts of a %s in a wrong order.",
			member_text(file, "event"));
	json_array_foreach(list, index, part) most += json_string_length(part) / 4 * 3;
	*packed = (struct packed){ .bytes = arena_alloc(arena, most + 1) };
	json_array_foreach(list, index, part)
	{
		size_t length = 0;
		if (sodium_base642bin(packed->bytes + packed->length, most - packed->length,
				json_string_value(part), json_string_length(part), NULL, &length, NULL,
				sodium_base64_VARIANT_ORIGINAL))
			return fail(error, ERROR_SYSTEM, "podium-run sent a %s that is not base64.",
				member_text(file, "event"));
		packed->length += length;
	}
	return 0;
}

/* The size that the event gives for the unpacked file, from 1 to `most`. */
static int read_size(const json_t *file, int64_t most, int64_t *size, struct error *error)
{
	*size = member_whole(file, "size", 0);
	return *size >= 1 && *size <= most
		? 0
		: fail(error, ERROR_SYSTEM, "podium-run sent a %s without a size from 1 to %lld bytes.",
			member_text(file, "event"), (long long)most);
}

/* Accepts only a gzip header without optional fields. A download skips a header of 10 bytes and
 * copies the deflated bytes after it into a zip. */
static int unpack(const json_t *file, const struct packed *packed, int64_t size, struct buffer *out,
	struct error *error)
{
	static const unsigned char plain[] = { 0x1f, 0x8b, 8, 0 };
	return packed->length > gzip_head_bytes + gzip_tail_bytes
			&& memcmp(packed->bytes, plain, sizeof plain) == 0
			&& !gzip_unpack(packed->bytes, packed->length, (size_t)size, out, NULL)
			&& (int64_t)out->length == size
		? 0
		: fail(error, ERROR_SYSTEM, "podium-run sent a %s that is not %lld bytes as gzip.",
			member_text(file, "event"), (long long)size);
}

/* ---- blobs ---- */

struct known {
	int64_t size, is_old;
};
static const struct column KNOWN_COLUMNS[] = { INTEGER(struct known, size),
	INTEGER(struct known, is_old) };
static const struct statement KNOWN = SELECT(struct known, KNOWN_COLUMNS,
	"SELECT size, seen_at < UTC_TIMESTAMP(3) - INTERVAL 1 HOUR AS is_old FROM plan_blobs "
	"WHERE sha256 = ?");
/* Podium deletes blobs that no plan uses, but none that a worker has seen in the last day
 * (lib/database/retention.c). */
static const struct statement SEE =
	COMMAND("UPDATE plan_blobs SET seen_at = UTC_TIMESTAMP(3) WHERE sha256 = ?");
static const struct statement PUT_BLOB =
	COMMAND("INSERT IGNORE INTO plan_blobs (sha256, size, packed, checksum, seen_at) "
			"VALUES (?, ?, ?, ?, UTC_TIMESTAMP(3))");
static const struct statement PUT_PART =
	COMMAND("INSERT INTO plan_blob_parts (sha256, part, content) VALUES (?, ?, ?)");

/* Whether the database has the blob. */
static int find_blob(struct database *db, struct arena *arena, const unsigned char *sha256,
	int64_t size, bool *is_known, struct error *error)
{
	struct known known;
	int rc = database_row(db, arena, &KNOWN, &known, error, "b", sha256, (size_t)hash_bytes);
	*is_known = !rc;
	if (rc)
		return rc == ERROR_NOT_FOUND ? 0 : rc;
	if (known.size != size)
		return fail(error, ERROR_SYSTEM,
			"podium-run sent a blob of %lld bytes whose SHA-256 belongs to %lld bytes.",
			(long long)size, (long long)known.size);
	if (!known.is_old)
		return 0;
	rc = database_execute(db, &SEE, error, "b", sha256, (size_t)hash_bytes);
	*is_known = !rc && database_affected(db); /* no row: Podium has just deleted the blob */
	return rc;
}

static int64_t checksum_of(const struct packed *packed)
{
	const unsigned char *tail = packed->bytes + packed->length - gzip_tail_bytes;
	return (int64_t)tail[0] | (int64_t)tail[1] << 8 | (int64_t)tail[2] << 16
		| (int64_t)tail[3] << 24;
}

/* Stores bytes that were checked. Another worker may store the same at the same time. */
static int put_blob(struct database *db, const unsigned char *sha256, int64_t size,
	const struct packed *packed, struct error *error)
{
	int rc = database_execute(db, &PUT_BLOB, error, "biii", sha256, (size_t)hash_bytes, size,
		(int64_t)packed->length, checksum_of(packed));
	if (rc || !database_affected(db))
		return rc;
	for (size_t at = 0, part = 0; at < packed->length && !rc; at += part_bytes, part++) {
		size_t piece = packed->length - at < part_bytes ? packed->length - at : part_bytes;
		rc = database_execute(db, &PUT_PART, error, "bib", sha256, (size_t)hash_bytes,
			(int64_t)part, packed->bytes + at, piece);
	}
	return rc;
}

int plan_store_blob(
	struct database *db, struct arena *arena, const json_t *file, struct error *error)
{
	unsigned char sha256[hash_bytes], found[hash_bytes];
	const char *hex = member_text(file, "sha256");
	cleanup_buffer struct buffer bytes = { 0 };
	struct packed packed;
	size_t length = 0;
	int64_t size;
	bool is_known = false;
	if (sodium_hex2bin(sha256, sizeof sha256, hex, strlen(hex), NULL, &length, NULL)
		|| length != sizeof sha256)
		return fail(error, ERROR_SYSTEM, "podium-run sent a blob without a SHA-256.");
	int rc = read_size(file, plan_most_image_bytes, &size, error);
	if (!rc)
		rc = find_blob(db, arena, sha256, size, &is_known, error);
	if (rc || is_known)
		return rc;
	rc = decode_parts(arena, file, &packed, error);
	if (!rc)
		rc = unpack(file, &packed, size, &bytes, error);
	if (rc)
		return rc;
	crypto_hash_sha256(found, (const unsigned char *)bytes.data, bytes.length);
	return memcmp(found, sha256, sizeof found) == 0
		? put_blob(db, sha256, size, &packed, error)
		: fail(error, ERROR_SYSTEM, "podium-run sent a blob whose SHA-256 is another one.");
}

/* ---- what pages show ---- */

static const struct figure {
	const char *key;
	double most;
	bool is_whole, is_of_kernel;
} FIGURES[] = {
	{ "registers", 1024, true, true },
	{ "local_bytes", 1 << 30, true, true },
	{ "static_shared_bytes", 1 << 20, true, true },
	{ "blocks_per_sm", 256, true, true },
	{ "warps_per_sm_most", 256, true, true },
	{ "begin_ns", 1e15, false, false },
	{ "end_ns", 1e15, false, false },
};

/* Copies the known figures of one node. */
static bool add_figures(json_t *node, bool is_kernel, const json_t *figures)
{
	for (size_t i = 0; i < COUNT(FIGURES); i++) {
		const struct figure *figure = &FIGURES[i];
		json_t *value = json_object_get(figures, figure->key);
		if (!value)
			continue;
		double number = json_number_value(value);
		if (!json_is_number(value) || (figure->is_whole && !json_is_integer(value))
			|| !(number >= 0 && number <= figure->most) || (figure->is_of_kernel && !is_kernel))
			return false;
		json_object_set(node, figure->key, value);
	}
	const json_t *begin = json_object_get(node, "begin_ns"), *end = json_object_get(node, "end_ns");
	return !begin == !end && (!end || json_number_value(begin) <= json_number_value(end));
}

static json_t *three_json(const uint32_t *three)
{
	return json_pack("[I, I, I]", (json_int_t)three[0], (json_int_t)three[1], (json_int_t)three[2]);
}

static json_t *name_json(const char *name)
{
	enum { mark_bytes = 8, kept_bytes = plan_longest_name_bytes - 2 * mark_bytes - 3 };
	unsigned char hash[hash_bytes];
	char mark[2 * mark_bytes + 1], text[plan_longest_name_bytes + 1];
	size_t length = strlen(name);
	if (length <= plan_longest_name_bytes)
		return json_string(name);
	crypto_hash_sha256(hash, (const unsigned char *)name, length);
	sodium_bin2hex(mark, sizeof mark, hash, mark_bytes);
	snprintf(text, sizeof text, "%.*s...%s", kept_bytes, name, mark);
	return json_string(text);
}

static json_t *kernel_json(const struct plan_kernel *kernel)
{
	json_t *node = json_pack("{s:s, s:o, s:o, s:o, s:I}", "kind", "kernel", "name",
		name_json(kernel->name), "grid", three_json(kernel->grid), "block",
		three_json(kernel->block), "shared", (json_int_t)kernel->shared_bytes);
	if (kernel->cluster[0])
		json_object_set_new(node, "cluster", three_json(kernel->cluster));
	return node;
}

/* Makes `bytes` a real number, because the product of the sizes may exceed 64 bits. Only pages show
 * it. */
static json_t *bytes_json(const char *kind, double bytes)
{
	return json_pack("{s:s, s:f}", "kind", kind, "bytes", bytes);
}

static json_t *node_json(const struct plan_node *node)
{
	const struct plan_memset *set = &node->set;
	const struct plan_copy *copy = &node->copy;
	switch (node->kind) {
	case PLAN_KERNEL: return kernel_json(&node->kernel);
	case PLAN_MEMSET:
		return bytes_json(
			"memset", (double)set->width * (double)set->height * (double)set->element_bytes);
	case PLAN_COPY:
		return bytes_json("copy", (double)copy->width * (double)copy->height * (double)copy->depth);
	case PLAN_EMPTY: break;
	}
	return json_pack("{s:s}", "kind", "empty");
}

/* Returns the JSON for plans.nodes, even if it is too long for pages. NULL: the figures are
 * invalid. The caller frees the JSON. */
static char *nodes_text(const struct plan *plan, const char *figures, size_t length)
{
	json_t *nodes = json_array(), *list = json_loadb(figures, length, 0, NULL), *one;
	size_t index;
	int64_t last = -1;
	bool is_right = json_is_array(list);
	for (uint32_t i = 0; i < plan->node_count; i++)
		json_array_append_new(nodes, node_json(&plan->nodes[i]));
	json_array_foreach(list, index, one)
	{
		int64_t node = member_whole(one, "node", -1);
		is_right = is_right && node > last && node < (int64_t)plan->node_count
			&& add_figures(
				json_array_get(nodes, (size_t)node), plan->nodes[node].kind == PLAN_KERNEL, one);
		last = node;
	}
	char *text = is_right ? json_dumps(nodes, JSON_COMPACT) : NULL;
	json_decref(nodes);
	json_decref(list);
	return text;
}

/* ---- plans ---- */

static const struct statement PUT_PLAN =
	COMMAND("INSERT INTO plans (stage_id, case_index, sha256, size, nodes) "
			"SELECT id, ?, ?, ?, ? FROM stages WHERE job_id = ? AND position = ?");
/* A plan may use a blob several times. */
static const struct statement PUT_USE =
	COMMAND("INSERT IGNORE INTO plan_uses (plan_id, sha256) SELECT p.id, ? FROM plans p "
			"JOIN stages t ON t.id = p.stage_id "
			"WHERE t.job_id = ? AND t.position = ? AND p.case_index = ?");

struct place {
	int64_t job_id, position, index;
};

static int put_use(struct database *db, const struct place *place, const unsigned char *sha256,
	struct error *error)
{
	return database_execute(db, &PUT_USE, error, "biii", sha256, (size_t)hash_bytes, place->job_id,
		place->position, place->index);
}

static int put_uses(struct database *db, const struct place *place, const struct plan *plan,
	const unsigned char *sha256, struct error *error)
{
	int rc = put_use(db, place, sha256, error);
	for (uint32_t i = 0; i < plan->image_count && !rc; i++)
		rc = put_use(db, place, plan->images[i].hash, error);
	for (uint32_t i = 0; i < plan->variable_count && !rc; i++)
		rc = put_use(db, place, plan->variables[i].content.hash, error);
	return rc;
}

/* Stores the plan's JSON as a blob, because most cases of a submission have the same plan. */
static int put_text(struct database *db, struct arena *arena, const unsigned char *sha256,
	const char *text, size_t length, struct error *error)
{
	cleanup_buffer struct buffer gzip = { 0 };
	bool is_known;
	int rc = find_blob(db, arena, sha256, (int64_t)length, &is_known, error);
	if (!rc && !is_known)
		rc = gzip_pack(text, length, &gzip, error);
	const struct packed packed = { (unsigned char *)gzip.data, gzip.length };
	return rc || is_known ? rc : put_blob(db, sha256, (int64_t)length, &packed, error);
}

static int put_plan(struct database *db, struct arena *arena, const struct place *place,
	const struct plan *plan, const char *text, size_t length, const char *nodes,
	struct error *error)
{
	unsigned char sha256[hash_bytes];
	crypto_hash_sha256(sha256, (const unsigned char *)text, length);
	int rc = put_text(db, arena, sha256, text, length, error);
	if (!rc)
		rc = database_execute(db, &PUT_PLAN, error, "ibisii", place->index, sha256,
			(size_t)hash_bytes, (int64_t)length, strlen(nodes) > plan_most_shown_bytes ? "" : nodes,
			place->job_id, place->position);
	if (rc == ERROR_CONFLICT || (!rc && !database_affected(db)))
		return fail(error, ERROR_SYSTEM, "podium-run sent a plan for %s.",
			rc ? "a case that has one" : "a stage that has not begun");
	return rc ? rc : put_uses(db, place, plan, sha256, error);
}

int plan_store(struct database *db, struct arena *arena, int64_t job_id, const json_t *file,
	struct error *error)
{
	cleanup_buffer struct buffer content = { 0 };
	struct packed packed;
	char why[256];
	int64_t size, length = member_whole(file, "text_bytes", 0);
	const struct place place = { job_id, member_whole(file, "position", -1),
		member_whole(file, "index", -1) };
	int rc = read_size(file, plan_most_bytes + most_figures_bytes, &size, error);
	if (!rc
		&& (length < 1 || length > plan_most_bytes || length > size || place.index < 0
			|| place.index > UINT16_MAX))
		rc = fail(error, ERROR_SYSTEM, "podium-run sent a plan without a case and a length.");
	if (!rc)
		rc = decode_parts(arena, file, &packed, error);
	if (!rc)
		rc = unpack(file, &packed, size, &content, error);
	if (rc)
		return rc;
	struct plan *plan = plan_read(content.data, (size_t)length, why, sizeof why);
	if (!plan)
		return fail(error, ERROR_SYSTEM, "podium-run sent a plan that is wrong. %s", why);
	cleanup_free char *nodes = nodes_text(plan, content.data + length, (size_t)(size - length));
	rc = nodes ? put_plan(db, arena, &place, plan, content.data, (size_t)length, nodes, error)
			   : fail(error, ERROR_SYSTEM, "podium-run sent wrong figures of a plan.");
	plan_free(plan);
	return rc;
}
