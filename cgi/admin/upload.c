#include "cgi/admin/upload.h"

#include "lib/base/format.h"

#include <stdlib.h>
#include <string.h>

enum { kept_ms = 3600 * 1000 };

/* Deletes a creator's previous upload, and expired uploads of all. */
static const struct statement DELETE_OLD =
	COMMAND("DELETE FROM uploads WHERE creator_id = ? OR expires_at < UTC_TIMESTAMP(3)");
static const struct statement INSERT_UPLOAD =
	COMMAND("INSERT INTO uploads (creator_id, file_name, content, expires_at) "
			"VALUES (?, LEFT(?, 255), ?, ?)");
static const struct column UPLOAD_COLUMNS[] = {
	INTEGER(struct kept_upload, id),
	TIME(struct kept_upload, expires_at_ms),
	TEXT(struct kept_upload, file_name),
	BLOB(struct kept_upload, content),
};
static const struct statement UPLOAD_OF = SELECT(struct kept_upload, UPLOAD_COLUMNS,
	"SELECT id, expires_at AS expires_at_ms, file_name, content FROM uploads "
	"WHERE id = ? AND creator_id = ? AND expires_at > UTC_TIMESTAMP(3)");

struct storing {
	int64_t creator_id;
	struct kept_upload *kept;
};

static int store_upload(struct database *db, void *context, struct error *error)
{
	const struct storing *storing = context;
	struct kept_upload *kept = storing->kept;
	int rc = database_execute(db, &DELETE_OLD, error, "i", storing->creator_id);
	if (!rc)
		rc = database_execute(db, &INSERT_UPLOAD, error, "isbt", storing->creator_id,
			kept->file_name, kept->content.bytes, kept->content.length, kept->expires_at_ms);
	kept->id = (int64_t)database_insert_id(db);
	return rc;
}

int upload_keep(struct request *request, const char *file_name, const void *bytes, size_t length,
	struct kept_upload *kept)
{
	struct storing storing = { request->viewer.id, kept };
	*kept = (struct kept_upload){
		.expires_at_ms = now_ms() + kept_ms, .file_name = file_name, .content = { bytes, length }
	};
	return database_transaction(request->db, store_upload, &storing, request->error);
}

int upload_find(struct request *request, const char *number, struct kept_upload *kept)
{
	size_t length = strlen(number);
	bool is_number = length && length <= 18 && strspn(number, "0123456789") == length;
	int rc = is_number ? database_row(request->db, request->arena, &UPLOAD_OF, kept, request->error,
				 "ii", strtoll(number, NULL, 10), request->viewer.id)
					   : ERROR_NOT_FOUND;
	return rc == ERROR_NOT_FOUND ? fail(request->error, rc,
			   "This upload is gone. Podium keeps an upload for an hour, and until your next one. "
			   "Upload the file again.")
								 : rc;
}
