/* Data for the pages about webhooks. */
#ifndef PODIUM_CGI_ADMIN_WEBHOOKS_H
#define PODIUM_CGI_ADMIN_WEBHOOKS_H

#include "cgi/http/request.h"
#include "lib/webhook/webhook.h"

#include <stdbool.h>
#include <stddef.h>

struct webhooks_view {
	const struct leaderboard *leaderboard; /* NULL: webhooks of the whole site */
	const struct webhook *webhooks;
	size_t count;
	/* The new webhook, as typed. */
	const char *name, *address, *form;
	int64_t events;
	/* Messages, or NULL. */
	const char *name_error, *address_error, *form_error, *event_error;
};

struct webhook_view {
	const struct webhook *webhook;
	const char *address; /* the part of the URL that the page shows */
	const struct webhook_delivery *deliveries;
	size_t count;
	int64_t kept_days;  /* days for which deliveries are kept; 0: no limit */
	int64_t older;      /* ?before= of the next page; 0: there is no next page */
	const char *secret; /* shown only once; or NULL */
	/* The form's fields, as typed. */
	const char *name;
	int64_t events;
	const char *name_error, *event_error; /* messages, or NULL */
	bool is_waiting; /* a delivery is due or being sent, so the page refreshes automatically */
};

/* Finds a webhook that the viewer may change. Admins may change all webhooks, creators the webhooks
 * of their leaderboards. ERROR_NOT_FOUND for any other webhook. */
int webhook_of_viewer(struct request *request, int64_t id, struct webhook *webhook);

#endif
