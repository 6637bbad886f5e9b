/* Syntax highlighting, and links to lines. The spans must cover the text, none empty and none
 * cutting a character. The page's elements must contain only the text, with uniform line ends. A
 * link must lead to a line of the code. Input: a byte for the language, then the code, which is
 * also the output that names lines. */
#include "cgi/render/highlight.h"
#include "cgi/render/line_link.h"

#include "lib/base/text.h"
#include "tests/fuzz/fuzz.h"

static void check_tokens(enum source_language language, const char *code)
{
	struct tokenizer tokenizer = { language, code, code };
	struct token token;
	size_t at = 0;
	while (token_next(&tokenizer, &token)) {
		require(token.length > 0 && token.text == code + at);
		require(text_is_utf8(token.text, token.length));
		at += token.length;
	}
	require(code[at] == '\0');
}

/* Skips an element that may occur here. A line number's text belongs to its link. */
static const char *skip_element(const char *at, int *depth)
{
	static const char number[] = "<a class=\"line-number\"";
	if (strncmp(at, number, strlen(number)) == 0)
		return strstr(at, "</a>") + strlen("</a>");
	*depth += strncmp(at, "<span class=\"", strlen("<span class=\"")) == 0 ? 1 : -1;
	require(*depth >= 0 && *depth <= 2
		&& (strncmp(at, "<span ", 6) == 0 || strncmp(at, "</span>", 7) == 0));
	return strchr(at, '>') + 1;
}

static char unescape(const char **at)
{
	static const struct {
		const char *entity;
		char byte;
	} entities[] = {
		{ "&amp;", '&' },
		{ "&lt;", '<' },
		{ "&gt;", '>' },
		{ "&quot;", '"' },
		{ "&#39;", '\'' },
	};
	for (size_t i = 0; i < COUNT(entities); i++)
		if (strncmp(*at, entities[i].entity, strlen(entities[i].entity)) == 0) {
			*at += strlen(entities[i].entity);
			return entities[i].byte;
		}
	require(!strchr("&<>\"'", **at));
	return *(*at)++;
}

static void check_html(const char *code, const char *file_name)
{
	cleanup_buffer struct buffer out = { 0 }, text = { 0 }, wanted = { 0 };
	int depth = 0;
	html_code(&out, code, file_name);
	for (const char *at = buffer_string(&out); *at;)
		if (*at == '<')
			at = skip_element(at, &depth);
		else
			buffer_byte(&text, unescape(&at));
	require(depth == 0);
	for (const char *at = code; *at;) {
		size_t mark = text_append_mark(&wanted, at);
		if (!mark && (*at != '\r' || at[1] != '\n'))
			buffer_byte(&wanted, *at);
		at += mark ? mark : 1;
	}
	if (wanted.length && wanted.data[wanted.length - 1] != '\n')
		buffer_byte(&wanted, '\n');
	require(strcmp(buffer_string(&text), buffer_string(&wanted)) == 0);
}

static void check_links(const char *code, const char *file_name)
{
	const struct linked_source source = line_link_source(file_name, code);
	cleanup_arena struct arena *arena = arena_new();
	cleanup_buffer struct buffer out = { 0 };
	struct line_link link;
	size_t links = 0;
	for (const char *at = code; line_link_next(&at, &source, &link); links++) {
		require(link.line >= 1 && link.line <= source.lines && link.text + link.length == at);
		require(!strchr(line_link_code(arena, &source, link.line), '\n'));
	}
	html_linked(&out, code, &source);
	for (const char *at = buffer_string(&out); (at = strstr(at, "<a href=\"#L")); at++)
		links--;
	require(links == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static const char *const names[] = { "x.txt", "x.py", "x.cu" };
	if (!length)
		return 0;
	enum source_language language = (enum source_language)(bytes[0] % COUNT(names));
	cleanup_free char *code = fuzz_string(bytes + 1, length - 1);
	if (!text_is_utf8(code, strlen(code)))
		return 0;
	check_tokens(language, code);
	check_html(code, names[language]);
	check_links(code, names[language]);
	return 0;
}
