/* Versions of a leaderboard's task, stored in the tables task_versions and task_files, and drafts
 * of a version.
 *
 * The parts that a run depends on never change within a version. Another file, case, limit or
 * harness makes a new version with its own ranking. Other parts can change in place, which
 * increments `revision`: the description, templates, samples, formulas, proposed GPUs and the text
 * of task.yml.
 *
 * Each version has an engine (table task_engines). A dry run may store another engine for a single
 * GPU model. */
#ifndef PODIUM_LIB_TASK_VERSION_H
#define PODIUM_LIB_TASK_VERSION_H

#include "lib/database/blob.h"
#include "lib/database/database.h"
#include "lib/task/task.h"

/* A task that is ready to be stored. Lives in the arena; the bytes belong to the upload and the
 * stock. */
struct task_draft {
	const struct task *task;
	const char *definition; /* JSON */
	struct task_content *contents;
	size_t content_count;
	unsigned char (*hashes)[sha256_bytes]; /* one for each content */
};

int task_draft_make(struct arena *arena, const struct task *task, const struct fileset *upload,
	const struct fileset *stock, struct task_draft *draft, struct error *error);

/* A hexadecimal digest of everything that a draft would store. */
const char *task_draft_digest(struct arena *arena, const struct task_draft *draft);

enum task_difference { TASK_IS_THE_SAME, TASK_READS_DIFFERENTLY, TASK_RUNS_DIFFERENTLY };

struct task_comparison {
	enum task_difference difference;
	/* the differing parts, for sentences: "tests", "eval.py", "old.py (removed)" */
	const char **parts;
	size_t part_count;
};

/* Compares the draft with a stored version. */
int task_draft_compare(struct database *db, struct arena *arena, const struct task_draft *draft,
	int64_t version_id, struct task_comparison *comparison, struct error *error);

/* Lists the parts for use in a sentence: "tests, eval.py and 3 more". */
const char *task_comparison_words(struct arena *arena, const struct task_comparison *comparison);

/* Stores the draft as the leaderboard's next version, with the engine that its files decide, in the
 * caller's transaction. `created_by` may be SQL_NULL_INTEGER. */
int task_draft_insert(struct database *db, const struct task_draft *draft, int64_t leaderboard_id,
	int64_t created_by, int64_t *version_id, struct error *error);

/* Reads the engines of a version. The first row has "" as `gpu` and is for all models without a row
 * of their own. A sealed version also has a row for the CPU from the start. Count 0: an older
 * podium-web has stored the version, and `podium-admin migrate` has not run since. */
struct task_engine_row {
	const char *gpu, *engine, *reason;
};
int task_engines_read(struct database *db, struct arena *arena, int64_t version_id,
	struct task_engine_row **rows, size_t *count, struct error *error);

/* Chooses and stores the engine of versions that have none, because an older Podium stored them.
 * Skips a version whose definition cannot be read. */
int task_engines_decide(struct database *db, struct error *error);

/* Call this in the transaction that finishes a job. If it belongs to a dry run, stores the
 * version's engine for the job's GPU model: the weakest engine that a job of this dry run needed on
 * the model, where `custom` is weaker than `isolated` and `isolated` weaker than `sealed`.
 *
 * - A job that fell back to `custom` counts whatever its verdict: the task's data cannot leave the
 *   judge, and no submission can cause that.
 * - A job that fell back to `isolated` counts only if it passed and was not expected to fail. A
 *   wrong sample may fail to be recorded, and says nothing about right answers.
 * - The second job of the reference, which runs in `isolated` for comparison, never counts.
 *
 * Does nothing if the files chose `custom`, if no job has passed in mode ranked and none fell back,
 * or if the GPU's ranking has results of another engine. */
int task_engine_tried(struct database *db, int64_t job_id, struct error *error);

/* Replaces the parts that no run depends on, in the caller's transaction. The other parts must
 * not differ. Deletes the baselines of changed files. `by` becomes the version's creator unless
 * it is SQL_NULL_INTEGER. */
int task_draft_rewrite(struct database *db, struct arena *arena, const struct task_draft *draft,
	int64_t version_id, int64_t by, struct error *error);

#endif
