/* The help: pages of docs/, and the program podium for download. */
#include "cgi/page/help.h"

#include "cgi/page/pages.h"
#include "cgi/render/html.h"
#include "lib/base/embed.h"
#include "lib/base/gzip.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "templates/help.h"

#include <pthread.h>
#include <string.h>

EMBED(podium_program, PODIUM_STATIC ".gz");
EMBED(podium_sha256, PODIUM_STATIC ".sha256");

#if defined __x86_64__
#define MACHINE "x86-64"
#elif defined __aarch64__
#define MACHINE "ARM64"
#else
#define MACHINE "the kind of the site’s own machine"
#endif

enum { sha256_digits = 64, program_most_bytes = 64 * 1024 * 1024 };

/* Pages of docs/ name the site like this. */
static const char EXAMPLE_SITE[] = "https://podium.example.org";

/* A gzip ends with the length of what it contains, in little endian (RFC 1952). */
static int64_t program_bytes(void)
{
	size_t packed = (size_t)(embedded_podium_program_end - embedded_podium_program);
	int64_t length = 0;
	for (size_t i = 1; i <= 4; i++)
		length = length << 8 | (unsigned char)embedded_podium_program[packed - i];
	return length;
}

/* Returns the text with the site's own address in its examples. */
static const char *with_site(struct arena *arena, const char *text, const char *site)
{
	cleanup_buffer struct buffer out = { 0 };
	for (const char *next; (next = strstr(text, EXAMPLE_SITE));) {
		buffer_append(&out, text, (size_t)(next - text));
		buffer_text(&out, site);
		text = next + strlen(EXAMPLE_SITE);
	}
	buffer_text(&out, text);
	return arena_strdup(arena, buffer_string(&out));
}

static int show_help(struct request *request, const struct help_page *help)
{
	struct page page = page_make(request, *help->name ? help->title : "Help", "help");
	cleanup_buffer struct buffer site = { 0 };
	page.sheet = "/static/help.css";
	page.help_headings = *help->name ? help->headings : NULL;
	html_attribute(&site, page.site);
	struct help_view view = {
		.help = help,
		.html = with_site(request->arena, help->html, buffer_string(&site)),
		.has_download = strcmp(help->name, "terminal") == 0,
		.machine = MACHINE,
		.sha256 = arena_strndup(request->arena, embedded_podium_sha256, sha256_digits),
		.download_bytes = program_bytes(),
	};
	const char *fold = view.has_download ? strstr(view.html, "<details") : NULL;
	if (fold) {
		view.start = arena_strndup(request->arena, view.html, (size_t)(fold - view.html));
		view.html = fold;
	}
	help_page(&request->body, &page, &view);
	request->may_be_cached = true;
	return 0;
}

int page_help_list(struct request *request)
{
	return show_help(request, &help_pages[0]);
}

static int show_file(struct request *request, const struct help_file *file)
{
	request->content_type = file->type;
	request->may_be_cached = true;
	if (strncmp(file->type, "text/", strlen("text/")) == 0)
		buffer_text(
			&request->body, with_site(request->arena, file->bytes, request->config->public_url));
	else
		buffer_append(&request->body, file->bytes, (size_t)(file->end - file->bytes));
	return 0;
}

int page_help(struct request *request)
{
	const char *name = request->path_parameters[0];
	for (size_t i = 1; i < help_page_count; i++)
		if (strcmp(help_pages[i].name, name) == 0)
			return show_help(request, &help_pages[i]);
	for (const struct help_file *file = help_files; file->name; file++)
		if (strcmp(file->name, name) == 0)
			return show_file(request, file);
	return fail(request->error, ERROR_NOT_FOUND,
		"The help has no page %s. The page /help lists all pages.", quote(request->arena, name));
}

/* The unpacked program. Each process unpacks it once. */
static struct {
	pthread_mutex_t lock;
	struct buffer bytes;
} program = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int unpack_program(struct error *error)
{
	int rc = 0;
	pthread_mutex_lock(&program.lock);
	if (!program.bytes.length)
		rc = gzip_unpack(embedded_podium_program,
			(size_t)(embedded_podium_program_end - embedded_podium_program), program_most_bytes,
			&program.bytes, error);
	pthread_mutex_unlock(&program.lock);
	return rc;
}

int page_help_program(struct request *request)
{
	int rc = unpack_program(request->error);
	if (rc)
		return rc;
	request->content_type = "application/octet-stream";
	request->disposition = "attachment; filename=\"podium\"";
	request->may_be_cached = true;
	buffer_append(&request->body, program.bytes.data, program.bytes.length);
	return 0;
}

int page_help_sha256(struct request *request)
{
	response_as_text(request, "podium.sha256", false);
	buffer_append(&request->body, embedded_podium_sha256,
		(size_t)(embedded_podium_sha256_end - embedded_podium_sha256));
	request->may_be_cached = true;
	return 0;
}
