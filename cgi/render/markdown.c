#include "cgi/render/markdown.h"

#include "cgi/render/html.h"
#include "lib/base/markdown_size.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>
#include <ctype.h>
#include <pthread.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const EXTENSIONS[] = { "table", "strikethrough", "autolink", "tasklist" };

/* ---- links ---- */

static const char *const SCHEMES[] = { "http:", "https:", "mailto:" };

/* Accepts the schemes above and relative addresses, which have no colon before the first slash,
 * question mark or number sign (RFC 3986, section 4.2). */
static bool address_is_harmless(const char *address)
{
	for (size_t i = 0; i < COUNT(SCHEMES); i++)
		if (strncasecmp(address, SCHEMES[i], strlen(SCHEMES[i])) == 0)
			return true;
	for (const char *byte = address; *byte; byte++)
		if ((unsigned char)*byte <= 0x20 || *byte == '\\')
			return false; /* browsers drop or replace these, which changes the address */
	return address[strcspn(address, ":/?#")] != ':';
}

static cmark_node *new_text(const char *literal)
{
	cmark_node *text = cmark_node_new(CMARK_NODE_TEXT);
	cmark_node_set_literal(text, literal);
	return text;
}

/* Moves the children of `node` in front of `node`, which is then empty. */
static void unwrap_children(cmark_node *node)
{
	for (cmark_node *child; (child = cmark_node_first_child(node));)
		cmark_node_insert_before(node, child);
}

/* Links must not nest. Counts images as links, because an image becomes a link with its description
 * as text, and the description may contain a link. */
static bool is_inside_link(cmark_node *node)
{
	while ((node = cmark_node_parent(node)))
		if (cmark_node_get_type(node) == CMARK_NODE_LINK
			|| cmark_node_get_type(node) == CMARK_NODE_IMAGE)
			return true;
	return false;
}

static cmark_node *link_instead(cmark_node *node)
{
	if (!is_inside_link(node) && address_is_harmless(cmark_node_get_url(node)))
		return NULL;
	unwrap_children(node);
	return new_text("");
}

static cmark_node *image_instead(cmark_node *node)
{
	if (!cmark_node_first_child(node))
		cmark_node_append_child(node, new_text("image"));
	cmark_node *instead = link_instead(node);
	if (instead)
		return instead;
	cmark_node *link = cmark_node_new(CMARK_NODE_LINK);
	cmark_node_set_url(link, cmark_node_get_url(node));
	cmark_node_set_title(link, cmark_node_get_title(node));
	for (cmark_node *child; (child = cmark_node_first_child(node));)
		cmark_node_append_child(link, child);
	return link;
}

/* ---- raw HTML ---- */

static bool is_comment(const char *html)
{
	return strncmp(html, "<!--", 4) == 0 && text_ends_with(html, "-->");
}

static bool is_line_break(const char *html)
{
	return strcasecmp(html, "<br>") == 0 || strcasecmp(html, "<br/>") == 0
		|| strcasecmp(html, "<br />") == 0;
}

/* Replaces raw HTML by text, except <br>, for which the result NULL keeps the node. A table cell
 * cannot hold cmark's own line break, so print_tree() later prints the <br>. */
static cmark_node *inline_html_instead(cmark_node *node)
{
	const char *html = cmark_node_get_literal(node);
	if (is_line_break(html))
		return NULL;
	return new_text(is_comment(html) ? "" : html);
}

static cmark_node *html_block_instead(cmark_node *node)
{
	const char *html = cmark_node_get_literal(node);
	size_t length = strlen(html);
	while (length && isspace((unsigned char)html[length - 1]))
		length--;
	cleanup_free char *trimmed = strndup(html, length);
	cmark_node *paragraph = cmark_node_new(CMARK_NODE_PARAGRAPH);
	cmark_node_append_child(paragraph, new_text(is_comment(trimmed) ? "" : trimmed));
	return paragraph;
}

/* ---- the tree ---- */

/* Functions that make the replacement of a node, by the node's type. The result NULL keeps the
 * node. */
static const struct replacement {
	cmark_node_type type;
	cmark_node *(*make)(cmark_node *node);
} REPLACEMENTS[] = {
	{ CMARK_NODE_IMAGE, image_instead },
	{ CMARK_NODE_LINK, link_instead },
	{ CMARK_NODE_HTML_INLINE, inline_html_instead },
	{ CMARK_NODE_HTML_BLOCK, html_block_instead },
};

static bool replace_node(cmark_node *node, cmark_node_type type)
{
	const struct replacement *rule = NULL;
	for (size_t i = 0; i < COUNT(REPLACEMENTS); i++)
		if (REPLACEMENTS[i].type == type)
			rule = &REPLACEMENTS[i];
	cmark_node *instead = rule ? rule->make(node) : NULL;
	if (!instead)
		return false;
	if (!cmark_node_replace(node, instead)) {
		cmark_node_free(instead);
		cmark_node_unlink(node);
	}
	return true;
}

static void lower_heading(cmark_node *node, int top_heading)
{
	int level = cmark_node_get_heading_level(node) + top_heading - 1;
	cmark_node_set_heading_level(node, level < 6 ? level : 6);
}

/* Replaces nodes when the walk leaves them, and frees each at the next step of the walk. */
static void sanitize_nodes(cmark_node *root, int top_heading)
{
	cmark_iter *iterator = cmark_iter_new(root);
	cmark_node *gone = NULL;
	for (cmark_event_type event; (event = cmark_iter_next(iterator)) != CMARK_EVENT_DONE;) {
		if (gone)
			cmark_node_free(gone);
		gone = NULL;
		cmark_node *node = cmark_iter_get_node(iterator);
		cmark_node_type type = cmark_node_get_type(node);
		bool is_leaf = type == CMARK_NODE_HTML_INLINE || type == CMARK_NODE_HTML_BLOCK;
		if (event == CMARK_EVENT_ENTER && type == CMARK_NODE_HEADING)
			lower_heading(node, top_heading);
		else if ((event == CMARK_EVENT_EXIT || is_leaf) && replace_node(node, type))
			gone = node;
	}
	if (gone)
		cmark_node_free(gone);
	cmark_iter_free(iterator);
}

/* ---- pages of docs/ ---- */

static void append_plain_text(struct buffer *out, cmark_node *root)
{
	cmark_iter *iterator = cmark_iter_new(root);
	for (cmark_event_type event; (event = cmark_iter_next(iterator)) != CMARK_EVENT_DONE;) {
		cmark_node *node = cmark_iter_get_node(iterator);
		cmark_node_type type = cmark_node_get_type(node);
		if (event == CMARK_EVENT_ENTER && (type == CMARK_NODE_TEXT || type == CMARK_NODE_CODE))
			buffer_text(out, cmark_node_get_literal(node));
		else if (type == CMARK_NODE_SOFTBREAK)
			buffer_byte(out, ' ');
	}
	cmark_iter_free(iterator);
}

/* Appends the id that GitHub gives a heading: lower case, hyphens for spaces, and no signs. The
 * headings of docs/ have no letters beyond ASCII. */
static void append_heading_id(struct buffer *out, const char *text)
{
	for (; *text; text++)
		if (*text == ' ')
			buffer_byte(out, '-');
		else if (isalnum((unsigned char)*text) || *text == '-' || *text == '_')
			buffer_byte(out, (char)tolower((unsigned char)*text));
}

static void remove_node(cmark_node *node)
{
	cmark_node_unlink(node);
	cmark_node_free(node);
}

/* Puts a node that prints `begin` and `end` as they are in the place of `node`. A block keeps the
 * children between them. */
static void replace_by_html(
	cmark_node *node, cmark_node_type type, const struct buffer *begin, const char *end)
{
	cmark_node *html = cmark_node_new(type);
	cmark_node_set_on_enter(html, buffer_string(begin));
	cmark_node_set_on_exit(html, end);
	if (type == CMARK_NODE_CUSTOM_BLOCK)
		for (cmark_node *child; (child = cmark_node_first_child(node));)
			cmark_node_append_child(html, child);
	cmark_node_replace(node, html);
	cmark_node_free(node);
}

static void finish_heading(cmark_node *node, const struct markdown_page *page)
{
	cleanup_buffer struct buffer text = { 0 }, id = { 0 }, begin = { 0 };
	int level = cmark_node_get_heading_level(node);
	append_plain_text(&text, node);
	append_heading_id(&id, buffer_string(&text));
	if (page->heading)
		page->heading(page->context, level, buffer_string(&text), buffer_string(&id));
	if (level == 1) {
		remove_node(node);
		return;
	}
	char end[16];
	snprintf(end, sizeof end, "</a></h%d>", level);
	buffer_printf(
		&begin, "<h%d id=\"%s\"><a href=\"#%s\">", level, buffer_string(&id), buffer_string(&id));
	replace_by_html(node, CMARK_NODE_CUSTOM_BLOCK, &begin, end);
}

static void finish_link(cmark_node *node, const struct markdown_page *page)
{
	const char *address = page->address(page->context, cmark_node_get_url(node));
	if (address) {
		cmark_node_set_url(node, address);
		return;
	}
	unwrap_children(node);
	remove_node(node);
}

/* Leaves the description. */
static void finish_image(cmark_node *node, const struct markdown_page *page)
{
	(void)page;
	unwrap_children(node);
	remove_node(node);
}

static const struct finish {
	cmark_node_type type;
	void (*run)(cmark_node *node, const struct markdown_page *page);
} FINISHES[] = {
	{ CMARK_NODE_HEADING, finish_heading },
	{ CMARK_NODE_LINK, finish_link },
	{ CMARK_NODE_IMAGE, finish_image },
};

/* Runs over the nodes from the inside out. The steps free their nodes, so they run one type after
 * the other on a list that was made before. */
static void finish_nodes(cmark_node *root, const struct markdown_page *page)
{
	for (size_t i = 0; i < COUNT(FINISHES); i++) {
		cleanup_buffer struct buffer found = { 0 };
		cmark_iter *iterator = cmark_iter_new(root);
		for (cmark_event_type event; (event = cmark_iter_next(iterator)) != CMARK_EVENT_DONE;) {
			cmark_node *node = cmark_iter_get_node(iterator);
			if (event == CMARK_EVENT_EXIT && cmark_node_get_type(node) == FINISHES[i].type)
				buffer_append(&found, &node, sizeof node);
		}
		cmark_iter_free(iterator);
		cmark_node *const *nodes = (cmark_node *const *)(const void *)found.data;
		for (size_t k = 0; k < found.length / sizeof *nodes; k++)
			FINISHES[i].run(nodes[k], page);
	}
}

static const char *first_link_of(cmark_node *item)
{
	const char *address = "";
	cmark_iter *iterator = cmark_iter_new(item);
	for (cmark_event_type event; (event = cmark_iter_next(iterator)) != CMARK_EVENT_DONE;) {
		cmark_node *node = cmark_iter_get_node(iterator);
		if (!*address && event == CMARK_EVENT_ENTER && cmark_node_get_type(node) == CMARK_NODE_LINK)
			address = cmark_node_get_url(node);
	}
	cmark_iter_free(iterator);
	return address;
}

static void drop_items(cmark_node *root, const struct markdown_page *page)
{
	for (cmark_node *list = cmark_node_first_child(root), *next; list; list = next) {
		next = cmark_node_next(list);
		if (cmark_node_get_type(list) != CMARK_NODE_LIST)
			continue;
		for (cmark_node *item = cmark_node_first_child(list), *following; item; item = following) {
			following = cmark_node_next(item);
			if (!page->item(page->context, first_link_of(item)))
				remove_node(item);
		}
		cmark_node *before = cmark_node_previous(list);
		if (cmark_node_first_child(list))
			continue;
		remove_node(list);
		if (before && cmark_node_get_type(before) == CMARK_NODE_HEADING)
			remove_node(before);
	}
}

/* ---- parsing and printing ---- */

static void register_extensions(void)
{
	cmark_gfm_core_extensions_ensure_registered();
}

static cmark_parser *new_parser(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, register_extensions);
	cmark_parser *parser = cmark_parser_new(CMARK_OPT_VALIDATE_UTF8);
	for (size_t i = 0; i < COUNT(EXTENSIONS); i++)
		cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension(EXTENSIONS[i]));
	return parser;
}

/* Rewrites tags that the renderer prints. Every `<` begins a tag of the renderer, because text and
 * attributes are escaped and all raw HTML but <br> is gone. */
static const struct {
	const char *printed, *wanted;
} TAGS[] = {
	{ "<a href=", "<a rel=\"nofollow noopener\" href=" },
	{ "<!-- raw HTML omitted -->", "<br />" },
	/* Wide content scrolls; tabindex makes that possible with the keyboard. */
	{ "<pre>", "<pre tabindex=\"0\">" },
	{ "<table>", "<table tabindex=\"0\">" },
	{ "<th align=\"", "<th class=\"" },
	{ "<td align=\"", "<td class=\"" },
	{ "<input type=\"checkbox\" checked=\"\" disabled=\"\" />",
		"<input type=\"checkbox\" checked disabled aria-label=\"done\" />" },
	{ "<input type=\"checkbox\" disabled=\"\" />",
		"<input type=\"checkbox\" disabled aria-label=\"not done\" />" },
};

/* Appends what is before the next tag, with control characters as visible text. Authors can also
 * write them as entities. Returns the length of what it has read. */
static size_t append_visible(struct buffer *out, const char *html)
{
	const char *at = html;
	while (*at && *at != '<') {
		size_t mark = text_append_mark(out, at);
		if (!mark)
			buffer_byte(out, *at);
		at += mark ? mark : 1;
	}
	return (size_t)(at - html);
}

/* Links of untrusted text carry a note for search engines; the links of a page do not. */
static void print_tree(struct buffer *out, const char *html, bool is_page)
{
	while (*html) {
		html += append_visible(out, html);
		size_t tag = is_page ? 1 : 0;
		while (
			tag < COUNT(TAGS) && strncmp(html, TAGS[tag].printed, strlen(TAGS[tag].printed)) != 0)
			tag++;
		if (tag < COUNT(TAGS)) {
			buffer_text(out, TAGS[tag].wanted);
			html += strlen(TAGS[tag].printed);
		} else if (*html) {
			buffer_byte(out, *html++);
		}
	}
}

static void print_plain(struct buffer *out, const char *text, size_t length)
{
	cleanup_buffer struct buffer valid = { 0 };
	text_append_valid(&valid, text, length);
	buffer_text(out, "<pre class=\"log\" tabindex=\"0\">");
	html_text(out, buffer_string(&valid));
	buffer_text(out, "</pre>\n");
}

/* Deep trees take long: a link or an image inside another one moves its children up, level by
 * level. */
static bool is_too_deep(cmark_node *root)
{
	size_t depth = 0, deepest = 0;
	cmark_iter *iterator = cmark_iter_new(root);
	for (cmark_event_type event; (event = cmark_iter_next(iterator)) != CMARK_EVENT_DONE;) {
		bool is_open = cmark_node_first_child(cmark_iter_get_node(iterator));
		depth += is_open && event == CMARK_EVENT_ENTER;
		depth -= is_open && event == CMARK_EVENT_EXIT;
		if (depth > deepest)
			deepest = depth;
	}
	cmark_iter_free(iterator);
	return deepest > 2 * markdown_most_depth;
}

static void print_page(struct buffer *out, cmark_node *root, cmark_parser *parser, int top_heading,
	const struct markdown_page *page)
{
	if (page && page->item)
		drop_items(root, page);
	if (page)
		finish_nodes(root, page);
	sanitize_nodes(root, top_heading);
	/* Without CMARK_OPT_UNSAFE, cmark drops raw HTML that sanitize_nodes() missed. */
	char *html =
		cmark_render_html(root, CMARK_OPT_DEFAULT, cmark_parser_get_syntax_extensions(parser));
	print_tree(out, html, page);
	cmark_get_default_mem_allocator()->free(html);
}

/* False: the text nests too deep, so nothing was printed. */
static bool render(struct buffer *out, const char *text, size_t length, int top_heading,
	const struct markdown_page *page)
{
	cmark_parser *parser = new_parser();
	cmark_parser_feed(parser, text, length);
	cmark_node *root = cmark_parser_finish(parser);
	bool fits = !is_too_deep(root);
	if (fits)
		print_page(out, root, parser, top_heading, page);
	cmark_node_free(root);
	cmark_parser_free(parser);
	return fits;
}

/* ---- keeping ---- */

typedef unsigned char text_hash[crypto_generichash_BYTES];

/* HTML by the hash of its text. All threads share it, under the lock. The oldest goes first. */
enum { most_kept = 64, most_kept_bytes = 8 << 20 };
static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER;
static struct kept {
	text_hash hash;
	struct buffer html;
} kept[most_kept];
static size_t kept_next, kept_bytes;

static void hash_text(text_hash hash, const char *text, size_t length, int top_heading)
{
	crypto_generichash(hash, sizeof(text_hash), (const unsigned char *)text, length, NULL, 0);
	hash[0] = (unsigned char)top_heading;
}

static bool find_kept(const text_hash hash, struct buffer *out)
{
	bool found = false;
	pthread_mutex_lock(&keeping);
	for (size_t i = 0; i < most_kept && !found; i++) {
		found = kept[i].html.data && memcmp(kept[i].hash, hash, sizeof(text_hash)) == 0;
		if (found)
			buffer_append(out, kept[i].html.data, kept[i].html.length);
	}
	pthread_mutex_unlock(&keeping);
	return found;
}

static void keep(const text_hash hash, const char *html, size_t length)
{
	pthread_mutex_lock(&keeping);
	for (size_t freed = 0; freed < most_kept; freed++) {
		struct kept *place = &kept[kept_next];
		kept_bytes -= place->html.length;
		buffer_free(&place->html);
		if (kept_bytes + length <= most_kept_bytes) {
			memcpy(place->hash, hash, sizeof(text_hash));
			buffer_append(&place->html, html, length);
			kept_bytes += length;
			freed = most_kept;
		}
		kept_next = (kept_next + 1) % most_kept;
	}
	pthread_mutex_unlock(&keeping);
}

void markdown_render(struct buffer *out, const char *text, size_t length, int top_heading)
{
	size_t before = out->length;
	text_hash hash;
	hash_text(hash, text, length, top_heading);
	if (find_kept(hash, out))
		return;
	bool fits =
		markdown_check(text, length, NULL) == 0 && render(out, text, length, top_heading, NULL);
	if (!fits || out->length - before > markdown_most_html_bytes) {
		out->length = before;
		print_plain(out, text, length);
	}
	keep(hash, buffer_string(out) + before, out->length - before);
}

void markdown_render_page(
	struct buffer *out, const char *text, size_t length, const struct markdown_page *page)
{
	render(out, text, length, 1, page);
}
