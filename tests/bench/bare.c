/* The yardstick of `make bench`: a FastCGI program that does the minimum for a board of 100 rows.
 * It runs one prepared query, fetches its rows and writes the bytes of a page, without routing or
 * templates.
 *
 *	bare SOCKET PAGE_FILE       uses the database of PODIUM_DATABASE_SOCKET */
#include "lib/base/scope.h"
#include "lib/database/database.h"

#include <fcgiapp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { threads = 8 };

struct row {
	int64_t place;
	const char *name;
	double score_ns, score_err_ns;
	int64_t submission_id, submitted_at_ms;
};

static const struct column ROW_COLUMNS[] = {
	INTEGER(struct row, place),
	TEXT(struct row, name),
	REAL(struct row, score_ns),
	REAL(struct row, score_err_ns),
	INTEGER(struct row, submission_id),
	TIME(struct row, submitted_at_ms),
};
/* The query asks for a range of positions, for which MariaDB walks the index. With LIMIT, MariaDB
 * would sort the whole ranking, which takes three times as long. */
static const struct statement BOARD = SELECT(struct row, ROW_COLUMNS,
	"SELECT r.place, u.name, r.score_ns, r.score_err_ns, r.submission_id, "
	"r.submitted_at AS submitted_at_ms "
	"FROM leaderboards l "
	"JOIN ranking r ON r.leaderboard_id = l.id AND r.task_version_id = l.task_version_id "
	"AND r.gpu = 'H200' "
	"JOIN users u ON u.id = r.user_id "
	"WHERE l.name = 'bench' AND r.position <= 100 ORDER BY r.position");

static int listener;
static char *page;
static size_t page_length;

static void *serve(void *unused)
{
	(void)unused;
	struct config config;
	struct error error = { 0 };
	if (config_load(&config, &error))
		exit(1);
	cleanup_database struct database *db = database_open(&config, &error);
	cleanup_arena struct arena *arena = arena_new();
	FCGX_Request request;
	FCGX_InitRequest(&request, listener, 0);
	while (db && FCGX_Accept_r(&request) == 0) {
		struct row *rows;
		size_t count;
		if (database_rows(db, arena, &BOARD, &rows, &count, &error, "") || count != 100)
			FCGX_FPrintF(request.out, "Status: 500\r\n\r\n%s", error.text);
		FCGX_PutS("Content-Type: text/html; charset=utf-8\r\n\r\n", request.out);
		FCGX_PutStr(page, (int)page_length, request.out);
		FCGX_Finish_r(&request);
		arena_reset(arena);
	}
	fprintf(stderr, "bare: %s\n", error.text);
	return NULL;
}

int main(int argc, char **argv)
{
	cleanup_file FILE *file = argc == 3 ? fopen(argv[2], "r") : NULL;
	if (!file) {
		fputs("usage: bare SOCKET PAGE_FILE\n", stderr);
		return 2;
	}
	page = malloc(1 << 20);
	page_length = fread(page, 1, 1 << 20, file);
	FCGX_Init();
	listener = FCGX_OpenSocket(argv[1], 128);
	pthread_t ids[threads];
	for (size_t i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, serve, NULL);
	for (size_t i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	return 1;
}
