/* What the pages about webhooks show. */
#ifndef PODIUM_CGI_WEBHOOKS_H
#define PODIUM_CGI_WEBHOOKS_H

#include "lib/webhook.h"

#include <stdbool.h>
#include <stddef.h>

struct webhooks_view {
	const struct leaderboard *leaderboard; /* NULL: the whole site's */
	const struct webhook *webhooks;
	size_t count;
	const char *name, *address, *form;
	int64_t events; /* of the new one, as typed */
	const char *name_error, *address_error, *form_error, *event_error,
		*refusal; /* sentences, or NULL */
};

struct webhook_view {
	const struct webhook *webhook;
	const char *address; /* as much of it as is shown */
	const struct webhook_delivery *deliveries;
	size_t count;
	int64_t kept_days;  /* of deliveries; 0: for ever */
	int64_t older;      /* ?before= of the next page; 0: there is none */
	const char *secret; /* this once; or NULL */
	const char *name;
	int64_t events;                                 /* as typed */
	const char *name_error, *event_error, *refusal; /* sentences, or NULL */
	bool is_waiting; /* a delivery is about to be made: the page looks again by itself */
};

#endif
