/* One request and its response, as a page's handler sees them.
 *
 * A handler reads from top to bottom: who may (the route table has checked the role already),
 * input, query, render. It returns 0 after it has filled the response, or a negative error code
 * with `request->error` filled; then the router answers with the error page of that code (404, 403,
 * 400, 503, ...). What a handler allocates comes from request->arena and dies with the request. */
#ifndef PODIUM_CGI_REQUEST_H
#define PODIUM_CGI_REQUEST_H

#include "lib/arena.h"
#include "lib/buffer.h"
#include "lib/config.h"
#include "lib/database.h"
#include "lib/error.h"
#include "lib/overtaking.h"
#include "lib/user.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct token_holder; /* lib/token.h */
struct interface;    /* cgi/router.h */

/* HEAD arrives as GET, its body is dropped. Pages know GET and POST only. */
enum method {
	METHOD_GET = 1,
	METHOD_POST = 2,
	METHOD_PUT = 4,
	METHOD_PATCH = 8,
	METHOD_DELETE = 16
};

struct field {
	const char *name, *value;
}; /* value: valid UTF-8 without NUL */
struct upload {
	const char *field, *file_name;
	const char *bytes;
	size_t length;
}; /* bytes: anything */

struct viewer { /* who asks */
	int64_t id; /* 0: nobody is logged in */
	const char *name;
	enum role role;
	bool must_change_password;
	int64_t held;                       /* results that wait for an admin, if this is one */
	const struct overtaking *overtaken; /* by whom, to be told on this page; NULL: by nobody */
	const char *here; /* the address of this page, to come back to when that is dismissed */
};

struct request {
	struct arena *arena;
	const struct config *config;
	struct database *db; /* may have lost its server: statements then fail with ERROR_DATABASE */
	struct error *error;
	enum method method;
	bool is_head;
	const char *path;         /* decoded, "/leaderboard/x" */
	const char *query_string; /* raw, "" if none */
	const char *address;      /* of the client, as nginx says */
	const char *user_agent;
	const char *id; /* nginx's $request_id: in its access log, and in ours beside errors */
	const char *const *path_parameters; /* what `*` in the route's pattern matched, in order */
	const char *host, *origin;          /* the headers; origin may be NULL */
	bool secure;                        /* came over HTTPS */
	const char *cookies;                /* the header, "" if none */
	const char *(*read_header)(void *source, const char *name); /* use request_header */
	void *header_source;
	const struct interface *interface; /* of which of them the address is (cgi/router.h) */

	/* the body of a POST, before the router has read it into form, uploads and json */
	const char *body_type; /* Content-Type, "" if none */
	size_t body_length;
	size_t (*read_body)(void *source, char *bytes, size_t size); /* 0: the end */
	void *body_source;

	struct field *query;
	size_t query_count;
	struct field *form;
	size_t form_count; /* of a POST, urlencoded or multipart */
	struct upload *uploads;
	size_t upload_count; /* multipart parts with a file name */
	json_t *
		json; /* the object that came as application/json, NULL if none; the router gives it back */
	struct viewer viewer;
	const struct token_holder
		*token;       /* by which a program is known; NULL in pages, and without one */
	const char *csrf; /* token for hidden fields named `csrf`; the router has checked it on POST */

	/* the response */
	int status;               /* 200 unless set */
	const char *content_type; /* "text/html; charset=utf-8" unless set */
	const char *location;     /* for redirects */
	const char *disposition;  /* Content-Disposition; use response_as_text */
	bool may_be_cached;       /* anonymous GET pages: nginx keeps them for 1 s */
	bool sets_cookie;         /* then nobody else may be given this answer */
	const char *etag;         /* with its quotes; NULL: none, and nobody may keep the answer */
	const char *limits; /* of /api/v1: header lines that say how many requests are left; never in an
	                       answer for everybody */
	const char *problem;   /* of an error in /api/v1: a word for it that is more exact than the
	                          code's; NULL: there is none */
	struct buffer headers; /* further header lines, each "Name: value\r\n"; use response_header */
	struct buffer body;
	/* Of a long answer the body holds the first piece only. Each call puts the next one into the
	 * empty body, nothing at the end. An error that it returns ends the answer in the middle. */
	int (*stream)(struct request *request);
	void *stream_state;
	int64_t follows; /* a submission, whose events go on behind the body (cgi/stream.h); 0: none */

	/* for the log and the figures */
	size_t route;   /* its number, see router_route; 0: none of them */
	int64_t stored; /* a submission that the request has stored; 0: none */
};

/* NULL when the field is not there. With repeated fields the first; request_values gives all. */
const char *request_query(const struct request *request, const char *name);
const char *request_form(const struct request *request, const char *name);
const char *request_form_or(const struct request *request, const char *name, const char *otherwise);
size_t request_form_values(struct request *request, const char *name, const char ***values);
/* The uploaded file of a form field; NULL when none was chosen (browsers then send an empty name).
 */
const struct upload *request_upload(const struct request *request, const char *field);
bool request_form_flag(const struct request *request, const char *name); /* a ticked box */

/* A header of the request by its name, such as If-None-Match; NULL if there is none. Hostile, as it
 * came. */
const char *request_header(const struct request *request, const char *name);

/* 303 See Other. Returns 0, so that handlers write `return redirect(...)`. The path begins with one
 * '/' and its parts are percent-encoded; one that could lead to another host leads to the front
 * page instead. */
int redirect(struct request *request, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A path that came from outside, as a browser would read it, if it is one of our own; else that of
 * the front page. */
const char *own_path(const char *path);

/* `value` must not come from outside unless it was checked for control characters; others are
 * dropped. */
void response_header(struct request *request, const char *name, const char *value);

/* The value of a cookie, NULL if there is none; and a whole one to set, "name=value; Path=/...",
 * which becomes Secure where the request was. The answer is nobody else's then. */
const char *request_cookie(const struct request *request, const char *name);
void response_cookie(struct request *request, const char *cookie);

/* Sets type and Content-Disposition so that a browser shows the bytes as text and never runs them.
 */
void response_as_text(struct request *request, const char *file_name, bool download);

/* What other programs are told of a page: programs that show a link to it, and readers of feeds. */
struct page_share {
	const char *description;       /* one sentence */
	const char *picture;           /* an address of our own, 1200 x 630 pixels; or NULL */
	const char *feed, *feed_title; /* an address of our own with what it is; or NULL */
};

/* What every page's frame needs: viewer, csrf, title, where we are. Templates take it as `page`. */
struct page {
	const char *title;
	const char *
		section; /* "leaderboards", "queue", "mine", "account", "admin", "": marks the navigation */
	const struct viewer *viewer;
	const char *csrf;
	const char *path;   /* for the login link's ?next= */
	const char *notice; /* one sentence in a green box, or NULL */
	const struct announcement *announcements;
	size_t announcement_count; /* cgi/announcement.h; none unless asked for */
	int refresh_s;             /* without scripts: reload after so many seconds; 0: never */
	const char *live_url; /* with scripts: JSON whose change means that the page changed (live.js);
	                         or NULL */
	const struct page_share *share; /* or NULL */
	const char *site;               /* "https://example.org": how people reach us, as configured */
	int64_t now_ms;
};
bool section_is(const struct page *page, const char *section);
int respond_json(struct request *request, json_t *json); /* takes the json; NULL is an error */
struct page page_make(const struct request *request, const char *title, const char *section);

/* Form state kept after an error: which field the sentence belongs to. Templates call
 * form_error(...). */
const char *form_error(
	const struct request *request, const char *field); /* the sentence, or NULL */

/* Sessions: session.c. The router recognises the visitor; account.c starts and ends sessions. */
int session_recognise(struct request *request); /* fills viewer and csrf from the cookie */
void session_offer_token(
	struct request *request);                    /* an anonymous visitor gets a token for a form */
int session_check_form(struct request *request); /* CSRF token and Origin of a POST */
/* New token, cookie, rotates. `password_hash` is what the visitor's password was compared with,
 * NULL where it was not: ERROR_CONFLICT when it is another one by now, or the account was banned or
 * deleted meanwhile. */
int session_start(struct request *request, int64_t user_id, const char *password_hash);
int session_end(struct request *request);
void session_forget(struct request *request); /* takes the cookie back, of a session that is gone */
bool session_hash(struct request *request,
	unsigned char hash[static 32]); /* what is stored of the cookie's token; false: there is none */

/* Counts a hit of `whom` against the limit; ERROR_LIMIT with a sentence once `most` within
 * `window_s` is passed. */
struct rate_limit {
	const char *what;
	int64_t most, window_s;
};
int rate_limit_hit(struct request *request, const struct rate_limit *limit, const char *whom);
/* Takes the hit back: what was done with it was right. */
int rate_limit_return(struct request *request, const struct rate_limit *limit, const char *whom);

#endif
