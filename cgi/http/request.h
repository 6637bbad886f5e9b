/* One request and its response, as a page's handler sees them.
 *
 * A handler reads from top to bottom: permissions (the router has checked the role), input, query,
 * render. It fills the response and returns 0, or fills `request->error` and returns a negative
 * error code. The router answers an error code with its error page (404, 403, 400, 503, ...).
 * Handlers allocate from request->arena, which is freed after the request. */
#ifndef PODIUM_CGI_HTTP_REQUEST_H
#define PODIUM_CGI_HTTP_REQUEST_H

#include "lib/account/audit.h"
#include "lib/account/user.h"
#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/base/config.h"
#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/ranking/overtaking.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct token_holder; /* cgi/action/token.h */
struct interface;    /* cgi/http/route.h */

/* Podium handles HEAD as GET and drops the response's body. Pages accept only GET and POST. */
enum method {
	METHOD_GET = 1,
	METHOD_POST = 2,
	METHOD_PUT = 4,
	METHOD_PATCH = 8,
	METHOD_DELETE = 16
};

struct field {
	const char *name, *value; /* value: valid UTF-8 without NUL */
};
struct upload {
	const char *field, *file_name;
	const char *bytes; /* may be binary */
	size_t length;
};

/* What is wrong with a field of a form. */
struct form_fault {
	const char *field; /* the input's id; "": the whole form */
	const char *sentence;
};
enum { form_most_faults = 16 };

struct viewer { /* the user who sends the request */
	int64_t id; /* 0: not logged in */
	const char *name;
	enum role role;
	bool has_role; /* on some leaderboard (lib/leaderboard/right.h) */
	bool must_change_password;
	int64_t held;             /* for admins: number of results that await review */
	const struct team *teams; /* whose member the user is (lib/account/team.h) */
	size_t team_count;
	int64_t asked_leaderboard_id, asked_author_id; /* kept by viewer_author_on; 0: none */
	const struct overtaking *overtaken;            /* newest "you were overtaken" notice, or NULL */
	bool in_contests;         /* in a team, or in a contest that is not final; false with a token */
	const char *news_contest; /* with unread news (lib/news/news.h); NULL: none */
	/* How the session was opened (NULL: an older Podium did not note it), and the second factor
	 * that confirmed it (NULL: none). */
	const char *opened_with, *factor;
	int64_t confirmed_at_ms; /* when the user last gave a factor, or logged in without one */
	bool has_factor;         /* the account has a second factor */
};

/* Whether the viewer acts for an account: their own, or that of a team of theirs. For statements,
 * SQL_ACTS_FOR (lib/account/team.h) says the same. */
bool viewer_acts_for(const struct viewer *viewer, int64_t user_id);
/* The viewer's team in a contest; NULL: none. */
const struct team *viewer_team_in(const struct viewer *viewer, int64_t contest_id);

/* Somebody who gave the right password, and who must still give the second factor. Nobody is logged
 * in until then. */
struct awaited {
	int64_t user_id; /* 0: nobody */
	const char *name;
};

/* Creators, admins, and users with a role on some leaderboard: they may open the panel. */
bool viewer_is_staff(const struct viewer *viewer);

struct request {
	struct arena *arena;
	const struct config *config;
	struct database *db; /* may be disconnected: statements then return ERROR_DATABASE */
	struct error *error;
	enum method method;
	bool is_head;
	const char *path;         /* percent-decoded, "/leaderboard/x"; NULL: not printable UTF-8 */
	const char *raw_path;     /* as the client sent it */
	const char *query_string; /* raw, "" if none */
	const char *address;      /* the client's address, from nginx */
	const char *user_agent;
	const char *id; /* nginx's $request_id, in its access log and in our error log */
	const char *const *path_parameters; /* what `*` in the route's pattern matched, in order */
	const char *host, *origin;          /* the headers; origin may be NULL */
	bool secure;                        /* the client uses HTTPS */
	const char *cookies;                /* the header, "" if none */
	const char *(*read_header)(void *source, const char *name); /* read it with request_header */
	void *header_source;
	const struct interface *interface; /* which serves this address (cgi/http/route.h) */

	/* the undecoded body of a POST; the router decodes it into form, uploads and json */
	const char *body_type; /* Content-Type, "" if none */
	size_t body_length;
	size_t (*read_body)(void *source, char *bytes, size_t size); /* 0: the end */
	void *body_source;

	struct field *query;
	size_t query_count;
	struct field *form; /* fields of a POST body, urlencoded or multipart */
	size_t form_count;
	struct upload *uploads; /* parts of a multipart body that have a file name */
	size_t upload_count;
	/* The JSON object of an application/json body, or NULL. The router releases it. */
	json_t *json;
	/* What form_note has kept. */
	struct form_fault faults[form_most_faults];
	size_t fault_count;
	int fault_code; /* of the first one */
	struct viewer viewer;
	struct awaited awaited;
	/* What the last request left with notice_leave (cgi/http/notice.h), or NULL, and whether
	 * page_make has given it to a page. */
	const char *notice;
	bool shows_notice;
	/* The API token of the request. NULL on pages and for anonymous requests. */
	const struct token_holder *token;
	const char *csrf; /* value for a form's hidden field `csrf`; the router checks it on POST */

	/* the response */
	int status;               /* 200 unless set */
	const char *content_type; /* "text/html; charset=utf-8" unless set */
	const char *location;     /* for redirects */
	const char *disposition;  /* Content-Disposition; use response_as_text */
	bool may_be_cached;       /* nginx caches the response for 1 s if its viewer is anonymous */
	bool sets_cookie;         /* the response is for this client only */
	const char *etag;         /* with its quotes; NULL: none, so browsers store no copy */
	/* Only for /api/v1: header lines that tell how many requests are left. A response that may be
	 * cached omits them. */
	const char *limits;
	/* Only for errors of /api/v1: a problem code that is more exact than the usual one for the HTTP
	 * status, or NULL. */
	const char *problem;
	struct buffer headers; /* more header lines, each "Name: value\r\n"; use response_header */
	struct buffer body;
	/* Only for a long response; `body` then holds its first piece. Each call puts the next piece
	 * into the empty body. A body that stays empty ends the response, and an error aborts it. */
	int (*stream)(struct request *request);
	void *stream_state;
	/* ID of a submission whose events are sent after the body (cgi/popcorn/stream.h); 0: none. */
	int64_t follows;

	/* submission_status_of_waiting has found no job that waits or runs. */
	bool has_no_open_job;

	/* for the log and the metrics */
	size_t route;   /* the route's number (router_route); 0: no route matched */
	int64_t stored; /* the submission that this request stored; 0: none */
};

/* Return the value of a field, or NULL if the field is missing. For a repeated field, they return
 * the first value, and request_query_values and request_form_values return all values. */
const char *request_query(const struct request *request, const char *name);
const char *request_form(const struct request *request, const char *name);
const char *request_query_or(
	const struct request *request, const char *name, const char *otherwise);
const char *request_form_or(const struct request *request, const char *name, const char *otherwise);
size_t request_query_values(struct request *request, const char *name, const char ***values);
size_t request_form_values(struct request *request, const char *name, const char ***values);
/* The uploaded file of a form field. NULL if the field is missing or the user chose no file, for
 * which browsers send an empty name. */
const struct upload *request_upload(const struct request *request, const char *field);
/* Whether `name` is one of the `count` names, for example of the result of request_form_values. */
bool names_contain(const char *const *names, size_t count, const char *name);
bool request_form_flag(const struct request *request, const char *name); /* a checkbox is checked */

/* Returns who sends this request, for the audit log. */
struct actor actor_of(const struct request *request);

/* Returns the ID of the creator whose invite codes the viewer manages. This is the viewer's own ID,
 * or 0 for an admin, who manages the codes of all creators. */
int64_t managed_creator(const struct request *request);

/* Returns a header of the request, such as If-None-Match, or NULL if it is missing. The value is
 * unchecked input. */
const char *request_header(const struct request *request, const char *name);

/* Answers 303 See Other. Returns 0, so that handlers write `return redirect(...)`. The path begins
 * with one '/', and the caller percent-encodes its parts. A path that could lead to another host
 * becomes "/". */
int redirect(struct request *request, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Returns `path`, which may be untrusted, if a browser reads it as a path of this site; else
 * "/". */
const char *own_path(const char *path);

/* Adds a response header. Drops control characters from `value`; the caller checks untrusted
 * values. */
void response_header(struct request *request, const char *name, const char *value);

/* Sets Content-Type and Content-Disposition so that browsers show the bytes as text and never run
 * them. */
void response_as_text(struct request *request, const char *file_name, bool download);

/* Data of a page for link previews and feed readers. */
struct page_share {
	const char *description;       /* one sentence */
	const char *picture;           /* a path of this site, 1200 x 630 pixels; or NULL */
	const char *feed, *feed_title; /* a path of this site and its title; or NULL */
};

/* Data for the frame of every page: title, viewer, navigation. Templates get it as `page`. */
struct page {
	const char *title;
	/* The entry to highlight in the navigation: "leaderboards", "queue", "mine", "account", "admin"
	 * or "". */
	const char *section;
	const struct viewer *viewer;
	const char *csrf;
	const char *icon; /* the tab's icon, as a path of this site; NULL: the logo */
	const char *path;
	const char *here; /* the page's address, to which a form in the frame leads back */
	/* Where the links to log in and to register lead back: `here`, or on one of these pages where
	 * it leads itself. */
	const char *back;
	const char *theme;  /* "light", "dark" or "": the visitor's system decides */
	const char *notice; /* one sentence in a green box, or NULL */
	/* What is wrong with the form, for its error summary; the title then begins with "Error: ". */
	const struct form_fault *faults;
	size_t fault_count;
	const struct announcement *announcements;
	size_t announcement_count; /* 0 unless the handler calls announcements_read */
	int refresh_s;             /* without scripts: reload after this time; 0: never */
	/* With scripts: live.js polls the JSON at this address and replaces the page's content when the
	 * JSON changes. NULL: no polling. */
	const char *live_url;
	const struct help_heading *help_headings; /* of a page of the help, for its sidebar; or NULL */
	const char *sheet;                        /* the style sheet; NULL: the usual one */
	const char *script;             /* one more script, such as "/static/editor.js"; or NULL */
	const struct page_share *share; /* or NULL */
	bool sends_mail;                /* the site sends e-mails, so accounts may have an address */
	bool signs_in;                  /* the site has providers, so users may link accounts */
	const char *site;               /* "https://example.org", as configured */
	const struct contest_line *contests; /* cgi/http/contest_line.h; NULL: the site has none */
	int64_t now_ms;
};
bool section_is(const struct page *page, const char *section);

/* Makes `json` the response's body and releases it. Returns ERROR_SYSTEM if `json` is NULL. */
int respond_json(struct request *request, json_t *json);

/* Returns a cookie's value, or NULL. */
const char *request_cookie(const struct request *request, const char *name);

/* The cookie with the visitor's theme. nginx's cache has a page for each value
 * (packaging/nginx/http.conf). */
#define THEME_COOKIE "theme"
/* Returns "light" or "dark" for that name, and "" for the system's theme or an unknown name. */
const char *theme_of_name(const char *name);

struct page page_make(struct request *request, const char *title, const char *section);

/* Checks of a form, which report all errors together:
 *
 *	int rc = form_note(request, check_name(name, request->error));
 *	if (!rc)
 *		rc = form_note(request, check_task(task, request->error));
 *	rc = rc ? rc : form_noted(request);
 *
 * form_note keeps an error of the user's input (ERROR_INPUT, ERROR_CONFLICT) and returns 0, so that
 * the next check runs. A field keeps its first error. It returns other errors as they are.
 * form_noted returns the code of the first kept error, or 0. */
int form_note(struct request *request, int rc);
int form_noted(const struct request *request);

/* Like page_make, for a form that may be shown again: the page has the kept errors, or else the
 * request's error. */
struct page form_page_make(struct request *request, const char *title, const char *section);

/* Returns the message of a kept error, or else of the request's error, if it concerns this field;
 * else NULL. */
const char *form_error(const struct request *request, const char *field);

#endif
