/* A backup: the gzip of what mariadb-dump writes, with one more line behind it, a comment that says
 * in JSON what the rest has to be. So `zcat FILE | mariadb DATABASE` restores it as well, and one
 * that was cut or damaged anywhere is known by itself. */
#ifndef PODIUM_CLI_ADMIN_BACKUP_FILE_H
#define PODIUM_CLI_ADMIN_BACKUP_FILE_H

#include "cli/admin/ledger.h"
#include "lib/buffer.h"
#include "lib/error.h"

#include <limits.h>
#include <zlib.h>

struct manifest {
	char podium[32], made_at[32]; /* the Podium that made it; UTC */
	int64_t schema;               /* the last migration that the database had */
	struct ledger ledger;
};

/* ---- writing ---- */

struct backup_writer {
	char path[PATH_MAX],
		fresh[PATH_MAX]; /* its name, and the one that it has before it is complete */
	int file;
	gzFile gzip;
	struct manifest *manifest; /* its ledger grows with what is written */
	crypto_hash_sha256_state hash;
};

/* "-": standard output. Else a file of another name in the same folder, which nobody else may read.
 */
int backup_create(
	struct backup_writer *writer, const char *path, struct manifest *manifest, struct error *error);
int backup_write(
	struct backup_writer *writer, const char *bytes, size_t length, struct error *error);

/* Writes the last line and what the disk does not have yet, and gives the file its name: from now
 * on it is there. */
int backup_complete(struct backup_writer *writer, struct error *error);

/* Removes a file that was not completed. */
void backup_abandon(struct backup_writer *writer);

/* ---- reading ---- */

/* Is given the SQL in pieces; may be NULL. What it returns ends the reading, unless it is 0. */
typedef int backup_sink(void *context, const char *bytes, size_t length, struct error *error);

/* Reads all of a backup, checks it and fills the manifest. ERROR_INPUT: it is damaged, cut, or no
 * backup. */
int backup_read(const char *path, struct manifest *manifest, backup_sink *sink, void *context,
	struct error *error);

#endif
