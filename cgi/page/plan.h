/* Plans of the sealed engine as pages and programs show them: read from plans.nodes, which the
 * worker made (worker/plan_store.h). A registered host may have written anything there, so a plan
 * that is not as described is left out. Texts come from submissions. */
#ifndef PODIUM_CGI_PAGE_PLAN_H
#define PODIUM_CGI_PAGE_PLAN_H

#include "cgi/render/timeline.h"
#include "lib/database/database.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Unknown figures are SQL_NULL_INTEGER or NAN, unknown texts NULL. */
struct plan_node_row {
	const char *kind;  /* "kernel", "memset", "copy" or "empty" */
	const char *name;  /* of a kernel, as its compiler wrote it */
	const char *label; /* a short name for people, never NULL */
	int64_t grid[3], block[3], cluster[3];
	int64_t registers, local_bytes, shared_bytes, static_shared_bytes;
	int64_t blocks_per_sm, warps_per_sm_most;
	double bytes;                    /* that a memset or copy writes */
	double begin_ns, end_ns, gap_ns; /* gap_ns: nothing ran for so long before it began */
};

/* The rows of the statements below. */
struct plan_row {
	int64_t id, stage_id, case_index, submission_id, size;
	int64_t number; /* of the case, as in struct case_row */
	const char *stage, *gpu;
	const char *spec;   /* of the case; NULL: it has no result */
	const char *sha256; /* of the text, in hexadecimal */
	const char *nodes;  /* JSON; NULL: too long for a page */
};

struct plan_view {
	const struct plan_row *row;
	/* In the plan's order. count 0: too long for a page, which has at most plan_most_nodes. */
	const struct plan_node_row *nodes;
	size_t count, kernels;
	double call_ns;               /* until the last one ended; NAN: unknown */
	const struct plan_view *best; /* of the author's best submission, for the same case; or NULL */
};

enum { plan_most_rows = 2000 }; /* nodes of all plans on a page */

/* The plans of a submission's jobs, and those of its author's best submission where that is another
 * one. Both bind the submission's ID. The second also binds the viewer's users.id, and has rows
 * only for the author. */
extern const struct statement plans_of_submission, plans_of_best;

/* Reads the rows into views, as many nodes as `most` allows; their order stays the same. */
struct plan_view *plan_read_rows(
	struct arena *arena, const struct plan_row *rows, size_t count, size_t most);

/* Sets `best` of each plan that has one. */
void plan_join_best(
	struct plan_view *plans, size_t count, struct plan_view *best, size_t best_count);

/* Warps on an SM in percent of the most that fit; NAN: unknown. */
double plan_occupancy(const struct plan_node_row *node);

/* Static and dynamic shared memory of a block in bytes; SQL_NULL_INTEGER: not a kernel. */
int64_t plan_shared(const struct plan_node_row *node);

/* "8 × 2" for 8, 2, 1. */
const char *plan_three(struct arena *arena, const int64_t *three);

/* "12.3 %", "" if the number is not finite. */
const char *plan_percent(struct arena *arena, double percent);

/* "3 kernels, 1 memset" */
const char *plan_words(struct arena *arena, const struct plan_view *plan);

/* The nodes whose times are known; count 0: none. */
struct timeline plan_timeline(struct arena *arena, const struct plan_view *plan);

/* What changed since the best submission's plan, by kernel. */
struct plan_change {
	const char *kind; /* "new", "gone" or "changed" */
	const struct plan_node_row *node;
	const char *words; /* what is different; "" for the others */
};
size_t plan_compare(
	struct arena *arena, const struct plan_view *plan, struct plan_change **changes);

/* For programs; `plan` may be NULL. */
json_t *plan_json(const struct plan_view *plan);

#endif
