/* How pages describe comparisons (lib/ranking/head_to_head.h), each from the point of view of
 * one entry. */
#ifndef PODIUM_CGI_PAGE_HEAD_TO_HEAD_H
#define PODIUM_CGI_PAGE_HEAD_TO_HEAD_H

#include "lib/base/arena.h"
#include "lib/ranking/head_to_head.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct head_to_head_row {
	int64_t id;
	int64_t job_id;                      /* this entry's job */
	int64_t rival_id;                    /* the rival's submission */
	const char *rival;                   /* the rival's user */
	const char *state, *reason;          /* of the comparison's own job */
	double ratio, ratio_low, ratio_high; /* this entry's time / the rival's; NAN: no result */
	/* Who failed in the run and thereby lost: 1 this entry, -1 the rival, 0 nobody. */
	int64_t loser;
	/* Where both are ranked now; SQL_NULL_INTEGER: it is no longer its user's best. */
	int64_t place, rival_place, is_tied, rival_is_tied;
	double score_ns, score_err_ns, rival_score_ns, rival_score_err_ns;
	/* Why the entry with the worse place ranks there (ranking_reason_words). */
	const char *lower_reason, *lower_other;
};

/* SQL condition: this row of `ranking` is the user's of a row of `submissions`, and has its file.
 */
#define SQL_IS_ENTRY_OF(entry, submission, model) \
	entry ".leaderboard_id = " submission ".leaderboard_id AND " entry \
		  ".task_version_id = " submission ".task_version_id AND " entry ".gpu = " model \
		  " AND " entry ".user_id = " submission ".user_id AND (SELECT es.file_sha256 " \
		  "FROM submissions es WHERE es.id = " entry ".submission_id) = " submission \
		  ".file_sha256 "

/* Members of struct head_to_head_row that SQL_COMPARISON_RANKS selects from two rows of `ranking`.
 * The rows are NULL where a file is not its user's best. */
#define HEAD_TO_HEAD_COLUMN(kind, member) \
	{ \
#member, kind, offsetof(struct head_to_head_row, member) \
	}
#define HEAD_TO_HEAD_RANK_COLUMNS(column) \
	column(COLUMN_INTEGER, place), column(COLUMN_INTEGER, rival_place), \
		column(COLUMN_INTEGER, is_tied), column(COLUMN_INTEGER, rival_is_tied), \
		column(COLUMN_REAL, score_ns), column(COLUMN_REAL, score_err_ns), \
		column(COLUMN_REAL, rival_score_ns), column(COLUMN_REAL, rival_score_err_ns), \
		column(COLUMN_TEXT, lower_reason), column(COLUMN_TEXT, lower_other)
#define SQL_COMPARISON_RANKS(own, rival) \
	own ".place, " rival ".place AS rival_place, " own ".tied AS is_tied, " rival \
		".tied AS rival_is_tied, " own ".score_ns, " own ".score_err_ns, " rival \
		".score_ns AS rival_score_ns, " rival ".score_err_ns AS rival_score_err_ns, IF(" own \
		".place > " rival ".place, " own ".reason, " rival ".reason) AS lower_reason, " \
		"(SELECT lu.name FROM submissions ls JOIN users lu ON lu.id = ls.user_id WHERE ls.id = " \
		"IF(" own ".place > " rival ".place, " own ".other_id, " rival \
		".other_id)) AS lower_other"

/* SQL expression: the member `loser`, seen from the side "challenger" or "incumbent" of a row `c`
 * of comparisons. The challenger is the entry that requested the comparison. */
#define SQL_COMPARISON_LOSER(side) \
	"IF(c.loser IS NULL, 0, IF(c.loser = '" side "', 1, -1)) AS loser"

/* Whether the comparison is queued or running. */
bool head_to_head_is_open(const struct head_to_head_row *row);
size_t head_to_head_open_count(const struct head_to_head_row *rows, size_t count);

/* Whether the comparison has a result: a ratio, or a loser because one entry failed. */
bool head_to_head_has_result(const struct head_to_head_row *row);

/* "0.998 (0.994 to 1.003): a tie", "0.988 (0.985 to 0.991): 1.2 % faster", "lost, because it failed
 * in this run". */
const char *head_to_head_words(struct arena *arena, const struct head_to_head_row *row);

/* The same as a sentence: "dora is 1.2 % faster than ada.", "dora and ada tie.", "dora failed in
 * this run and lost.", or what the comparison does now. `worker` runs it; NULL: it has not started.
 */
const char *head_to_head_sentence(struct arena *arena, const struct head_to_head_row *row,
	const char *user, const char *worker, const char *progress);

/* "dora has rank 1, ada has rank 2."; "": one of them is not ranked. */
const char *head_to_head_ranks(
	struct arena *arena, const struct head_to_head_row *row, const char *user);

/* Why an entry does not rank where its time alone would put it (lib/ranking/order.h), as a
 * sentence: "Behind ada: slower head to head." `other` is the user whom the reason names. NULL if
 * `reason` is NULL. */
const char *ranking_reason_words(struct arena *arena, const char *reason, const char *other);

/* Says why the entry of `user` ranks behind one with which it ties: " Yet bob has the lower rank.
 * Behind ada: slower head to head." The reason is as of ranking_reason_words. */
const char *lower_rank_words(
	struct arena *arena, const char *user, const char *reason, const char *other);

/* What a result means for the two ranks, if the result does not say so itself: that it no longer
 * decides anything, or why the ranks do not follow from it. `user` is the entry's user. Returns ""
 * or a sentence that begins with a space. */
const char *head_to_head_effect(
	struct arena *arena, const struct head_to_head_row *row, const char *user);

/* Formats a ratio with four decimals: "0.9980". */
const char *head_to_head_figure(struct arena *arena, double ratio);

/* "0.9940 to 1.0030"; interval_unknown if the interval has no bounds that say anything. */
const char *head_to_head_interval(struct arena *arena, double ratio, double low, double high);

/* "CPU" or "GPU". */
const char *head_to_head_device(const char *gpu);

#endif
