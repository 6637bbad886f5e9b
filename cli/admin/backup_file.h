/* Writes and reads backups. A backup is the gzipped output of mariadb-dump plus a last line: an SQL
 * comment with the manifest in JSON. `zcat FILE | mariadb DATABASE` therefore also restores a
 * backup. The manifest reveals a truncated or damaged file. */
#ifndef PODIUM_CLI_ADMIN_BACKUP_FILE_H
#define PODIUM_CLI_ADMIN_BACKUP_FILE_H

#include "cli/admin/ledger.h"
#include "lib/base/buffer.h"
#include "lib/base/error.h"

#include <limits.h>
#include <zlib.h>

struct manifest {
	char podium[32], made_at[32]; /* Podium's version; time in UTC */
	int64_t schema;               /* the database's last migration */
	struct ledger ledger;
};

/* ---- writing ---- */

struct backup_writer {
	char path[PATH_MAX];  /* final name */
	char fresh[PATH_MAX]; /* temporary name until the file is complete */
	int file;
	gzFile gzip;
	struct manifest *manifest; /* backup_write updates its ledger */
	crypto_hash_sha256_state hash;
};

/* Creates a temporary file beside `path` that only its owner may read. If `path` is "-", writes to
 * standard output instead. */
int backup_create(
	struct backup_writer *writer, const char *path, struct manifest *manifest, struct error *error);
int backup_write(
	struct backup_writer *writer, const char *bytes, size_t length, struct error *error);

/* Writes the manifest, syncs the file to disk, and renames it to its final name. */
int backup_complete(struct backup_writer *writer, struct error *error);

/* Closes the file, and removes it if backup_complete has not completed it. */
void backup_abandon(struct backup_writer *writer);

/* ---- reading ---- */

/* Receives a piece of the backup's SQL. A result other than 0 stops the reading. */
typedef int backup_sink(void *context, const char *bytes, size_t length, struct error *error);

/* Reads and checks a whole backup, passes its SQL to `sink` unless that is NULL, and fills the
 * manifest. ERROR_INPUT: the file is damaged, truncated, or no backup. */
int backup_read(const char *path, struct manifest *manifest, backup_sink *sink, void *context,
	struct error *error);

#endif
