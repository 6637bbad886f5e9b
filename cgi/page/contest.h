/* Data for the pages of contests. */
#ifndef PODIUM_CGI_PAGE_CONTEST_H
#define PODIUM_CGI_PAGE_CONTEST_H

#include "cgi/http/paging.h"
#include "cgi/http/request.h"
#include "lib/contest/contest.h"
#include "lib/contest/standings.h"
#include "lib/news/news.h"

struct contest_view {
	struct contest contest;
	const char *state; /* contest_state */
	int64_t freezes_at_ms;
	bool is_frozen;
	int64_t next_ms; /* the next start, freeze or end; TIME_NULL: none is to come */
	bool is_managed; /* by the viewer */
	bool reads_all;  /* the viewer may read all results of all problems, also during the freeze */
	bool has_board;  /* the contest has started, so there is a scoreboard */
	const char *rules_html;
	struct contest_problem *problems;
	size_t problem_count;
	bool sees_problems; /* the viewer sees one of them, perhaps before the start */
	struct standings standings;
	const char *subpage;     /* the end of its address: "" or "/unfrozen" */
	struct paging paging;    /* of the scoreboard */
	const struct team *team; /* the viewer's team in the contest; NULL: none */
	struct news_view *news;  /* answers for everybody and announcements, newest first */
	size_t news_count, news_unread;
	const char *code, *code_error; /* of the form for the registration */
};

struct news_view {
	const struct news_item *item;
	const char *question_html, *html; /* NULL: an announcement */
};

/* The reveal after `step` steps: each puts one contestant in the final place, the last one first.
 */
struct reveal_view {
	struct contest contest;
	int64_t step, last_step;
	struct standings shown, final; /* frozen, and without the freeze */
	/* For each row of `shown`: it has not been revealed yet. */
	bool *waits;
	size_t left_out;       /* contestants without a place that the page only counts */
	size_t first_revealed; /* the first row of `final` that is revealed */
};

/* Reads the contest in the address, and whether the viewer manages it: its creator and admins. */
int contest_of_request(struct request *request, struct contest *contest);
bool contest_is_managed_by(const struct contest *contest, const struct viewer *viewer);
/* Like contest_of_request, and ERROR_FORBIDDEN for everybody else. */
int contest_of_manager(struct request *request, struct contest *contest);

/* Registers the viewer or their team (contest_register). Limits their wrong codes. */
int contest_enter(struct request *request, const struct contest *contest, const char *code);

/* How long it is until then: "2 hours 5 minutes". */
const char *contest_time_left(struct arena *arena, int64_t at_ms, int64_t now_ms);
/* The same as whole seconds, for countdown.js. */
int64_t contest_seconds_left(int64_t at_ms, int64_t now_ms);

/* The scoring in a few words. */
const char *scoring_words(const struct contest *contest);

int64_t contest_hidden_problems(const struct contest_view *view);
/* The first row from `from` on from which all rows before `to` have no points; `to` if these are
 * few, or if no row has points. */
size_t standings_first_without_points(const struct standings *standings, size_t from, size_t to);

/* Reads the standings of the contest in the address. Before the start this is ERROR_NOT_FOUND: the
 * columns would name the problems. */
int standings_of_request(
	struct request *request, struct contest *contest, struct standings *standings);

/* The rows from `first` up to `end` in JSON, without the names and results of problems that the
 * reader may not see. */
json_t *standings_json(const struct contest *contest, const struct standings *standings,
	size_t first, size_t end, int64_t now_ms);

#endif
