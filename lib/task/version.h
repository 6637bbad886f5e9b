/* A version of a leaderboard's task, as the tables task_versions and task_files keep it, and drafts
 * of one.
 *
 * What runs never changes within a version: another file, case, limit or harness makes another
 * version, which has a ranking of its own. What is only read (the description, templates, samples,
 * formulas, the GPUs that the author proposes, the text of task.yml) can be rewritten in place;
 * `revision` then counts one up. */
#ifndef PODIUM_LIB_TASK_VERSION_H
#define PODIUM_LIB_TASK_VERSION_H

#include "lib/blob.h"
#include "lib/database.h"
#include "lib/task.h"

/* A task that is ready to be stored. Lives in the arena; the bytes are those of the upload and the
 * stock. */
struct task_draft {
	const struct task *task;
	const char *definition; /* JSON */
	struct task_content *contents;
	size_t content_count;
	unsigned char (*hashes)[sha256_bytes]; /* of the contents */
};

int task_draft_make(struct arena *arena, const struct task *task, const struct fileset *upload,
	const struct fileset *stock, struct task_draft *draft, struct error *error);

/* A digest of all that a draft would store, in hexadecimal. */
const char *task_draft_digest(struct arena *arena, const struct task_draft *draft);

enum task_difference { TASK_IS_THE_SAME, TASK_READS_DIFFERENTLY, TASK_RUNS_DIFFERENTLY };

struct task_comparison {
	enum task_difference difference;
	const char **parts;
	size_t part_count; /* what differs, for sentences: "tests", "eval.py", "old.py (removed)" */
};

/* How the draft differs from a stored version. */
int task_draft_compare(struct database *db, struct arena *arena, const struct task_draft *draft,
	int64_t version_id, struct task_comparison *comparison, struct error *error);

/* The parts as a list for a sentence: "tests, eval.py and 3 more". */
const char *task_comparison_words(struct arena *arena, const struct task_comparison *comparison);

/* Stores the draft as the leaderboard's next version; part of the caller's transaction.
 * `created_by` may be SQL_NULL_INTEGER. */
int task_draft_insert(struct database *db, const struct task_draft *draft, int64_t leaderboard_id,
	int64_t created_by, int64_t *version_id, struct error *error);

/* Replaces what is only read in a version from which the draft does not differ in what runs; part
 * of the caller's transaction. `by` becomes the version's creator, unless it is SQL_NULL_INTEGER.
 */
int task_draft_rewrite(struct database *db, struct arena *arena, const struct task_draft *draft,
	int64_t version_id, int64_t by, struct error *error);

#endif
