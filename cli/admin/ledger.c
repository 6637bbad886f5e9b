#include "cli/admin/ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* mariadb-dump writes each row on a separate line, and newlines in values as \n. The beginning of a
 * line therefore says what the line is. */
static const char CREATE[] = "CREATE TABLE `", INSERT[] = "INSERT INTO `",
				  POSITION[] = "-- CHANGE MASTER TO MASTER_LOG_FILE='";

void ledger_begin(struct ledger *ledger)
{
	memset(ledger, 0, sizeof *ledger);
}

static bool is_row(const struct ledger *ledger)
{
	return ledger->line_bytes && ledger->line[0] == '(';
}

static struct ledger_table *last_table(struct ledger *ledger)
{
	return ledger->count ? &ledger->tables[ledger->count - 1] : NULL;
}

static void end_table(struct ledger *ledger)
{
	unsigned char digest[crypto_hash_sha256_BYTES];
	struct ledger_table *table = last_table(ledger);
	if (!table)
		return;
	crypto_hash_sha256_final(&ledger->hash, digest);
	sodium_bin2hex(table->sha256, sizeof table->sha256, digest, sizeof digest);
	ledger->rows += table->rows;
}

static void begin_table(struct ledger *ledger, const char *name)
{
	end_table(ledger);
	crypto_hash_sha256_init(&ledger->hash);
	if (ledger->count == ledger_most_tables)
		return; /* ledger_compare will find different tables */
	struct ledger_table *table = &ledger->tables[ledger->count++];
	snprintf(table->name, sizeof table->name, "%.*s", (int)strcspn(name, "`"), name);
}

static void note_binary_log(struct ledger *ledger, const char *file)
{
	const char *position = strstr(file, "MASTER_LOG_POS=");
	snprintf(ledger->binary_log, sizeof ledger->binary_log, "%.*s", (int)strcspn(file, "'"), file);
	ledger->binary_log_position =
		position ? strtoll(position + strlen("MASTER_LOG_POS="), NULL, 10) : 0;
}

static bool line_begins_with(const struct ledger *ledger, const char *words)
{
	return strncmp(ledger->line, words, strlen(words)) == 0;
}

/* Counts a statement's bytes from its INSERT to the line that ends with a semicolon. */
static void count_statement(struct ledger *ledger)
{
	if (line_begins_with(ledger, INSERT))
		ledger->statement_bytes = 0;
	ledger->statement_bytes += ledger->line_bytes;
	if (ledger->last == ';' && ledger->statement_bytes > ledger->longest_statement_bytes)
		ledger->longest_statement_bytes = ledger->statement_bytes;
}

static void end_line(struct ledger *ledger)
{
	char *line = ledger->line;
	line[ledger->line_bytes < sizeof ledger->line ? ledger->line_bytes : sizeof ledger->line - 1] =
		'\0';
	count_statement(ledger);
	ledger->has_inline_rows |= line_begins_with(ledger, INSERT) && ledger->last != 'S';
	if (is_row(ledger)) {
		if (last_table(ledger))
			last_table(ledger)->rows++;
	} else if (line_begins_with(ledger, CREATE)) {
		begin_table(ledger, line + strlen(CREATE));
	} else if (line_begins_with(ledger, LEDGER_VIEW) && strstr(line, " VIEW `")) {
		begin_table(ledger, strstr(line, " VIEW `") + strlen(" VIEW `"));
	} else if (line_begins_with(ledger, POSITION)) {
		note_binary_log(ledger, line + strlen(POSITION));
	}
	ledger->line_bytes = 0;
	ledger->last = '\0';
}

/* Hashes a part of a row, always one byte behind, so that the last byte before the newline is left
 * out. That byte is a comma or a semicolon, depending on the row's place in its statement. */
static void hash_row(struct ledger *ledger, const char *bytes, size_t length)
{
	if (ledger->last)
		crypto_hash_sha256_update(&ledger->hash, (const unsigned char *)&ledger->last, 1);
	crypto_hash_sha256_update(&ledger->hash, (const unsigned char *)bytes, length - 1);
}

static void add_to_line(struct ledger *ledger, const char *bytes, size_t length)
{
	if (!length)
		return;
	if (ledger->line_bytes < sizeof ledger->line - 1) {
		size_t room = sizeof ledger->line - 1 - ledger->line_bytes;
		memcpy(ledger->line + ledger->line_bytes, bytes, length < room ? length : room);
	}
	ledger->line_bytes += length;
	if (is_row(ledger))
		hash_row(ledger, bytes, length);
	ledger->last = bytes[length - 1];
}

void ledger_add(struct ledger *ledger, const char *bytes, size_t length)
{
	while (length) {
		const char *newline = memchr(bytes, '\n', length);
		size_t part = newline ? (size_t)(newline - bytes) : length;
		add_to_line(ledger, bytes, part);
		if (!newline)
			return;
		end_line(ledger);
		bytes += part + 1;
		length -= part + 1;
	}
}

void ledger_end(struct ledger *ledger)
{
	end_line(ledger);
	end_table(ledger);
}

int ledger_check(const struct ledger *ledger, struct error *error)
{
	return ledger->has_inline_rows ? fail(error, ERROR_INPUT,
			   "This mariadb-dump writes several rows on a line, so Podium cannot check them. Use "
			   "mariadb-dump of MariaDB 10.11 or newer.")
								   : 0;
}

int ledger_compare(const struct ledger *expected, const struct ledger *found, struct error *error)
{
	if (ledger_check(expected, error) || ledger_check(found, error))
		return error->code;
	for (size_t i = 0; i < expected->count && i < found->count; i++) {
		const struct ledger_table *want = &expected->tables[i], *have = &found->tables[i];
		if (strcmp(want->name, have->name) != 0)
			return fail(error, ERROR_INPUT, "The table %s is missing; %s is in its place.",
				want->name, have->name);
		if (want->rows != have->rows)
			return fail(error, ERROR_INPUT, "The table %s should have %lld rows and has %lld.",
				want->name, (long long)want->rows, (long long)have->rows);
		if (strcmp(want->sha256, have->sha256) != 0)
			return fail(error, ERROR_INPUT,
				"The table %s has the right number of rows, but their contents differ.",
				want->name);
	}
	return expected->count == found->count
		? 0
		: fail(error, ERROR_INPUT, "There should be %zu tables, but there are %zu.",
			expected->count, found->count);
}
