/* Data for the form of a contest. */
#ifndef PODIUM_CGI_ADMIN_CONTEST_H
#define PODIUM_CGI_ADMIN_CONTEST_H

#include "cgi/http/paging.h"
#include "cgi/http/request.h"
#include "lib/contest/contest.h"

struct contest_form {
	const struct contest *contest; /* NULL: a new one */
	struct contest_entrant *entrants;
	size_t entrant_count;
	struct paging paging;          /* of the entrants */
	const struct request *request; /* for contest_field */
	const struct contest_settings *stored;
	const char *user; /* as typed */
};

/* A field as typed, or as stored; of a new contest, as the address has it. */
const char *contest_field(const struct contest_form *form, const char *key);
const char *contest_field_error(const struct contest_form *form, const char *key);

#endif
