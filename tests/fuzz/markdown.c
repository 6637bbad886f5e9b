/* Markdown. A separate parser reads the HTML again: only the elements and attributes below,
 * properly nested; every & starts an entity; links go to http, https, mailto or this site. */
#include "cgi/render/markdown.h"

#include "tests/fuzz/fuzz.h"

#include <ctype.h>
#include <strings.h>

enum { deepest = 4096 };

static const struct {
	const char *name;
	bool is_void;
} ELEMENTS[] = {
	{ "p", false },
	{ "h2", false },
	{ "h3", false },
	{ "h4", false },
	{ "h5", false },
	{ "h6", false },
	{ "em", false },
	{ "strong", false },
	{ "del", false },
	{ "code", false },
	{ "pre", false },
	{ "a", false },
	{ "ul", false },
	{ "ol", false },
	{ "li", false },
	{ "blockquote", false },
	{ "table", false },
	{ "thead", false },
	{ "tbody", false },
	{ "tr", false },
	{ "th", false },
	{ "td", false },
	{ "hr", true },
	{ "br", true },
	{ "input", true },
};

static const struct {
	const char *name;
	bool is_boolean;
} ATTRIBUTES[] = {
	{ "href", false },
	{ "title", false },
	{ "rel", false },
	{ "class", false },
	{ "start", false },
	{ "type", false },
	{ "checked", true },
	{ "disabled", true },
	{ "aria-label", false },
	{ "tabindex", false },
};

struct page {
	const char *at;
	size_t depth;
	size_t stack[deepest]; /* indices into ELEMENTS */
};

static size_t read_element(struct page *page)
{
	size_t length = strcspn(page->at, " />");
	for (size_t i = 0; i < COUNT(ELEMENTS); i++)
		if (strlen(ELEMENTS[i].name) == length
			&& strncmp(ELEMENTS[i].name, page->at, length) == 0) {
			page->at += length;
			return i;
		}
	require(!"an element that descriptions have");
	return 0;
}

static void check_entity(const char *at)
{
	static const char *const entities[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&#39;", "&#x27;" };
	for (size_t i = 0; i < COUNT(entities); i++)
		if (strncmp(at, entities[i], strlen(entities[i])) == 0)
			return;
	require(!"an entity");
}

static void check_address(const char *address, size_t length)
{
	static const char *const schemes[] = { "http:", "https:", "mailto:" };
	size_t scheme = strcspn(address, ":/?#\"");
	for (size_t i = 0; i < length; i++)
		require((unsigned char)address[i] > 0x20 && address[i] != '\\');
	if (scheme >= length || address[scheme] != ':')
		return;
	for (size_t i = 0; i < COUNT(schemes); i++)
		if (strncasecmp(address, schemes[i], strlen(schemes[i])) == 0)
			return;
	require(!"a harmless scheme");
}

static void read_attribute(struct page *page)
{
	size_t name = strcspn(page->at, "=\" >/"), known = 0;
	while (known < COUNT(ATTRIBUTES)
		&& (strlen(ATTRIBUTES[known].name) != name
			|| strncmp(ATTRIBUTES[known].name, page->at, name) != 0))
		known++;
	require(known < COUNT(ATTRIBUTES));
	bool is_address = strncmp(page->at, "href", name) == 0;
	page->at += name;
	if (ATTRIBUTES[known].is_boolean)
		return;
	require(page->at[0] == '=' && page->at[1] == '"');
	page->at += 2;
	size_t length = strcspn(page->at, "\"<>");
	require(page->at[length] == '"');
	for (size_t i = 0; i < length; i++)
		if (page->at[i] == '&')
			check_entity(page->at + i);
	if (is_address)
		check_address(page->at, length);
	page->at += length + 1;
}

static void read_tag(struct page *page)
{
	bool closes = *page->at == '/';
	page->at += closes;
	size_t element = read_element(page);
	while (!closes && *page->at == ' ' && page->at[1] != '/') {
		page->at++;
		read_attribute(page);
	}
	bool is_void = !closes && strncmp(page->at, " /", 2) == 0;
	require(is_void == ELEMENTS[element].is_void);
	page->at += is_void ? 2 : 0;
	require(*page->at++ == '>');
	if (closes)
		require(page->depth && page->stack[--page->depth] == element);
	else if (!is_void) {
		require(page->depth < deepest);
		page->stack[page->depth++] = element;
	}
}

static void check_page(const char *html)
{
	struct page page = { .at = html };
	while (*page.at) {
		char byte = *page.at++;
		require(byte != '>');
		if (byte == '&')
			check_entity(page.at - 1);
		if (byte == '<')
			read_tag(&page);
	}
	require(page.depth == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	cleanup_free char *text = fuzz_string(bytes, length);
	cleanup_buffer struct buffer html = { 0 };
	markdown_render(&html, text, length, 2);
	require_text(buffer_string(&html), html.length);
	check_page(buffer_string(&html));
	return 0;
}
