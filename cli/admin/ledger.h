/* What an SQL dump of mariadb-dump contains, found while it passes by: the rows of each table and
 * their SHA-256. Two dumps with the same ledger have the same rows. */
#ifndef PODIUM_CLI_ADMIN_LEDGER_H
#define PODIUM_CLI_ADMIN_LEDGER_H

#include "lib/error.h"

#include <sodium.h>
#include <stddef.h>
#include <stdint.h>

enum { ledger_most_tables = 256 };

/* What begins a line that makes a view, which counts as a table without rows. */
#define LEDGER_VIEW "CREATE OR REPLACE "

struct ledger_table {
	char name[68];
	int64_t rows;
	char sha256[2 * crypto_hash_sha256_BYTES
		+ 1]; /* of the rows as they stand in the dump, in hexadecimal */
};

struct ledger {
	struct ledger_table tables[ledger_most_tables];
	size_t count;
	int64_t rows;
	size_t longest_statement_bytes;
	char binary_log[256]; /* where the server's binary log went on, if the dump says it; else "" */
	int64_t binary_log_position;
	/* of the reading */
	enum { LEDGER_LINE, LEDGER_NAME, LEDGER_VALUES, LEDGER_STRING, LEDGER_ESCAPE } state;
	crypto_hash_sha256_state hash;
	char line[512]; /* the beginning of the line that is read */
	size_t line_length, statement_bytes;
	int depth;
};

void ledger_begin(struct ledger *ledger);
void ledger_add(struct ledger *ledger, const char *bytes, size_t length);
void ledger_end(struct ledger *ledger);

/* ERROR_INPUT with a sentence about the first table that is not the same in both. */
int ledger_compare(const struct ledger *expected, const struct ledger *found, struct error *error);

#endif
