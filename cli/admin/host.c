/* `gpu list`, `gpu release`, `port-free` and `healthy`: commands about this host, mostly for ./run.
 */
#include "cli/admin/admin.h"
#include "lib/base/scope.h"
#include "lib/fleet/quarantine.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

static int read_port(const char *text, uint16_t *port, struct error *error)
{
	char *end;
	long number = strtol(text, &end, 10);
	if (end == text || *end || number < 1 || number > 65535)
		return fail(error, ERROR_INPUT,
			"The port must be a whole number from 1 to 65535, not \"%.40s\".", text);
	*port = (uint16_t)number;
	return 0;
}

static struct sockaddr_in loopback_address(uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
	};
}

/* ---- port-free ---- */

static int try_to_listen(uint16_t port, struct error *error)
{
	cleanup_fd int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in address = loopback_address(port);
	int yes = 1; /* as in nginx: closed connections of an earlier run do not block the port */
	setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (bind(probe, (struct sockaddr *)&address, sizeof address) == 0 && listen(probe, 1) == 0)
		return 0;
	if (errno == EADDRINUSE)
		return fail(error, ERROR_CONFLICT,
			"Another program uses port %u on 127.0.0.1. Set PODIUM_PORT to a free port.", port);
	if (errno == EACCES)
		return fail(error, ERROR_FORBIDDEN,
			"Only root may listen on port %u. Set PODIUM_PORT to a port above 1023.", port);
	return fail(
		error, ERROR_SYSTEM, "Cannot listen on port %u of 127.0.0.1: %s.", port, strerror(errno));
}

int port_free_command(int argc, char **argv)
{
	struct error error = { 0 };
	uint16_t port;
	if (argc != 2)
		return admin_usage("port-free");
	return read_port(argv[1], &port, &error) || try_to_listen(port, &error) ? admin_complain(&error)
																			: admin_done;
}

/* ---- healthy ---- */

static int connect_to(uint16_t port)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in address = loopback_address(port);
	struct timeval patience = { .tv_sec = 10 };
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
		return fd;
	close(fd);
	return -1;
}

static int ask_for_health(uint16_t port, struct error *error)
{
	static const char REQUEST[] = "GET /healthz HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n";
	cleanup_fd int fd = connect_to(port);
	if (fd < 0)
		return fail(error, ERROR_SYSTEM, "Nothing answers on port %u of 127.0.0.1.", port);
	char answer[64] = "";
	if (send(fd, REQUEST, sizeof REQUEST - 1, MSG_NOSIGNAL) < 0
		|| recv(fd, answer, sizeof answer - 1, MSG_WAITALL) < 0)
		return fail(error, ERROR_SYSTEM, "The server on port %u does not answer: %s.", port,
			strerror(errno));
	answer[strcspn(answer, "\r\n")] = '\0';
	const char *status = strchr(answer, ' ');
	if (strncmp(answer, "HTTP/1.", 7) != 0 || !status || strncmp(status, " 200", 4) != 0)
		return fail(error, ERROR_SYSTEM,
			"The server on port %u is not healthy; it answered \"%s\".", port, answer);
	return 0;
}

int healthy_command(int argc, char **argv)
{
	struct error error = { 0 };
	uint16_t port;
	if (argc != 2)
		return admin_usage("healthy");
	return read_port(argv[1], &port, &error) || ask_for_health(port, &error)
		? admin_complain(&error)
		: admin_done;
}

/* ---- gpu list ---- */

int gpu_list_command(int argc, char **argv)
{
	(void)argv;
	if (argc != 1)
		return admin_usage("gpu list");
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = admin_connect();
	struct error error = { 0 };
	struct offered_gpu *gpus;
	struct quarantined_gpu *lost;
	size_t count, lost_count;
	if (!db)
		return admin_failed;
	if (gpus_offered(db, arena, &gpus, &count, &error)
		|| gpus_quarantined(db, arena, &lost, &lost_count, &error))
		return admin_complain(&error);
	for (size_t i = 0; i < count; i++)
		admin_say("%-16s %s", gpus[i].model, gpus[i].product);
	for (size_t i = 0; i < lost_count; i++)
		admin_say("%-16s %s of %s is in quarantine: %s", lost[i].model, lost[i].uuid,
			lost[i].worker, lost[i].reason);
	return count || lost_count ? admin_done : admin_failed;
}

/* ---- gpu release ---- */

int gpu_release_command(int argc, char **argv)
{
	if (argc != 2)
		return admin_usage("gpu release");
	cleanup_database struct database *db = admin_connect();
	struct error error = { 0 };
	if (!db)
		return admin_failed;
	if (gpu_release(db, argv[1], &admin_actor, &error))
		return admin_complain(&error);
	admin_say("%s is released. Its worker checks the device before it takes a job.", argv[1]);
	return admin_done;
}
