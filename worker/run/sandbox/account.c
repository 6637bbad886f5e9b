#include "worker/run/sandbox/account.h"

#include "lib/base/scope.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

int account_find(const char *name, struct account *account, struct error *error)
{
	*account = (struct account){ .change = geteuid() == 0 };
	struct passwd *entry = account->change ? getpwnam(name) : getpwuid(geteuid());
	if (!entry && account->change)
		return fail(error, ERROR_INPUT,
			"There is no user \"%s\" on this machine to run submissions as. Name another one with "
			"--user.",
			name);
	account->uid = entry ? entry->pw_uid : geteuid();
	account->gid = entry ? entry->pw_gid : getegid();
	snprintf(account->name, sizeof account->name, "%s", entry ? entry->pw_name : "podium");
	if (!account->change)
		return 0;
	if (account->uid == 0)
		return fail(error, ERROR_INPUT,
			"Submissions must not run as root; name an ordinary user with --user.");
	account->group_count = COUNT(account->groups);
	if (getgrouplist(account->name, account->gid, account->groups, &account->group_count) < 0)
		return fail(error, ERROR_SYSTEM, "The user \"%s\" is in more than %zu groups.", name,
			COUNT(account->groups));
	return 0;
}

int account_become(const struct account *account)
{
	if (!account->change)
		return 0;
	if (setgroups((size_t)account->group_count, account->groups) || setgid(account->gid))
		return -1;
	return setuid(account->uid);
}
