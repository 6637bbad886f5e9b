/* Compiles a template into one C function per {{template}} block; templates/README.md describes the
 * language.
 *
 *	template-compile IN.html OUT.c OUT.h
 *
 * The compiler tracks the HTML byte by byte, because the context of an expression decides its
 * escaping. It rejects expressions in contexts that it cannot escape safely. */
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum place {
	IN_TEXT,
	IN_TAG_NAME, /* after "<": no expression here */
	IN_TAG,      /* between attributes */
	IN_ATTRIBUTE_NAME,
	BEFORE_VALUE, /* after "=": only a quote may follow */
	IN_VALUE,
	IN_COMMENT,
	IN_RAW_TEXT, /* inside <script> or <style>, which must be empty */
};

struct html {
	enum place place;
	char quote;
	char tag[32]; /* name of the tag being read */
	char attribute[32];
	bool value_begun; /* the attribute's value has bytes already */
	bool closing;     /* reading an end tag */
	int verbatim;     /* depth inside <pre> and <textarea>, which keep white space */
};

enum { most_depth = 32 };
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct compiler {
	const char *path;
	/* The compiler removes these files after an error, so that make does not take them for
	 * finished. */
	const char *outputs[2];
	char *text;
	size_t at;
	int line;
	FILE *source, *header;
	struct html html;
	bool in_template;
	int depth;
	struct html opened[most_depth]; /* HTML state at the start of each block */
	char *literal;
	size_t literal_length;
	int literal_line;
	char last; /* last literal byte that was kept */
};

static void refuse_template(const struct compiler *c, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));
static void refuse_template(const struct compiler *c, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fprintf(stderr, "%s:%d: ", c->path, c->line);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	for (size_t i = 0; i < COUNT(c->outputs); i++)
		remove(c->outputs[i]);
	exit(1);
}

/* ---- tracking the HTML ---- */

static void append_name(char name[static 32], char byte)
{
	size_t length = strlen(name);
	if (length < 31) {
		name[length] = (char)tolower((unsigned char)byte);
		name[length + 1] = '\0';
	}
}

static bool is_verbatim(const char *tag)
{
	return strcmp(tag, "pre") == 0 || strcmp(tag, "textarea") == 0;
}

static void end_tag_text(struct html *h)
{
	if (is_verbatim(h->tag))
		h->verbatim += h->closing ? -1 : 1;
	bool raw = !h->closing && (strcmp(h->tag, "script") == 0 || strcmp(h->tag, "style") == 0);
	h->place = raw ? IN_RAW_TEXT : IN_TEXT;
}

static void open_tag(struct compiler *c, const char *next)
{
	struct html *h = &c->html;
	if (strncmp(next, "!--", 3) == 0) {
		h->place = IN_COMMENT;
		return;
	}
	if (!isalpha((unsigned char)*next) && *next != '/' && *next != '!')
		refuse_template(c, "\"<\" begins no element; write &lt;");
	h->place = IN_TAG_NAME;
	h->closing = next[0] == '/';
	h->tag[0] = '\0';
}

static void step_in_tag(struct compiler *c, char byte)
{
	struct html *h = &c->html;
	if (byte == '>') {
		end_tag_text(h);
	} else if (byte == '=') {
		h->place = BEFORE_VALUE;
	} else if (isspace((unsigned char)byte)) {
		h->place = IN_TAG;
	} else if (byte != '/') {
		if (h->place != IN_ATTRIBUTE_NAME)
			h->attribute[0] = '\0';
		h->place = IN_ATTRIBUTE_NAME;
		append_name(h->attribute, byte);
	}
}

static void step_html(struct compiler *c, const char *at)
{
	struct html *h = &c->html;
	char byte = *at;
	switch (h->place) {
	case IN_TEXT:
		if (byte == '<')
			open_tag(c, at + 1);
		break;
	case IN_RAW_TEXT:
		if (byte == '<' && at[1] == '/')
			open_tag(c, at + 1);
		else if (!isspace((unsigned char)byte))
			refuse_template(c, "<%s> must be empty: put scripts and styles into files", h->tag);
		break;
	case IN_COMMENT:
		if (byte == '>' && at[-1] == '-' && at[-2] == '-')
			h->place = IN_TEXT;
		break;
	case IN_TAG_NAME:
		if (byte == '>' || isspace((unsigned char)byte)) {
			h->place = IN_TAG;
			step_in_tag(c, byte);
		} else if (byte != '/') {
			append_name(h->tag, byte);
		}
		break;
	case IN_TAG:
	case IN_ATTRIBUTE_NAME: step_in_tag(c, byte); break;
	case BEFORE_VALUE:
		if (byte != '"' && byte != '\'')
			refuse_template(c, "the value of %s must be in quotes", h->attribute);
		h->quote = byte;
		h->value_begun = false;
		h->place = IN_VALUE;
		break;
	case IN_VALUE:
		if (byte == h->quote)
			h->place = IN_TAG;
		else
			h->value_begun = true;
		break;
	}
}

/* ---- literal text ---- */

static void write_string(FILE *out, const char *bytes, size_t length)
{
	fputc('"', out);
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)bytes[i];
		if (byte == '"' || byte == '\\')
			fprintf(out, "\\%c", byte);
		else if (byte == '\n')
			fputs("\\n", out);
		else if (byte < 0x20 || byte >= 0x7f || byte == '?')
			fprintf(out, "\\%03o", byte);
		else
			fputc(byte, out);
	}
	fputc('"', out);
}

static void flush_literal(struct compiler *c)
{
	if (!c->literal_length)
		return;
	fprintf(c->source, "#line %d \"%s\"\n\tbuffer_append(out, ", c->literal_line, c->path);
	write_string(c->source, c->literal, c->literal_length);
	fprintf(c->source, ", %zu);\n", c->literal_length);
	c->literal_length = 0;
}

/* Keeps a literal byte, except the template's indentation. */
static void keep_byte(struct compiler *c, char byte)
{
	bool line_begins = c->last == '\n' || c->last == '\0';
	if (!c->html.verbatim && line_begins && isspace((unsigned char)byte))
		return;
	if (!c->literal_length)
		c->literal_line = c->line;
	c->literal[c->literal_length++] = byte;
	c->last = byte;
}

static void literal_byte(struct compiler *c)
{
	char byte = c->text[c->at];
	if (!c->in_template) {
		if (!isspace((unsigned char)byte))
			refuse_template(c, "text outside a {{template}} block");
	} else {
		keep_byte(c, byte);
		step_html(c, c->text + c->at);
	}
	if (byte == '\n')
		c->line++;
	c->at++;
}

/* ---- commands ---- */

static char *trimmed_text(char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	size_t length = strlen(text);
	while (length && isspace((unsigned char)text[length - 1]))
		text[--length] = '\0';
	return text;
}

static void write_statement(struct compiler *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void write_statement(struct compiler *c, const char *format, ...)
{
	flush_literal(c);
	fprintf(c->source, "#line %d \"%s\"\n\t", c->line, c->path);
	va_list arguments;
	va_start(arguments, format);
	vfprintf(c->source, format, arguments);
	va_end(arguments);
	fputc('\n', c->source);
}

/* Returns where a block ends. In `<input{{if x}} checked{{end}}>` it ends after an attribute's
 * name, which counts as between attributes. */
static enum place block_place(const struct html *h)
{
	return h->place == IN_ATTRIBUTE_NAME ? IN_TAG : h->place;
}

/* Whether the HTML after a block means the same with and without the block. */
static bool same_place(const struct html *a, const struct html *b)
{
	if (block_place(a) != block_place(b) || a->verbatim != b->verbatim)
		return false;
	bool in_tag = a->place != IN_TEXT && a->place != IN_COMMENT;
	if (in_tag && (strcmp(a->tag, b->tag) != 0 || a->closing != b->closing))
		return false;
	return a->place != IN_VALUE
		|| (a->quote == b->quote && strcmp(a->attribute, b->attribute) == 0);
}

static void open_block(struct compiler *c, const char *keyword, const char *condition)
{
	if (c->depth == most_depth)
		refuse_template(c, "blocks are nested too deeply");
	write_statement(c, "%s (%s) {", keyword, condition);
	if (c->html.place == IN_TAG_NAME && c->html.tag[0])
		c->html.place = IN_TAG; /* `<details{{if x}} open{{end}}>`: the tag name ends */
	c->opened[c->depth++] = c->html;
}

static void next_branch(struct compiler *c, const char *code)
{
	if (!c->depth)
		refuse_template(c, "{{else}} without {{if}}");
	if (!same_place(&c->html, &c->opened[c->depth - 1]))
		refuse_template(
			c, "a branch must end where it began: inside the same tag, attribute or text");
	write_statement(c, "%s", code);
	c->html = c->opened[c->depth - 1];
}

static void end_block(struct compiler *c)
{
	if (!c->depth) {
		if (!c->in_template)
			refuse_template(c, "{{end}} without a block");
		if (c->html.place != IN_TEXT)
			refuse_template(c, "the template ends inside a tag");
		write_statement(c, "}");
		c->in_template = false;
		return;
	}
	if (!same_place(&c->html, &c->opened[c->depth - 1]))
		refuse_template(
			c, "a block must end where it began: inside the same tag, attribute or text");
	write_statement(c, "}");
	c->depth--;
	/* The block may be skipped at run time, so its bytes do not begin the attribute's value. */
	c->html.value_begun = c->opened[c->depth].value_begun;
}

static void begin_template(struct compiler *c, char *signature)
{
	char *parenthesis = strchr(signature, '(');
	if (c->in_template || !parenthesis)
		refuse_template(c, "expected {{template NAME(PARAMETERS)}} outside of another template");
	*parenthesis = '\0';
	char *parameters = trimmed_text(parenthesis + 1);
	bool none = *parameters == ')';
	fprintf(c->header, "void %s(struct buffer *out%s%s;\n", trimmed_text(signature),
		none ? "" : ", ", parameters);
	fprintf(c->source, "#line %d \"%s\"\nvoid %s(struct buffer *out%s%s\n{\n", c->line, c->path,
		trimmed_text(signature), none ? "" : ", ", parameters);
	memset(&c->html, 0, sizeof c->html);
	c->in_template = true;
	c->last = '\0';
}

static void call_template(struct compiler *c, char *call)
{
	char *parenthesis = strchr(call, '(');
	if (!parenthesis || c->html.place != IN_TEXT)
		refuse_template(c, "expected {{call NAME(ARGUMENTS)}} between tags");
	*parenthesis = '\0';
	char *arguments = trimmed_text(parenthesis + 1);
	write_statement(c, "%s(out%s%s;", trimmed_text(call), *arguments == ')' ? "" : ", ", arguments);
}

enum attribute_kind { ORDINARY, ADDRESS, REFUSED };

/* Returns what an attribute accepts. Attributes that are not listed accept any text. */
static enum attribute_kind kind_of(const char *name)
{
	static const struct {
		const char *name;
		enum attribute_kind kind;
	} listed[] = {
		{ "href", ADDRESS },
		{ "xlink:href", ADDRESS },
		{ "src", ADDRESS },
		{ "action", ADDRESS },
		{ "formaction", ADDRESS },
		{ "poster", ADDRESS },
		{ "cite", ADDRESS },
		{ "data", ADDRESS },
		{ "style", REFUSED },
		{ "srcdoc", REFUSED },
		{ "srcset", REFUSED },
		{ "ping", REFUSED },
		{ "http-equiv", REFUSED },
	};
	if (strncmp(name, "on", 2) == 0)
		return REFUSED;
	for (size_t i = 0; i < COUNT(listed); i++)
		if (strcmp(listed[i].name, name) == 0)
			return listed[i].kind;
	return ORDINARY;
}

/* Returns the escaping for this context, as in the function names of cgi/render/html.h. Rejects
 * contexts in which no escaping is safe. */
static const char *escape_for(const struct compiler *c, bool whole_url)
{
	const struct html *h = &c->html;
	if (h->place == IN_TEXT && !whole_url)
		return strcmp(h->tag, "textarea") == 0 && !h->closing ? "sent_back" : "text";
	if (h->place != IN_VALUE)
		refuse_template(c, "%s",
			whole_url ? "{{url}} may only be in a quoted attribute"
					  : "an expression may only be in text or in a quoted attribute");
	enum attribute_kind kind = kind_of(h->attribute);
	if (kind == REFUSED)
		refuse_template(c, "the attribute %s accepts no expression", h->attribute);
	if (whole_url && (kind != ADDRESS || h->value_begun))
		refuse_template(
			c, "{{url}} gives a whole address: it must begin the value of href, src or action");
	if (kind == ADDRESS && !whole_url && !h->value_begun)
		refuse_template(c,
			"%s begins with an expression: write {{url x}} for an address of our own",
			h->attribute);
	if (strcmp(h->attribute, "value") == 0)
		return "sent_back";
	return whole_url ? "url" : kind == ADDRESS ? "url_part" : "attribute";
}

/* Whether the filter prints elements. Such filters only work in text. */
static bool prints_elements(const char *filter)
{
	static const char *const names[] = { "time", "samples", "timeline", "code", "code_of",
		"linked" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(filter, names[i]) == 0)
			return true;
	return false;
}

/* Returns the filter's name, which follows a single '|' at the end of an expression, or NULL
 * without a filter. */
static char *find_filter(char *expression)
{
	char *bar = strrchr(expression, '|');
	if (!bar || bar == expression || bar[-1] == '|' || !isspace((unsigned char)bar[1]))
		return NULL;
	char *name = trimmed_text(bar + 1);
	for (const char *letter = name; *letter; letter++)
		if (!islower((unsigned char)*letter) && *letter != '_')
			return NULL;
	*bar = '\0';
	return name;
}

static void write_expression(struct compiler *c, char *expression, bool whole_url)
{
	const char *escape = escape_for(c, whole_url);
	char *filter = find_filter(expression);
	if (filter && (strcmp(escape, "url") == 0 || strcmp(escape, "url_part") == 0))
		refuse_template(c, "an address accepts no filter");
	if (filter && c->html.place != IN_TEXT && prints_elements(filter))
		refuse_template(c, "the filter %s prints elements, so it may only be in text", filter);
	if (filter)
		write_statement(c, "html_%s(out, %s);", filter, trimmed_text(expression));
	else if (whole_url)
		write_statement(c, "html_url(out, %s);", expression);
	else
		write_statement(c, "html_auto_%s(out, %s);", escape, expression);
	c->last = 'x';
	c->html.value_begun = true;
}

static void write_raw(struct compiler *c, const char *expression)
{
	if (c->html.place != IN_TEXT)
		refuse_template(c, "{{raw}} may only be in text");
	write_statement(c, "buffer_text(out, %s);", expression);
	c->last = 'x';
}

static char *after_word(char *command, const char *word)
{
	size_t length = strlen(word);
	if (strncmp(command, word, length) != 0
		|| (command[length] && !isspace((unsigned char)command[length])))
		return NULL;
	return trimmed_text(command + length);
}

static void run_command(struct compiler *c, char *command)
{
	char *rest;
	if (*command == '#')
		return;
	if ((rest = after_word(command, "include"))) {
		fprintf(c->header, "#include %s\n", rest);
		return;
	}
	if ((rest = after_word(command, "template"))) {
		begin_template(c, rest);
		return;
	}
	if (!c->in_template)
		refuse_template(c, "{{%s}} outside a {{template}} block", command);
	if ((rest = after_word(command, "if")))
		open_block(c, "if", rest);
	else if ((rest = after_word(command, "for")))
		open_block(c, "for", rest);
	else if ((rest = after_word(command, "elif"))) {
		char *branch = malloc(strlen(rest) + 32);
		sprintf(branch, "} else if (%s) {", rest);
		next_branch(c, branch);
		free(branch);
	} else if (strcmp(command, "else") == 0)
		next_branch(c, "} else {");
	else if (strcmp(command, "end") == 0)
		end_block(c);
	else if ((rest = after_word(command, "let")))
		write_statement(c, "%s;", rest);
	else if ((rest = after_word(command, "call")))
		call_template(c, rest);
	else if ((rest = after_word(command, "raw")))
		write_raw(c, rest);
	else if ((rest = after_word(command, "url")))
		write_expression(c, rest, true);
	else if (*command)
		write_expression(c, command, false);
	else
		refuse_template(c, "{{}} is empty");
}

static void read_command(struct compiler *c)
{
	char *end = strstr(c->text + c->at, "}}");
	if (!end)
		refuse_template(c, "{{ without }}");
	*end = '\0';
	char *inside = c->text + c->at + 2;
	int lines = 0;
	for (const char *byte = inside; *byte; byte++)
		lines += *byte == '\n';
	run_command(c, trimmed_text(inside));
	c->line += lines;
	c->at = (size_t)(end + 2 - c->text);
}

static void compile_template(struct compiler *c)
{
	size_t length = strlen(c->text);
	c->literal = malloc(length + 1);
	c->line = 1;
	while (c->at < length) {
		if (c->text[c->at] == '{' && c->text[c->at + 1] == '{')
			read_command(c);
		else
			literal_byte(c);
	}
	if (c->in_template)
		refuse_template(c, "the last {{template}} has no {{end}}");
	free(c->literal);
}

static char *read_whole(const char *path)
{
	FILE *file = fopen(path, "r");
	if (!file || fseek(file, 0, SEEK_END)) {
		perror(path);
		exit(1);
	}
	size_t size = (size_t)ftell(file);
	rewind(file);
	char *text = calloc(1, size + 2);
	if (!text || fread(text, 1, size, file) != size || memchr(text, '\0', size)) {
		fprintf(stderr, "%s: cannot be read as text\n", path);
		exit(1);
	}
	fclose(file);
	return text;
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fputs("usage: template-compile IN.html OUT.c OUT.h\n", stderr);
		return 2;
	}
	struct compiler c = {
		.path = argv[1], .text = read_whole(argv[1]), .outputs = { argv[2], argv[3] }
	};
	c.source = fopen(argv[2], "w");
	c.header = fopen(argv[3], "w");
	if (!c.source || !c.header) {
		perror("template-compile");
		return 1;
	}
	const char *slash = strrchr(argv[3], '/');
	fprintf(
		c.header, "/* Made from %s. */\n#pragma once\n#include \"cgi/render/html.h\"\n", c.path);
	fprintf(c.source, "/* Made from %s. */\n#include \"templates/%s\"\n", c.path,
		slash ? slash + 1 : argv[3]);
	compile_template(&c);
	free(c.text);
	return fclose(c.source) || fclose(c.header) ? 1 : 0;
}
