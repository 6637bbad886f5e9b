#include "worker/run/engine/plans.h"

#include "harness/sealed/plan.h"
#include "lib/base/log.h"
#include "lib/base/scope.h"
#include "worker/run/sandbox/folder.h"

#include <sodium.h>
#include <string.h>

enum {
	/* of a saved plan: its text as JSON, in which every quote has a backslash, and figures */
	most_saved_bytes = 3 * plan_most_bytes,
	hex_length = 2 * plan_hash_bytes,
};

/* A name from the judge's file, which the reference's code could have changed. */
static bool read_hash(const char *hex, unsigned char hash[static plan_hash_bytes])
{
	size_t length = 0;
	return strlen(hex) == hex_length
		&& !sodium_hex2bin(hash, plan_hash_bytes, hex, hex_length, NULL, &length, NULL)
		&& length == plan_hash_bytes;
}

static int send_blob(struct run *run, int folder, const char *hex, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new(); /* a blob may be large */
	unsigned char hash[plan_hash_bytes];
	const char *bytes;
	size_t length;
	if (!read_hash(hex, hash))
		return fail(error, ERROR_INPUT, "A blob has no SHA-256.");
	int rc = folder_read(folder, hex, plan_most_image_bytes, arena, &bytes, &length, error);
	return rc ? rc : event_blob(run->events, hash, bytes, length, error);
}

static int send_plan(struct run *run, const struct stage *stage, int folder, size_t index,
	const char *bytes, size_t length, struct error *error)
{
	json_t *saved = json_loadb(bytes, length, 0, NULL), *text = json_object_get(saved, "text"),
		   *blobs = json_object_get(saved, "blobs"), *blob;
	size_t i;
	int rc = json_is_string(text) ? 0 : fail(error, ERROR_INPUT, "A saved plan has no text.");
	if (!rc)
		rc = event_plan(run->events, stage->position, index, json_string_value(text),
			json_string_length(text), json_object_get(saved, "figures"), error);
	json_array_foreach(blobs, i, blob)
	{
		const char *hex = json_is_string(blob) ? json_string_value(blob) : "";
		rc = rc ? rc : send_blob(run, folder, hex, error);
	}
	json_decref(saved);
	return rc;
}

static int send_one(
	struct run *run, const struct stage *stage, int folder, size_t index, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	const char *name = arena_printf(arena, "%zu", index), *bytes;
	size_t length;
	int rc = folder_read(folder, name, most_saved_bytes, arena, &bytes, &length, error);
	return rc ? rc : send_plan(run, stage, folder, index, bytes, length, error);
}

void plans_send(struct run *run, const struct stage *stage, size_t count)
{
	struct error error = { 0 };
	cleanup_fd int temporary = folder_open(run->parts[PROGRAM_JUDGE].stage, "tmp", &error);
	cleanup_fd int folder = temporary < 0 ? -1 : folder_open(temporary, PLANS_FOLDER, &error);
	for (size_t i = 0; folder >= 0 && i < count; i++) {
		int rc = send_one(run, stage, folder, i, &error);
		if (rc && rc != ERROR_NOT_FOUND) /* a case without a plan has no file */
			log_warning("The plan of case %zu could not be read: %s", i, error.text);
	}
}
