/* A plan as a zip: plan.json and the blobs that it needs, each under its SHA-256. */
#include "cgi/http/paging.h"
#include "cgi/page/pages.h"
#include "cgi/page/submission.h"
#include "cgi/render/zip_pack.h"
#include "lib/base/gzip.h"
#include "lib/base/scope.h"
#include "lib/database/blob.h"
#include "lib/job/job.h"
#include "lib/leaderboard/visibility.h"

#include <sodium.h>

struct case_of_plan {
	const char *gpu, *stage;
	int64_t number;
};
static const struct column PLAN_COLUMNS[] = {
	TEXT(struct case_of_plan, gpu),
	TEXT(struct case_of_plan, stage),
	INTEGER(struct case_of_plan, number),
};
#define CASE_NUMBER SQL_CASE_NUMBER("p.case_index", "t", "v")
static const struct statement PLAN = SELECT(struct case_of_plan, PLAN_COLUMNS,
	"SELECT j.gpu, t.name AS stage, " CASE_NUMBER " AS number FROM plans p "
	"JOIN stages t ON t.id = p.stage_id JOIN jobs j ON j.id = t.job_id "
	"JOIN submissions s ON s.id = j.submission_id "
	"JOIN task_versions v ON v.id = s.task_version_id "
	"JOIN leaderboards l ON l.id = s.leaderboard_id "
	"WHERE p.id = ? AND s.id = ? AND " SQL_MAY_SEE_TIMES("s", "l", "j"));

struct file_row {
	struct blob_value sha256;
	int64_t is_text, size, packed, checksum; /* without a size: the blob never came */
};
static const struct column FILE_COLUMNS[] = {
	BLOB(struct file_row, sha256),
	INTEGER(struct file_row, is_text),
	INTEGER(struct file_row, size),
	INTEGER(struct file_row, packed),
	INTEGER(struct file_row, checksum),
};
static const struct statement FILES = SELECT(struct file_row, FILE_COLUMNS,
	"SELECT u.sha256, u.sha256 = p.sha256 AS is_text, b.size, b.packed, b.checksum "
	"FROM plans p JOIN plan_uses u ON u.plan_id = p.id "
	"LEFT JOIN plan_blobs b ON b.sha256 = u.sha256 WHERE p.id = ? "
	"ORDER BY is_text DESC, u.sha256");

struct part_row {
	struct blob_value content;
};
static const struct column PART_COLUMNS[] = { BLOB(struct part_row, content) };
static const struct statement PART = SELECT(struct part_row, PART_COLUMNS,
	"SELECT content FROM plan_blob_parts WHERE sha256 = ? AND part = ?");

struct download {
	struct zip_pack zip;
	const struct file_row *files;
	size_t count, next;  /* the file that is being written */
	int64_t part, place; /* of its next part; where that part begins in its gzip */
	bool has_ended;
};

static const char *name_of(struct arena *arena, const struct file_row *file)
{
	char hex[2 * sha256_bytes + 1];
	if (file->is_text)
		return "plan.json";
	return arena_strdup(
		arena, sodium_bin2hex(hex, sizeof hex, file->sha256.bytes, file->sha256.length));
}

/* Adds the part to the zip, without the head and the tail of the gzip. */
static void add_part(
	struct download *download, const struct file_row *file, const struct blob_value *content)
{
	int64_t first = zip_pack_gzip_head_bytes - download->place,
			end = file->packed - zip_pack_gzip_tail_bytes - download->place,
			length = (int64_t)content->length;
	first = first < 0 ? 0 : first;
	end = end < length ? end : length;
	if (first < end)
		zip_pack_add(&download->zip, (const char *)content->bytes + first, (size_t)(end - first));
	download->place += length;
	download->part++;
}

static int write_part(
	struct request *request, struct download *download, const struct file_row *file)
{
	cleanup_arena struct arena *arena = arena_new();
	struct part_row part;
	if (!download->part)
		zip_pack_begin(&download->zip, name_of(arena, file),
			(uint32_t)(file->packed - zip_pack_gzip_head_bytes - zip_pack_gzip_tail_bytes),
			(uint32_t)file->size, (uint32_t)file->checksum);
	int rc = database_row(request->db, arena, &PART, &part, request->error, "bi",
		file->sha256.bytes, file->sha256.length, download->part);
	if (rc)
		return rc;
	add_part(download, file, &part.content);
	if (download->place >= file->packed) {
		download->next++;
		download->part = download->place = 0;
	}
	return 0;
}

/* Writes one part at a time, because blobs may be large. An empty body would end the response, and
 * a part may consist of a tail alone. */
static int write_more(struct request *request)
{
	struct download *download = request->stream_state;
	int rc = 0;
	while (!rc && !request->body.length && !download->has_ended) {
		const struct file_row *file = &download->files[download->next];
		download->has_ended = download->next == download->count;
		if (download->has_ended)
			zip_pack_end(&download->zip);
		else if (file->size == SQL_NULL_INTEGER)
			download->next++;
		else
			rc = write_part(request, download, file);
	}
	return rc;
}

/* A file that names the blobs that never came. */
static int write_missing(struct request *request, struct download *download)
{
	cleanup_buffer struct buffer text = { 0 }, gzip = { 0 };
	for (size_t i = 0; i < download->count; i++)
		if (download->files[i].size == SQL_NULL_INTEGER)
			buffer_printf(&text, "%s\n", name_of(request->arena, &download->files[i]));
	int rc = text.length ? gzip_pack(text.data, text.length, &gzip, request->error) : 0;
	return rc || !text.length
		? rc
		: zip_pack_gzip(&download->zip, "missing.txt", gzip.data, gzip.length, request->error);
}

int page_submission_plan(struct request *request)
{
	struct submission_row row;
	struct case_of_plan plan;
	struct download *download = arena_alloc(request->arena, sizeof *download);
	int64_t id = path_number(request, 1);
	int rc = submission_without_task(request, &row);
	if (!rc)
		rc = submission_check_source(request, &row, "The plans of a submission are");
	if (rc)
		return rc;
	rc = database_row(request->db, request->arena, &PLAN, &plan, request->error, "iii", id, row.id,
		request->viewer.id);
	if (rc)
		return rc == ERROR_NOT_FOUND ? fail(request->error, rc, "This submission has no such plan.")
									 : rc;
	*download = (struct download){ .zip = { .out = &request->body, .arena = request->arena } };
	rc = database_rows(request->db, request->arena, &FILES, &download->files, &download->count,
		request->error, "i", id);
	if (!rc)
		rc = write_missing(request, download);
	request->stream_state = download;
	if (!rc)
		rc = write_more(request);
	if (rc)
		return rc;
	response_as_text(request,
		arena_printf(request->arena, "submission-%lld-%s-%s-%lld-plan.zip", (long long)row.id,
			plan.gpu, plan.stage, (long long)plan.number),
		true);
	request->content_type = "application/zip";
	request->stream = write_more;
	return 0;
}
