/* The archive: archived leaderboards with their results. */
#include "cgi/page/home.h"
#include "cgi/page/pages.h"
#include "lib/leaderboard/visibility.h"
#include "templates/publishing.h"

static const struct column ARCHIVE_COLUMNS[] = {
	TEXT(struct archive_row, name),
	TEXT(struct archive_row, language),
	TIME(struct archive_row, deadline_ms),
	TIME(struct archive_row, archived_at_ms),
};
static const struct statement ARCHIVE = SELECT(struct archive_row, ARCHIVE_COLUMNS,
	"SELECT l.name, v.language, l.deadline AS deadline_ms, l.archived_at AS archived_at_ms "
	"FROM leaderboards l JOIN task_versions v ON v.id = l.task_version_id "
	"WHERE l.archived_at IS NOT NULL AND " SQL_MAY_SEE("l") " ORDER BY l.archived_at DESC, l.name");

int page_archive(struct request *request)
{
	struct archive_row *rows;
	size_t count;
	int rc = database_rows(request->db, request->arena, &ARCHIVE, &rows, &count, request->error,
		"i", request->viewer.id);
	if (rc)
		return rc;
	struct page page = page_make(request, "Archive", "leaderboards");
	archive_page(&request->body, &page, rows, count);
	request->may_be_cached = true;
	return 0;
}
