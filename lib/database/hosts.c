#include "lib/database/hosts.h"

#include "lib/database/database.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* ---- hosts ---- */

static atomic_size_t current_host;

int database_hosts_read(
	const struct config *config, struct database_hosts *hosts, struct error *error)
{
	hosts->count = 0;
	for (const char *rest = config->database_host;;) {
		size_t length = strcspn(rest, ","), blanks = strspn(rest, " \t");
		const char *name = rest + (blanks < length ? blanks : length), *end = rest + length;
		while (end > name && (end[-1] == ' ' || end[-1] == '\t'))
			end--;
		if (end == name)
			return fail(error, ERROR_INPUT,
				"The setting database_host lists hosts separated by commas, but one in \"%s\" is "
				"empty.",
				config->database_host);
		if (hosts->count == database_most_hosts)
			return fail(error, ERROR_INPUT, "The setting database_host may list at most %d hosts.",
				database_most_hosts);
		char *copy = hosts->names[hosts->count++];
		memcpy(copy, name, (size_t)(end - name));
		copy[end - name] = '\0';
		if (!rest[length])
			return 0;
		rest += length + 1;
	}
}

size_t database_hosts_first(const struct database_hosts *hosts)
{
	return atomic_load_explicit(&current_host, memory_order_relaxed) % hosts->count;
}

void database_hosts_stay(size_t number)
{
	atomic_store_explicit(&current_host, number, memory_order_relaxed);
}

/* Whether the name or address is this host's. Includes "localhost", for which the client library
 * uses the Unix socket. */
static bool is_this_host(const char *name)
{
	unsigned char address[sizeof(struct in6_addr)];
	if (strcmp(name, "localhost") == 0)
		return true;
	if (inet_pton(AF_INET, name, address) == 1)
		return address[0] == 127;
	return inet_pton(AF_INET6, name, address) == 1
		&& memcmp(address, &in6addr_loopback, sizeof in6addr_loopback) == 0;
}

static bool are_hosts_local(const struct config *c)
{
	struct database_hosts hosts;
	bool here = database_hosts_read(c, &hosts, NULL) == 0;
	for (size_t i = 0; here && i < hosts.count; i++)
		here = is_this_host(hosts.names[i]);
	return here;
}

/* ---- TLS ---- */

static const char *tls_mode(const struct config *c)
{
	if (c->database_socket[0])
		return "off";
	return c->database_tls[0] ? c->database_tls : are_hosts_local(c) ? "off" : "verify";
}

int database_check_tls(const struct config *c, struct error *error)
{
	const char *tls = tls_mode(c);
	if (strcmp(tls, "off") == 0 || strcmp(tls, "unverified") == 0)
		return 0;
	if (strcmp(tls, "verify") != 0)
		return fail(error, ERROR_INPUT,
			"The setting database_tls is verify, unverified or off, not \"%s\".", tls);
	if (c->database_tls_ca[0] && access(c->database_tls_ca, R_OK))
		return fail(error, ERROR_SYSTEM,
			"Cannot read the certificates in %s (database_tls_ca): %s.", c->database_tls_ca,
			strerror(errno));
	return c->database_tls_ca[0]
		? 0
		: fail(error, ERROR_INPUT,
			"The connection to the database on %s uses TLS, but no certificate is trusted. Set "
			"database_tls_ca to the file with the certificate that signs the database's, or "
			"database_tls to off if the network itself is safe.",
			c->database_host);
}

bool database_wants_tls(const struct config *config)
{
	return strcmp(tls_mode(config), "off") != 0;
}

void database_ask_for_tls(MYSQL *mysql, const struct config *c)
{
	static const my_bool yes = 1;
	if (!database_wants_tls(c))
		return;
	my_bool verifies = strcmp(tls_mode(c), "verify") == 0;
	mysql_options(mysql, MYSQL_OPT_SSL_ENFORCE, &yes);
	mysql_options(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verifies);
	if (c->database_tls_ca[0])
		mysql_options(mysql, MYSQL_OPT_SSL_CA, c->database_tls_ca);
	if (c->database_tls_cert[0])
		mysql_options(mysql, MYSQL_OPT_SSL_CERT, c->database_tls_cert);
	if (c->database_tls_key[0])
		mysql_options(mysql, MYSQL_OPT_SSL_KEY, c->database_tls_key);
}
