/* Counts and hashes (SHA-256) the rows of each table in the output of mariadb-dump, piece by piece.
 * Two dumps with the same ledger have the same rows. */
#ifndef PODIUM_CLI_ADMIN_LEDGER_H
#define PODIUM_CLI_ADMIN_LEDGER_H

#include "lib/base/error.h"

#include <sodium.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ledger_most_tables = 256 };

/* The start of a line that creates a view. A view counts as a table without rows. */
#define LEDGER_VIEW "CREATE OR REPLACE "

struct ledger_table {
	char name[68];
	int64_t rows;
	char sha256[2 * crypto_hash_sha256_BYTES + 1]; /* of the dump's rows, in hexadecimal */
};

struct ledger {
	struct ledger_table tables[ledger_most_tables];
	size_t count;
	int64_t rows;
	size_t longest_statement_bytes;
	char binary_log[256]; /* name of the binary log at the snapshot; "": not in the dump */
	int64_t binary_log_position;
	bool has_inline_rows; /* a line has several rows, as an older mariadb-dump writes them */

	/* State while a dump is read. */
	crypto_hash_sha256_state hash;
	char line[512]; /* the start of the current line */
	size_t line_bytes, statement_bytes;
	char last; /* the line's last byte so far, not hashed yet; 0: none */
};

void ledger_begin(struct ledger *ledger);
void ledger_add(struct ledger *ledger, const char *bytes, size_t length);
void ledger_end(struct ledger *ledger);

/* Returns ERROR_INPUT if the ledger has_inline_rows: its counts and hashes are then useless. */
int ledger_check(const struct ledger *ledger, struct error *error);

/* Returns ERROR_INPUT if the ledgers differ; the message names the first such table. */
int ledger_compare(const struct ledger *expected, const struct ledger *found, struct error *error);

#endif
