#include "cli/admin/ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* mariadb-dump writes newlines in values as \n, so what begins a line is no part of a value. */
static const char CREATE[] = "CREATE TABLE `", INSERT[] = "INSERT INTO `",
				  POSITION[] = "-- CHANGE MASTER TO MASTER_LOG_FILE='";

void ledger_begin(struct ledger *ledger)
{
	memset(ledger, 0, sizeof *ledger);
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
		return; /* the counts will not agree */
	struct ledger_table *table = &ledger->tables[ledger->count++];
	snprintf(table->name, sizeof table->name, "%.*s", (int)strcspn(name, "`"), name);
}

static void end_line(struct ledger *ledger)
{
	char *line = ledger->line;
	line[ledger->line_length] = '\0';
	if (strncmp(line, CREATE, strlen(CREATE)) == 0)
		begin_table(ledger, line + strlen(CREATE));
	const char *view =
		strncmp(line, LEDGER_VIEW, strlen(LEDGER_VIEW)) == 0 ? strstr(line, " VIEW `") : NULL;
	if (view)
		begin_table(ledger, view + strlen(" VIEW `"));
	if (strncmp(line, POSITION, strlen(POSITION)) == 0) {
		const char *file = line + strlen(POSITION), *position = strstr(file, "MASTER_LOG_POS=");
		snprintf(
			ledger->binary_log, sizeof ledger->binary_log, "%.*s", (int)strcspn(file, "'"), file);
		ledger->binary_log_position =
			position ? strtoll(position + strlen("MASTER_LOG_POS="), NULL, 10) : 0;
	}
	ledger->line_length = 0;
}

static void read_line(struct ledger *ledger, char byte)
{
	if (byte == '\n') {
		end_line(ledger);
		return;
	}
	if (ledger->line_length < sizeof ledger->line - 1)
		ledger->line[ledger->line_length++] = byte;
	if (ledger->line_length == strlen(INSERT)
		&& memcmp(ledger->line, INSERT, strlen(INSERT)) == 0) {
		ledger->state = LEDGER_NAME;
		ledger->statement_bytes = strlen(INSERT);
		ledger->line_length = 0;
	}
}

static void end_statement(struct ledger *ledger)
{
	if (ledger->statement_bytes > ledger->longest_statement_bytes)
		ledger->longest_statement_bytes = ledger->statement_bytes;
	ledger->state = LEDGER_LINE;
}

/* Whether the byte ends a row. */
static int read_value(struct ledger *ledger, char byte)
{
	switch (byte) {
	case '\'': ledger->state = LEDGER_STRING; break;
	case '(': ledger->depth++; break;
	case ')': return --ledger->depth == 0;
	case ';':
		if (ledger->depth == 0)
			end_statement(ledger);
	}
	return 0;
}

void ledger_add(struct ledger *ledger, const char *bytes, size_t length)
{
	size_t from = 0; /* of what belongs to the row that is read */
	for (size_t i = 0; i < length; i++) {
		char byte = bytes[i];
		ledger->statement_bytes++;
		switch (ledger->state) {
		case LEDGER_LINE: read_line(ledger, byte); break;
		case LEDGER_NAME:
			if (byte == '`')
				ledger->state = LEDGER_VALUES;
			break;
		case LEDGER_STRING:
			if (byte == '\\')
				ledger->state = LEDGER_ESCAPE;
			else if (byte == '\'')
				ledger->state = LEDGER_VALUES;
			break;
		case LEDGER_ESCAPE: ledger->state = LEDGER_STRING; break;
		case LEDGER_VALUES:
			if (byte == '(' && ledger->depth == 0)
				from = i;
			if (read_value(ledger, byte)) {
				crypto_hash_sha256_update(
					&ledger->hash, (const unsigned char *)bytes + from, i + 1 - from);
				if (last_table(ledger))
					last_table(ledger)->rows++;
			}
		}
	}
	if (ledger->depth > 0)
		crypto_hash_sha256_update(
			&ledger->hash, (const unsigned char *)bytes + from, length - from);
}

void ledger_end(struct ledger *ledger)
{
	end_line(ledger);
	end_table(ledger);
}

int ledger_compare(const struct ledger *expected, const struct ledger *found, struct error *error)
{
	for (size_t i = 0; i < expected->count && i < found->count; i++) {
		const struct ledger_table *want = &expected->tables[i], *have = &found->tables[i];
		if (strcmp(want->name, have->name) != 0)
			return fail(error, ERROR_INPUT, "Where the table %s should be, there is %s.",
				want->name, have->name);
		if (want->rows != have->rows)
			return fail(error, ERROR_INPUT, "The table %s should have %lld rows and has %lld.",
				want->name, (long long)want->rows, (long long)have->rows);
		if (strcmp(want->sha256, have->sha256) != 0)
			return fail(error, ERROR_INPUT,
				"The table %s has as many rows as it should, but not the same.", want->name);
	}
	return expected->count == found->count
		? 0
		: fail(error, ERROR_INPUT, "There should be %zu tables and there are %zu.", expected->count,
			found->count);
}
