/* Renders pages of docs/ as HTML for the site's help, when Podium is built.
 *
 *	help-compile OUT.c NAME...
 *
 * docs/README.md becomes the list of pages at /help, and docs/NAME.md becomes /help/NAME. OUT.c
 * defines help_pages and help_files (cgi/page/help.h). Links between these pages lead to their
 * addresses on the site, and a link to the page of the judge leads to the site's own. Links to
 * pages of docs/ that the site does not serve become text. Files that a page links are embedded;
 * docs/../FOLDER/FILE becomes /help/FILE. A link to a missing page, heading or file is an error, so
 * the build fails. The list of pages leaves out the items about pages that are not served.
 *
 * Tables scroll in a box, and are cards on a phone, where each cell has its column's heading.
 *
 * Readers unfold what most of them skip: the sections in FOLDS, and each call and object of the
 * API. */
#include "cgi/render/markdown.h"
#include "lib/base/arena.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <ctype.h>
#include <string.h>

enum { most_pages = 40, most_headings = 500, most_files = 20 };

struct heading {
	int level;
	const char *text, *id;
};

struct document {
	const char *name; /* "README" */
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

/* A page of docs/ that only readers of the repository see. */
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
	if (!document || (fragment && !has_heading(document, fragment + 1))) {
		complain(address, document ? "heading" : "page of the help");
		return NULL;
	}
	return arena_printf(
		compiler.arena, "%s%s", length ? path_of(document) : "", fragment ? fragment : "");
}

static bool is_served(void *context, const char *address)
{
	(void)context;
	size_t length = strcspn(address, "#");
	return length > 3 && find_document(address, length - 3);
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

static int read_text(const char *name, struct buffer *text)
{
	const char *path = arena_printf(compiler.arena, "docs/%s.md", name);
	cleanup_file FILE *file = fopen(path, "re");
	char piece[4096];
	if (!file) {
		perror(path);
		compiler.errors++;
		return -1;
	}
	for (size_t got; (got = fread(piece, 1, sizeof piece, file));)
		buffer_append(text, piece, got);
	return 0;
}

static void render_document(struct document *document, struct buffer *html)
{
	bool is_list = document == compiler.documents;
	const struct markdown_page page = {
		.address = address_of, .heading = note_heading, .item = is_list ? is_served : NULL
	};
	cleanup_buffer struct buffer text = { 0 };
	compiler.current = document;
	if (read_text(document->name, &text) == 0)
		markdown_render_page(html, buffer_string(&text), text.length, &page);
}

/* ---- tables ---- */

enum { most_columns = 12 };

/* Appends the text of a cell as the value of an attribute. */
static void append_label(struct buffer *out, const char *cell, size_t length)
{
	bool is_first = true;
	for (size_t i = 0; i < length; i++)
		if (cell[i] == '<') {
			i += strcspn(cell + i, ">");
		} else {
			buffer_byte(out, is_first ? (char)toupper((unsigned char)cell[i]) : cell[i]);
			is_first = false;
		}
}

/* Rewrites `<td ...>` of a row's cell `column`. The first cell is the row's heading. */
static void print_cell(struct buffer *out, const char *label, size_t column, bool is_number)
{
	if (column == 0) {
		buffer_text(out, "<th scope=\"row\">");
		return;
	}
	buffer_printf(out, "<td%s", is_number ? " class=\"number\"" : "");
	if (*label)
		buffer_printf(out, " data-label=\"%s\"", label);
	buffer_text(out, ">");
}

/* Tables with two columns need no labels. */
static void print_table(struct buffer *out, size_t number, const char *html, const char *end)
{
	const char *labels[most_columns];
	size_t columns = 0, column = 0;
	buffer_printf(out,
		"<div class=\"scroll\" role=\"region\" aria-label=\"Table %zu\" tabindex=\"0\">\n"
		"<table class=\"table stack\">",
		number);
	html = strchr(html, '>') + 1;
	while (html < end) {
		size_t length = strcspn(html, "<");
		buffer_append(out, html, length);
		html += length;
		size_t tag = strcspn(html, ">") + 1;
		bool is_number = strncmp(html + 3, " class=\"right\"", 14) == 0;
		if (strncmp(html, "<th", 3) == 0 && (html[3] == '>' || html[3] == ' ')) {
			cleanup_buffer struct buffer label = { 0 };
			append_label(&label, html + tag, (size_t)(strstr(html, "</th>") - html) - tag);
			if (columns < most_columns)
				labels[columns++] = arena_strdup(compiler.arena, buffer_string(&label));
			buffer_printf(out, "<th scope=\"col\"%s>", is_number ? " class=\"number\"" : "");
		} else if (strncmp(html, "<tr>", 4) == 0) {
			column = 0;
			buffer_append(out, html, tag);
		} else if (strncmp(html, "<td", 3) == 0) {
			bool is_labelled = columns > 2 && column < columns;
			print_cell(out, is_labelled ? labels[column] : "", column, is_number);
		} else if (strncmp(html, "</td>", 5) == 0) {
			buffer_text(out, column++ ? "</td>" : "</th>");
		} else {
			buffer_append(out, html, tag);
		}
		html += tag;
	}
	buffer_text(out, "</div>\n");
}

static void print_tables(struct buffer *out, const char *html)
{
	size_t number = 1;
	for (const char *table; (table = strstr(html, "<table"));) {
		const char *end = strstr(table, "</table>") + strlen("</table>");
		buffer_append(out, html, (size_t)(table - html));
		print_table(out, number++, table, end);
		html = end;
	}
	buffer_text(out, html);
}

/* ---- folds ---- */

/* How the titles of folded sections begin that the contents of a page leave out. */
static const char details[] = "Details";

/* Sections that are folded: of a page or of all, and how their titles begin. */
static const struct {
	const char *page, *title;
} FOLDS[] = {
	{ NULL, details },
	{ "popcorn", "For " },
	{ "publishing", "" },
};

static bool is_folded(const struct document *document, const char *title)
{
	if (strncmp(title, "The usual order", strlen("The usual order")) == 0)
		return false;
	for (size_t i = 0; i < COUNT(FOLDS); i++)
		if ((!FOLDS[i].page || strcmp(FOLDS[i].page, document->name) == 0)
			&& strncmp(title, FOLDS[i].title, strlen(FOLDS[i].title)) == 0)
			return true;
	return false;
}

static const char *find_heading(const char *html, bool with_third)
{
	const char *second = strstr(html, "<h2 id=");
	const char *third = with_third ? strstr(html, "<h3 id=") : NULL;
	return second && (!third || second < third) ? second : third;
}

static const char *part_between(const char *text, const char *before, const char *after)
{
	const char *from = strstr(text, before) + strlen(before);
	return arena_strndup(compiler.arena, from, (size_t)(strstr(from, after) - from));
}

/* The first sentence of a paragraph without marks; "" if there is none. */
static const char *first_sentence(const char *html)
{
	html += strspn(html, "\n");
	const char *text = strncmp(html, "<p>", 3) == 0 ? html + 3 : "";
	const char *end = strstr(text, ". ");
	return end && end < text + strcspn(text, "<")
		? arena_strndup(compiler.arena, text, (size_t)(end - text) + 1)
		: "";
}

static const char *title_of(const char *section)
{
	const char *title = part_between(strstr(section, "<a "), ">", "</a></h");
	return title + strspn(title, "\n");
}

/* A link to a section opens it, because the section's id is inside the fold. */
static void fold_section(struct buffer *out, const char *html, size_t length, bool is_call)
{
	const char *section = arena_strndup(compiler.arena, html, length);
	const char *id = part_between(section, "id=\"", "\""), *title = title_of(section);
	const char *content = strstr(section, "</a></h") + strlen("</a></h2>");
	size_t method = strcspn(title, " "); /* of "GET /api/v1"; an object has none */
	if (title[method] && title[method + 1] == '/')
		title = arena_printf(compiler.arena, "<span class=\"method\">%.*s</span> %s", (int)method,
			title, title + method + 1);
	buffer_printf(out,
		"<details%s>\n<summary><h%c>%s</h%c> <span class=\"hint\">%s</span></summary>\n"
		"<div id=\"%s\">%s</div>\n</details>\n",
		is_call ? " class=\"call\"" : "", section[2], title, section[2],
		is_call ? first_sentence(content) : "", id, content);
}

static void fold_sections(struct buffer *out, const struct document *document, const char *html)
{
	bool is_list = document == compiler.documents, is_api = strcmp(document->name, "api") == 0;
	const char *heading = find_heading(html, is_api);
	buffer_append(out, html, heading ? (size_t)(heading - html) : strlen(html));
	for (const char *next; heading; heading = next) {
		next = find_heading(heading + 1, is_api);
		size_t length = next ? (size_t)(next - heading) : strlen(heading);
		bool is_call = heading[2] == '3';
		if (is_call || is_folded(document, title_of(heading)))
			fold_section(out, heading, length, is_call);
		else
			buffer_printf(out, "%s%.*s%s", is_list ? "<section>\n" : "", (int)length, heading,
				is_list ? "</section>\n" : "");
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

/* The list of pages needs no contents. */
static void print_headings(FILE *out, const struct document *document)
{
	fprintf(out, "\t\t.headings = (const struct help_heading[]){\n");
	for (size_t i = 0; i < document->heading_count && document != compiler.documents; i++)
		if (document->headings[i].level == 2
			&& strncmp(document->headings[i].text, details, strlen(details)) != 0) {
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
		cleanup_buffer struct buffer html = { 0 }, tables = { 0 }, folded = { 0 };
		render_document(document, &html);
		print_tables(&tables, buffer_string(&html));
		fold_sections(&folded, document, buffer_string(&tables));
		fprintf(out, "\t{\n\t\t.name = \"%s\",\n\t\t.title = ", i ? document->name : "");
		print_literal(out, document->title ? document->title : "");
		fprintf(out, ",\n\t\t.html = ");
		print_literal(out, buffer_string(&folded));
		fprintf(out, ",\n");
		print_headings(out, document);
		fprintf(out, "\t},\n");
	}
	fprintf(out, "};\nconst size_t help_page_count = %zu;\n", compiler.document_count);
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
	print_files(out);
	return ferror(out) ? -1 : 0;
}

int main(int argc, char **argv)
{
	cleanup_arena struct arena *arena = arena_new();
	compiler.arena = arena;
	if (argc < 2 || argc - 1 > most_pages) {
		fputs("Usage: help-compile OUT.c NAME...\n", stderr);
		return 2;
	}
	compiler.documents[compiler.document_count++].name = "README";
	for (int i = 2; i < argc; i++)
		compiler.documents[compiler.document_count++].name = argv[i];
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
