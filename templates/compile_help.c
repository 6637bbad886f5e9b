/* Renders pages of docs/ as HTML for the site's help, when Podium is built.
 *
 *	help-compile OUT.c NAME...
 *
 * docs/README.md becomes the list of pages at /help, and docs/NAME.md becomes /help/NAME. OUT.c
 * defines help_pages and help_files (cgi/page/help.h). Links between these pages lead to their
 * addresses on the site. Files that a page links are embedded. A link
 * to another page, to a missing heading or to a missing file is an error, so the build fails. Only
 * the list of pages may name other pages, and its items about them are left out. */
#include "cgi/render/markdown.h"
#include "lib/base/arena.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

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
	return arena_printf(compiler.arena, "/help/%s", file);
}

static const char *address_of(void *context, const char *address)
{
	(void)context;
	const char *fragment = strchr(address, '#');
	size_t length = fragment ? (size_t)(fragment - address) : strlen(address);
	if (strstr(address, "://") || compiler.reads_headings)
		return address;
	const struct document *document = compiler.current;
	if (length > 3 && strncmp(address + length - 3, ".md", 3) == 0)
		document = find_document(address, length - 3);
	else if (length)
		return file_address(address);
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
		if (document->headings[i].level == 2) {
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
		cleanup_buffer struct buffer html = { 0 };
		render_document(document, &html);
		fprintf(out, "\t{\n\t\t.name = \"%s\",\n\t\t.title = ", i ? document->name : "");
		print_literal(out, document->title ? document->title : "");
		fprintf(out, ",\n\t\t.html = ");
		print_literal(out, buffer_string(&html));
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
			compiler.files[i], type_of(compiler.files[i]), i, i);
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
