/* Renders pages of docs/ as HTML for the site's help, when Podium is built.
 *
 *	help-compile OUT.c NAME...
 *
 * docs/README.md becomes the list of pages at /help, and docs/NAME.md becomes /help/NAME. The name
 * FILE:SECTION splits a long docs/FILE.md: the page /help/FILE-SECTION begins at that heading and
 * ends where the file's next page begins. SECTION has hyphens for spaces. OUT.c defines help_pages,
 * help_entries and help_files (cgi/page/help.h).
 *
 * Links between these pages lead to their addresses on the site, and links to judge.md lead to
 * /judge. Links to pages of docs/ that the site does not serve become text, and the list of pages
 * leaves out its items about such pages. Files that a page links are embedded; docs/../FOLDER/FILE
 * becomes /help/FILE. A link to a missing page, heading or file is an error, so the build fails.
 *
 * Sections that most readers skip are folded: those in FOLDS, and the API's calls and objects. */
#include "cgi/render/markdown.h"
#include "lib/base/arena.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "templates/help_markup.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { most_pages = 40, most_headings = 500, most_files = 20 };

struct heading {
	int level;
	const char *text, *id;
};

struct document {
	const char *name; /* "README" */
	/* For the page "api-contests": "api" and "contests". A page without a section has "". */
	const char *file, *section;
	const char *title;
	struct heading headings[most_headings];
	size_t heading_count;
};

static struct compiler {
	struct arena *arena;
	struct document documents[most_pages];
	size_t document_count;
	struct document *current;
	const char *files[most_files];
	size_t file_count;
	bool reads_headings; /* the first pass, which only collects headings */
	int errors;
} compiler;

static const struct {
	const char *ending, *type;
} TYPES[] = {
	{ ".yml", "text/plain; charset=utf-8" },
	{ ".py", "text/plain; charset=utf-8" },
};

static void complain(const char *address, const char *what)
{
	if (!compiler.reads_headings) {
		fprintf(stderr, "docs/%s.md: the link %s leads to no %s.\n", compiler.current->name,
			address, what);
		compiler.errors++;
	}
}

/* ---- links ---- */

static const struct document *find_document(const char *name, size_t length)
{
	for (size_t i = 0; i < compiler.document_count; i++)
		if (strlen(compiler.documents[i].name) == length
			&& strncmp(compiler.documents[i].name, name, length) == 0)
			return &compiler.documents[i];
	return NULL;
}

static bool has_heading(const struct document *document, const char *id)
{
	for (size_t i = 0; i < document->heading_count; i++)
		if (strcmp(document->headings[i].id, id) == 0)
			return true;
	return false;
}

/* The page of the same file that has the heading; NULL if none has it. */
static const struct document *find_heading_page(const struct document *document, const char *id)
{
	if (has_heading(document, id))
		return document;
	for (size_t i = 0; i < compiler.document_count; i++)
		if (strcmp(compiler.documents[i].file, document->file) == 0
			&& (has_heading(&compiler.documents[i], id)
				|| strcmp(compiler.documents[i].section, id) == 0))
			return &compiler.documents[i];
	return NULL;
}

static const char *path_of(const struct document *document)
{
	return document == compiler.documents
		? "/help"
		: arena_printf(compiler.arena, "/help/%s", document->name);
}

static const char *type_of(const char *file)
{
	for (size_t i = 0; i < COUNT(TYPES); i++)
		if (text_ends_with(file, TYPES[i].ending))
			return TYPES[i].type;
	return NULL;
}

static const char *name_of(const char *file)
{
	const char *slash = strrchr(file, '/');
	return slash ? slash + 1 : file;
}

static const char *file_address(const char *file)
{
	size_t known = 0;
	if (!type_of(file) || access(arena_printf(compiler.arena, "docs/%s", file), R_OK) != 0) {
		complain(file, "page or file of the help");
		return NULL;
	}
	while (known < compiler.file_count && strcmp(compiler.files[known], file) != 0)
		known++;
	if (known == most_files) {
		complain(file, "file, because the help has too many");
		return NULL;
	}
	if (known == compiler.file_count)
		compiler.files[compiler.file_count++] = arena_strdup(compiler.arena, file);
	return arena_printf(compiler.arena, "/help/%s", name_of(file));
}

/* Whether the address is a page of docs/ that the site does not serve. */
static bool is_elsewhere(const char *address, size_t length)
{
	const char *path = arena_printf(compiler.arena, "docs/%.*s", (int)length, address);
	return !memchr(address, '/', length) && access(path, R_OK) == 0;
}

static const char *address_of(void *context, const char *address)
{
	(void)context;
	const char *fragment = strchr(address, '#');
	size_t length = fragment ? (size_t)(fragment - address) : strlen(address);
	if (strstr(address, "://") || compiler.reads_headings)
		return address;
	const struct document *document = compiler.current;
	if (length > 3 && strncmp(address + length - 3, ".md", 3) == 0) {
		document = find_document(address, length - 3);
		if (!document && strncmp(address, "judge.md", length) == 0)
			return "/judge";
		if (!document && is_elsewhere(address, length))
			return NULL;
	} else if (length) {
		return file_address(address);
	}
	const struct document *page = document;
	if (document && fragment)
		page = find_heading_page(document, fragment + 1);
	if (!page) {
		complain(address, document ? "heading" : "page of the help");
		return NULL;
	}
	if (fragment && strcmp(page->section, fragment + 1) == 0)
		return path_of(page);
	return arena_printf(compiler.arena, "%s%s",
		length || page != compiler.current ? path_of(page) : "", fragment ? fragment : "");
}

static bool is_served(void *context, const char *address)
{
	(void)context;
	size_t length = strcspn(address, "#");
	return strcmp(address, "judge.md#the-three-engines") == 0
		|| (length > 3 && find_document(address, length - 3));
}

/* ---- pages ---- */

static void note_heading(void *context, int level, const char *text, const char *id)
{
	(void)context;
	struct document *document = compiler.current;
	if (!compiler.reads_headings)
		return;
	if (level == 1)
		document->title = arena_strdup(compiler.arena, text);
	if (has_heading(document, id) || document->heading_count == most_headings) {
		fprintf(stderr, "docs/%s.md: the heading \"%s\" is there twice, or there are too many.\n",
			document->name, text);
		compiler.errors++;
		return;
	}
	document->headings[document->heading_count++] = (struct heading){ level,
		arena_strdup(compiler.arena, text), arena_strdup(compiler.arena, id) };
}

static int read_text(const char *file, struct buffer *text)
{
	const char *path = arena_printf(compiler.arena, "docs/%s.md", file);
	cleanup_file FILE *stream = fopen(path, "re");
	char piece[4096];
	if (!stream) {
		perror(path);
		compiler.errors++;
		return -1;
	}
	for (size_t got; (got = fread(piece, 1, sizeof piece, stream));)
		buffer_append(text, piece, got);
	return 0;
}

/* The section's name in words. */
static const char *words_of(const char *section)
{
	char *words = arena_strdup(compiler.arena, section);
	for (char *hyphen = words; (hyphen = strchr(hyphen, '-'));)
		*hyphen = ' ';
	return words;
}

/* The line of a file with the heading of this section. */
static const char *find_section(const char *text, const char *section)
{
	const char *words = words_of(section);
	for (const char *line = text; (line = strstr(line, "\n## ")); line++) {
		size_t length = strcspn(line + 4, "\n");
		if (length == strlen(words) && strncasecmp(line + 4, words, length) == 0)
			return line + 1;
	}
	return NULL;
}

/* Returns the part of a file that is on the document's page. Leaves out the section's heading,
 * because the page's title says the same. */
static const char *part_of(const struct document *document, const char *text)
{
	const char *from = text, *end = NULL;
	if (*document->section) {
		from = find_section(text, document->section);
		if (!from) {
			complain(document->section, "section");
			return "";
		}
		from += strcspn(from, "\n");
	}
	for (size_t i = 0; i < compiler.document_count; i++) {
		const struct document *other = &compiler.documents[i];
		const char *at = *other->section && strcmp(other->file, document->file) == 0
			? find_section(from, other->section)
			: NULL;
		if (at && (!end || at < end))
			end = at;
	}
	return end ? arena_strndup(compiler.arena, from, (size_t)(end - from)) : from;
}

static void render_document(struct document *document, struct buffer *html)
{
	bool is_list = document == compiler.documents;
	const struct markdown_page page = {
		.address = address_of, .heading = note_heading, .item = is_list ? is_served : NULL
	};
	cleanup_buffer struct buffer text = { 0 };
	compiler.current = document;
	if (read_text(document->file, &text) == 0) {
		const char *part = part_of(document, buffer_string(&text));
		markdown_render_page(html, part, strlen(part), &page);
	}
}

/* ---- folds ---- */

/* Sections whose titles begin with this word are folded, and a page's table of contents leaves them
 * out. */
static const char details[] = "Details";

/* The folded sections: on which page (NULL: on all), the beginning of the section's title, and the
 * level of its heading. */
static const struct {
	const char *page, *title;
	char level;
} FOLDS[] = {
	{ NULL, details, '2' },
	{ "api", "Errors", '2' },
	{ "popcorn", "For ", '2' },
	{ "publishing", "", '3' },
	{ "ranking-page", "Addresses ", '2' },
	{ "terminal", "Look closer", '2' },
	{ "terminal", "Cancel ", '2' },
	{ "terminal", "Check ", '2' },
	{ "terminal", "In your shell", '2' },
};

/* The title of a page's last section, which says what to read next. */
static const char next_title[] = "Next";

static bool is_folded(const struct document *document, const char *title, char level)
{
	for (size_t i = 0; i < COUNT(FOLDS); i++)
		if ((!FOLDS[i].page || strcmp(FOLDS[i].page, document->name) == 0)
			&& FOLDS[i].level == level
			&& strncmp(title, FOLDS[i].title, strlen(FOLDS[i].title)) == 0)
			return true;
	return false;
}

static const char *find_heading(const char *html)
{
	const char *second = strstr(html, "<h2 id="), *third = strstr(html, "<h3 id=");
	return second && (!third || second < third) ? second : third;
}

static const char *part_between(const char *text, const char *before, const char *after)
{
	const char *from = strstr(text, before) + strlen(before);
	return arena_strndup(compiler.arena, from, (size_t)(strstr(from, after) - from));
}

/* The first sentence of a paragraph, without tags; "" if there is none. */
static const char *first_sentence(const char *html)
{
	cleanup_buffer struct buffer out = { 0 };
	html += strspn(html, "\n");
	if (strncmp(html, "<p>", 3) != 0)
		return "";
	bool has_ended = false;
	for (html += 3; !has_ended && strncmp(html, "</p>", 4) != 0; html++) {
		if (*html == '<')
			html = strchr(html, '>');
		else
			buffer_byte(&out, *html);
		has_ended = *html == '.' && strchr(" \n<", html[1]);
	}
	return arena_strdup(compiler.arena, buffer_string(&out));
}

static const char *title_of(const char *section)
{
	const char *title = part_between(strstr(section, "<a "), ">", "</a></h");
	return title + strspn(title, "\n");
}

/* Lines may break after each "/" of an address. */
static const char *breakable(const char *address)
{
	cleanup_buffer struct buffer out = { 0 };
	for (; *address; address++)
		if (*address == '/')
			buffer_text(&out, "/<wbr>");
		else
			buffer_byte(&out, *address);
	return arena_strdup(compiler.arena, buffer_string(&out));
}

/* Appends a folded section. The section's id is inside the fold, because browsers then unfold the
 * section when a link leads to it. */
static void fold_section(
	struct buffer *out, const char *html, size_t length, bool is_call, char level)
{
	const char *section = arena_strndup(compiler.arena, html, length);
	const char *id = part_between(section, "id=\"", "\""), *title = title_of(section);
	const char *content = strstr(section, "</a></h") + strlen("</a></h2>");
	size_t method = strcspn(title, " "); /* of "GET /api/v1"; an object has none */
	if (title[method] && title[method + 1] == '/')
		title = arena_printf(compiler.arena,
			"<span class=\"method\" data-method=\"%.*s\">%.*s</span> %s", (int)method, title,
			(int)method, title, breakable(title + method + 1));
	buffer_printf(out,
		"<details%s>\n<summary><h%c>%s</h%c> <span class=\"hint\">%s</span></summary>\n"
		"<div id=\"%s\">%s</div>\n</details>\n",
		is_call ? " class=\"call\"" : "", level, title, level,
		is_call ? first_sentence(content) : "", id, content);
}

/* Appends a section of the list of pages, and the pages of the stock harness below its page. */
static void print_list_section(struct buffer *out, const char *html, size_t length)
{
	const char *harness = strstr(html, "<li><a href=\"/help/harness\"");
	const char *end = harness ? strstr(harness, "</li>\n") : NULL;
	size_t before = end && end < html + length ? (size_t)(end - html) + strlen("</li>\n") : 0;
	buffer_printf(out, "<section>\n%.*s", (int)before, html);
	if (before)
		buffer_text(out,
			"<li><a href=\"/language/py\">Python harness</a>, "
			"<a href=\"/language/cu\">CUDA C++ harness</a>: all files of the stock "
			"harness.</li>\n");
	buffer_printf(out, "%.*s</section>\n", (int)(length - before), html + before);
}

static void print_section(struct buffer *out, const char *html, size_t length)
{
	bool is_next = strncmp(title_of(html), next_title, strlen(next_title)) == 0;
	const char *begin = is_next ? "<section class=\"panel\">\n" : "";
	buffer_printf(out, "%s%.*s%s", begin, (int)length, html, *begin ? "</section>\n" : "");
}

static void fold_sections(struct buffer *out, const struct document *document, const char *html)
{
	bool is_list = document == compiler.documents, is_api = strcmp(document->file, "api") == 0;
	const char *heading = find_heading(html);
	bool is_flat = !strstr(html, "<h2 id="); /* without h2, the calls become h2 */
	buffer_append(out, html, heading ? (size_t)(heading - html) : strlen(html));
	for (const char *next; heading; heading = next) {
		next = find_heading(heading + 1);
		size_t length = next ? (size_t)(next - heading) : strlen(heading);
		bool is_call = is_api && heading[2] == '3';
		if (is_call || is_folded(document, title_of(heading), heading[2]))
			fold_section(out, heading, length, is_call, is_flat ? '2' : heading[2]);
		else if (is_list)
			print_list_section(out, heading, length);
		else
			print_section(out, heading, length);
	}
}

/* What to read after each page of a split file. Pages whose part of the file has a section "Next"
 * are not in this table. */
static const struct {
	const char *page, *next[2];
} NEXT[] = {
	{ "api", { "api-leaderboards", "api-submissions" } },
	{ "api-leaderboards", { "api-submissions", "ranking-data" } },
	{ "api-contests", { "contests", "api-objects" } },
	{ "api-submissions", { "api-objects", "podium" } },
	{ "api-administration", { "api-objects-for-admins", "publishing" } },
	{ "api-objects", { "api-leaderboards", "api-submissions" } },
	{ "api-objects-for-admins", { "api-administration", "api-objects" } },
	{ "tasks", { "tasks-reference", "publishing" } },
};

/* Returns a page's item in the list of pages, without the end tag; "" if the list has none. */
static const char *item_of(const char *list, const char *page)
{
	const char *link = strstr(list, arena_printf(compiler.arena, "<li><a href=\"/help/%s\"", page));
	return link ? arena_strndup(compiler.arena, link, (size_t)(strstr(link, "</li>") - link)) : "";
}

/* Appends a section "Next" to the pages in NEXT. */
static void print_next(struct buffer *out, const struct document *document)
{
	cleanup_buffer struct buffer list = { 0 };
	for (size_t i = 0; i < COUNT(NEXT); i++) {
		if (strcmp(NEXT[i].page, document->name) != 0)
			continue;
		render_document(compiler.documents, &list);
		buffer_printf(out,
			"<section class=\"panel\">\n<h2 id=\"next\">Next</h2>\n<ul>\n%s</li>\n%s</li>\n"
			"</ul>\n</section>\n",
			item_of(buffer_string(&list), NEXT[i].next[0]),
			item_of(buffer_string(&list), NEXT[i].next[1]));
	}
}

/* ---- the C file ---- */

static void print_literal(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++)
		if (*text == '\n')
			fputs(text[1] ? "\\n\"\n\t\t\"" : "\\n", out);
		else if (*text == '"' || *text == '\\' || *text == '?')
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	fputc('"', out);
}

/* Prints the headings for the page's table of contents. The list of pages has no such table. */
static void print_headings(FILE *out, const struct document *document)
{
	fprintf(out, "\t\t.headings = (const struct help_heading[]){\n");
	for (size_t i = 0; i < document->heading_count && document != compiler.documents; i++)
		if (document->headings[i].level == 2
			&& strncmp(document->headings[i].text, details, strlen(details)) != 0
			&& strcmp(document->headings[i].text, next_title) != 0) {
			fprintf(out, "\t\t\t{ \"%s\", ", document->headings[i].id);
			print_literal(out, document->headings[i].text);
			fprintf(out, " },\n");
		}
	fprintf(out, "\t\t\t{ 0 } },\n");
}

static void print_pages(FILE *out)
{
	fprintf(out, "const struct help_page help_pages[] = {\n");
	for (size_t i = 0; i < compiler.document_count; i++) {
		struct document *document = &compiler.documents[i];
		cleanup_buffer struct buffer html = { 0 }, tables = { 0 }, code = { 0 }, folded = { 0 },
									 whole = { 0 };
		render_document(document, &html);
		help_tables(&tables, compiler.arena, buffer_string(&html));
		help_code(&code, buffer_string(&tables));
		fold_sections(&folded, document, buffer_string(&code));
		print_next(&folded, document);
		help_unbroken(&whole, buffer_string(&folded));
		fprintf(out, "\t{\n\t\t.name = \"%s\",\n\t\t.title = ", i ? document->name : "");
		print_literal(out, document->title ? document->title : "");
		fprintf(out, ",\n\t\t.html = ");
		print_literal(out, buffer_string(&whole));
		fprintf(out, ",\n");
		print_headings(out, document);
		fprintf(out, "\t},\n");
	}
	fprintf(out, "};\nconst size_t help_page_count = %zu;\n", compiler.document_count);
}

/* Prints the entries of the sidebar: the first link of each item in the list of pages, and the
 * title of the item's section up to a colon. */
static void print_entries(FILE *out)
{
	cleanup_buffer struct buffer list = { 0 };
	render_document(compiler.documents, &list);
	fprintf(out, "const struct help_entry help_entries[] = {\n");
	const char *group = "";
	for (const char *at = buffer_string(&list); (at = strchr(at, '<')); at++)
		if (strncmp(at, "<h2", 3) == 0) {
			const char *title = title_of(at);
			group = arena_strndup(compiler.arena, title, strcspn(title, ":<"));
		} else if (strncmp(at, "<li>", 4) == 0) {
			fprintf(out, "\t{ ");
			print_literal(out, group);
			fprintf(out, ", ");
			print_literal(out, part_between(at, "href=\"", "\""));
			fprintf(out, ", ");
			print_literal(out, part_between(strstr(at, "href="), ">", "</a>"));
			fprintf(out, " },\n");
		}
	fprintf(out, "\t{ 0 } };\n");
}

static void print_files(FILE *out)
{
	for (size_t i = 0; i < compiler.file_count; i++)
		fprintf(out, "EMBED(help_%zu, \"docs/%s\");\n", i, compiler.files[i]);
	fprintf(out, "const struct help_file help_files[] = {\n");
	for (size_t i = 0; i < compiler.file_count; i++)
		fprintf(out, "\t{ \"%s\", \"%s\", embedded_help_%zu, embedded_help_%zu_end },\n",
			name_of(compiler.files[i]), type_of(compiler.files[i]), i, i);
	fprintf(out, "\t{ 0 } };\n");
}

static int write_pages(const char *path)
{
	cleanup_file FILE *out = fopen(path, "we");
	if (!out) {
		perror(path);
		return -1;
	}
	fprintf(out, "#include \"cgi/page/help.h\"\n#include \"lib/base/embed.h\"\n\n");
	print_pages(out);
	print_entries(out);
	print_files(out);
	return ferror(out) ? -1 : 0;
}

static void add_document(const char *name)
{
	struct document *document = &compiler.documents[compiler.document_count++];
	const char *colon = strchr(name, ':');
	document->name = document->file = name;
	document->section = "";
	if (!colon)
		return;
	document->file = arena_strndup(compiler.arena, name, (size_t)(colon - name));
	document->section = colon + 1;
	document->name = arena_printf(compiler.arena, "%s-%s", document->file, document->section);
	const char *words = words_of(document->section);
	document->title = strcmp(document->file, "api") == 0
		? arena_printf(compiler.arena, "API: %s", words)
		: arena_printf(compiler.arena, "%c%s of a task", toupper((unsigned char)*words), words + 1);
}

int main(int argc, char **argv)
{
	cleanup_arena struct arena *arena = arena_new();
	compiler.arena = arena;
	if (argc < 2 || argc - 1 > most_pages) {
		fputs("Usage: help-compile OUT.c NAME...\n", stderr);
		return 2;
	}
	add_document("README");
	for (int i = 2; i < argc; i++)
		add_document(argv[i]);
	compiler.reads_headings = true;
	for (size_t i = 0; i < compiler.document_count; i++) {
		cleanup_buffer struct buffer html = { 0 };
		render_document(&compiler.documents[i], &html);
	}
	compiler.reads_headings = false;
	if (write_pages(argv[1]) || compiler.errors) {
		remove(argv[1]);
		return 1;
	}
	return 0;
}
