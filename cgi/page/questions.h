/* The questions about a leaderboard, and their answers. */
#ifndef PODIUM_CGI_PAGE_QUESTIONS_H
#define PODIUM_CGI_PAGE_QUESTIONS_H

#include "cgi/page/shown_leaderboard.h"
#include "lib/question/question.h"

struct questions_view {
	struct arena *arena;
	const struct shown_leaderboard *shown;
	bool may_answer, may_ask;
	const struct question *open; /* for those who answer: all that wait for an answer */
	size_t open_count;
	const struct question *rows; /* the others, newest first */
	size_t count;
	int64_t unread; /* answers and news for the viewer (lib/news/news.h) */
	int64_t before; /* of the link to older ones; 0: none */
	/* A refused form, as typed. answer_id 0: it asked. */
	const char *text, *text_error, *answer, *answer_error;
	int64_t answer_id;
	bool for_all;
};

/* The newest question on the page whose answer the viewer has not seen; 0: there is none. */
int64_t questions_first_unseen(const struct questions_view *view);
int64_t questions_unseen(const struct questions_view *view); /* how many new answers */

/* A question or an answer, Markdown, as HTML that is safe to print. Text that would become much
 * longer is printed as it is: a page shows many texts. */
const char *question_html(struct arena *arena, const char *text);

/* Until when a form marks news as read: when its page was made, because what came later was not on
 * it. */
int64_t news_read_until(struct request *request);

/* Asks in the viewer's name, at most some times an hour. The error's field is text. */
int question_send_limited(
	struct request *request, const struct leaderboard *leaderboard, const char *text, int64_t *id);

/* Whether the viewer may answer; else ERROR_NOT_FOUND or ERROR_FORBIDDEN. */
int question_to_answer(struct request *request, int64_t id, struct question *question);

#endif
