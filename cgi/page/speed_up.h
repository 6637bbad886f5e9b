/* A speed-up is the time of a baseline that the task names (`podium: baselines:` in task.yml),
 * divided by another time. ?baseline=NAME chooses the baseline. The default is the first one in
 * task.yml that has a time on the GPU. */
#ifndef PODIUM_CGI_PAGE_SPEED_UP_H
#define PODIUM_CGI_PAGE_SPEED_UP_H

#include "cgi/http/request.h"
#include "cgi/page/ranking_row.h"
#include "lib/task/task.h"

#include <jansson.h>

struct speed_up {
	const struct ranking_row **baselines; /* that have a time on the GPU, in the task's order */
	size_t count;
	const struct ranking_row *baseline; /* the chosen one; NULL: it has no time, or there is none */
};

/* `rows` are the GPU's baselines of all kinds. ERROR_INPUT: the task names no such baseline. */
int speed_up_read(struct request *request, const struct task *task, const struct ranking_row *rows,
	size_t count, struct speed_up *speed_up);

/* The speed-up of a time; NAN: there is no baseline. */
double speed_up_of(const struct speed_up *speed_up, double ns);

/* Formats it: "1.93×"; "" for NAN. */
const char *speed_up_words(struct arena *arena, const struct speed_up *speed_up, double ns);

/* The baselines of the GPU as a JSON array. `gpu` may be NULL if there is none. */
json_t *speed_up_json(const struct speed_up *speed_up, const char *gpu);

#endif
