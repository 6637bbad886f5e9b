/* Data for the form of a contest. */
#ifndef PODIUM_CGI_ADMIN_CONTEST_H
#define PODIUM_CGI_ADMIN_CONTEST_H

#include "cgi/http/paging.h"
#include "cgi/http/request.h"
#include "lib/contest/contest.h"

/* A problem, and how far its check is. */
struct contest_checked {
	const char *name;
	const char *chip, *word, *note; /* chip: its data-state in style.css */
};

struct contest_form {
	const struct contest *contest; /* NULL: a new one */
	struct contest_entrant *entrants;
	size_t entrant_count;
	struct paging paging;    /* of the entrants */
	struct request *request; /* for contest_field */
	const struct contest_settings *stored;
	const char *user, *juror; /* as typed */
	const char **problems;    /* as typed or stored */
	size_t problem_count;
	const char **offers; /* leaderboards for the choice of problems */
	size_t offer_count;
	struct contest_checked *checked;
	size_t checked_count;
	struct contest_juror *jury;
	size_t juror_count;
};

/* A field as typed, or as stored; of a new contest, as the address has it. */
const char *contest_field(const struct contest_form *form, const char *key);
const char *contest_field_error(const struct contest_form *form, const char *key);

/* Whether the form has fields for problems, and how many of them are empty. */
bool contest_has_problem_fields(const struct contest_form *form);
size_t contest_empty_fields(const struct contest_form *form);

#endif
