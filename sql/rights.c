#include "sql/rights.h"

#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/base/embed.h"

#include <stdio.h>
#include <string.h>

EMBED(worker_rights, "sql/worker_rights.sql");

int rights_name_of(const char *main, rights_name name, struct error *error)
{
	static const char ending[] = "_worker";
	enum { most_bytes = 64 };
	size_t length = strlen(main);
	if (!length
		|| strspn(main, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != length
		|| length + strlen(ending) > most_bytes)
		return fail(error, ERROR_INPUT,
			"Worker accounts need a database whose name has letters, digits and _ alone, %zu at "
			"most; it is called \"%s\".",
			most_bytes - strlen(ending), main);
	snprintf(name, sizeof(rights_name), "%s%s", main, ending);
	return 0;
}

/* Database names cannot be bound as parameters, so they are inserted into the text.
 * rights_name_of has checked their characters. */
static void write_script(struct buffer *script, const char *main, const char *worker)
{
	static const struct {
		const char *word;
		size_t length;
	} words[] = { { "@main@", 6 }, { "@worker@", 8 } };
	const char *names[] = { main, worker }, *text = embedded_worker_rights;
	while (*text) {
		const char *at = strchr(text, '@');
		size_t before = at ? (size_t)(at - text) : strlen(text), word = 0;
		buffer_append(script, text, before);
		text += before;
		while (*text && word < 2 && strncmp(text, words[word].word, words[word].length) != 0)
			word++;
		if (*text && word < 2)
			buffer_printf(script, "`%s`", names[word]);
		else if (*text)
			buffer_append(script, text, 1);
		text += !*text ? 0 : word < 2 ? words[word].length : 1;
	}
}

int rights_install(struct database *db, const char *main, struct error *error)
{
	cleanup_buffer struct buffer script = { 0 };
	rights_name worker;
	int rc = rights_name_of(main, worker, error);
	if (rc)
		return rc;
	write_script(&script, main, worker);
	rc = database_script(db, buffer_string(&script), error);
	return rc ? fail_context(error,
			   "The rights of worker accounts could not be set up; podium-admin needs a user of "
			   "MariaDB that may make databases, users and roles for that")
			  : 0;
}

struct found {
	int64_t count;
};
static const struct column FOUND_COLUMNS[] = { INTEGER(struct found, count) };
static const struct statement HAS_WORKER_DATABASE = SELECT(struct found, FOUND_COLUMNS,
	"SELECT COUNT(*) AS count FROM information_schema.schemata "
	"WHERE schema_name = CONCAT(DATABASE(), '_worker')");

int rights_refresh(struct database *db, const char *main, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct found found;
	int rc = database_row(db, arena, &HAS_WORKER_DATABASE, &found, error, "");
	return rc || !found.count ? rc : rights_install(db, main, error);
}
