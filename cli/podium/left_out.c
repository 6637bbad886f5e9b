/* Replaces the parts that the statically linked podium lacks. A site offers this program for
 * download, so it must run on machines that have none of podium's libraries.
 *
 * Distributions build libcurl.a with Kerberos, LDAP, RTMP, SSH, HTTP/2 and more, and have no static
 * libraries for most of these. podium speaks only HTTP/1.1, so it needs none of them. The Makefile
 * resolves the functions of these libraries to podium_left_out. */
#include "cli/podium/commands.h"
#include "cli/podium/podium.h"

#include <nss.h>
#include <stdio.h>
#include <unistd.h>

void podium_left_out(void);
int podium_left_out_start(void);

void podium_left_out(void)
{
	fputs("podium: this statically linked program was asked for a part of libcurl that it does not "
		  "contain. Build podium from its sources.\n",
		stderr);
	_exit(podium_cannot);
}

/* Replaces the start of an SSH library, which must succeed: libcurl starts it in every program. */
int podium_left_out_start(void)
{
	return 0;
}

/* Looks up host names only in /etc/hosts and by DNS. Other name services are shared libraries,
 * which only fit the C library that they were built with. */
__attribute__((constructor)) static void resolve_names_alone(void)
{
	__nss_configure_lookup("hosts", "files dns");
}

/* `podium check` runs podium-run, which no download contains. */
int check_command(const struct call *call)
{
	(void)call;
	fputs("podium: this downloaded program has no podium check, because podium check needs "
		  "podium-run. Build both from Podium's sources with ./dev build.\n",
		stderr);
	return podium_cannot;
}
