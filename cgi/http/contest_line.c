#include "cgi/http/contest_line.h"

#include "cgi/http/kept_answer.h"
#include "lib/base/format.h"

#include <stdatomic.h>

static const struct column LINE_COLUMNS[] = {
	TEXT(struct contest_line, name),
	TEXT(struct contest_line, title),
	TIME(struct contest_line, starts_at_ms),
	TIME(struct contest_line, ends_at_ms),
};
static const struct statement LINE = SELECT(struct contest_line, LINE_COLUMNS,
	"SELECT n.name, n.title, n.starts_at AS starts_at_ms, n.ends_at AS ends_at_ms "
	"FROM (SELECT id FROM contests LIMIT 1) any_contest LEFT JOIN contests n ON n.id = "
	"(SELECT c.id FROM contests c WHERE c.ends_at > UTC_TIMESTAMP(3) "
	"ORDER BY GREATEST(c.starts_at, UTC_TIMESTAMP(3)), c.ends_at, c.id LIMIT 1)");
static struct kept_answer line_kept = KEPT_ANSWER(&LINE, "", 0);

const struct contest_line *contest_line_read(struct database *db, struct arena *arena)
{
	enum { pause_ms = 5000 };
	/* Pages that need no database must not wait for one that is away. */
	static _Atomic int64_t failed_at_ms;
	struct database_answer answer;
	struct error unsaid = { 0 };
	if (!db || now_ms() - atomic_load(&failed_at_ms) < pause_ms)
		return NULL;
	if (kept_answer_read(db, arena, &line_kept, &answer, &unsaid)) {
		atomic_store(&failed_at_ms, now_ms());
		return NULL;
	}
	return answer.count ? answer.rows : NULL;
}
