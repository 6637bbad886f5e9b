#include "worker/run/sandbox/workspace.h"

#include "lib/base/log.h"
#include "lib/base/scope.h"
#include "worker/run/sandbox/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const char FOLDER_PREFIX[] = "podium-job-";

/* Creates a folder that the job's user may pass through, but neither list nor write to. */
static int make_passable_folder(
	int parent, const char *name, const struct account *account, struct error *error)
{
	return account->change ? folder_make(parent, name, 0710, (uid_t)-1, account->gid, error)
						   : folder_make(parent, name, 0700, (uid_t)-1, (gid_t)-1, error);
}

/* Creates a folder that the job's user may add files to. The sticky bit stops that user from
 * removing or renaming the files of others. */
static int make_sticky_folder(
	int parent, const char *name, const struct account *account, struct error *error)
{
	return account->change ? folder_make(parent, name, 01770, (uid_t)-1, account->gid, error)
						   : folder_make(parent, name, 0700, (uid_t)-1, (gid_t)-1, error);
}

static int make_user_folder(
	int parent, const char *name, const struct account *account, struct error *error)
{
	cleanup_fd int folder = account->change
		? folder_make(parent, name, 0700, account->uid, account->gid, error)
		: folder_make(parent, name, 0700, (uid_t)-1, (gid_t)-1, error);
	return folder < 0 ? folder : 0;
}

/* Removes a job's folder unless a running podium-run has locked it. */
static void remove_if_left_behind(int base, const char *name)
{
	struct error error;
	struct stat status;
	cleanup_fd int folder = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0 || fstat(folder, &status) || status.st_uid != geteuid()
		|| flock(folder, LOCK_EX | LOCK_NB))
		return;
	if (folder_remove(base, name, &error))
		log_warning("%s", error.text);
	else
		log_info("Removed %s, which an earlier podium-run left behind.", name);
}

static void remove_left_behind(int base)
{
	int reopened = openat(base, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = reopened >= 0 ? fdopendir(reopened) : NULL;
	for (struct dirent *entry; stream && (entry = readdir(stream));)
		if (strncmp(entry->d_name, FOLDER_PREFIX, strlen(FOLDER_PREFIX)) == 0)
			remove_if_left_behind(base, entry->d_name);
	if (stream)
		closedir(stream);
}

/* Whether the job's user can reach the directory: every folder above it must let that user through.
 */
static bool can_enter(const char *directory, const struct account *account)
{
	int status = 0;
	pid_t pid = fork();
	if (pid == 0)
		_exit(account_become(account) || access(directory, X_OK) ? 1 : 0);
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status)
		&& WEXITSTATUS(status) == 0;
}

int workspace_make_directory(
	const char *directory, const struct account *account, struct error *error)
{
	if (mkdir(directory, account->change ? 0711 : 0700) && errno != EEXIST)
		return fail(error, ERROR_SYSTEM, "Cannot create the folder \"%s\" for jobs: %s.", directory,
			strerror(errno));
	return 0;
}

int workspace_base(const char *directory, const struct account *account, struct error *error)
{
	int base = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (base < 0)
		return fail(error, ERROR_SYSTEM, "Cannot open the folder \"%s\" for jobs: %s.", directory,
			strerror(errno));
	if (!can_enter(directory, account)) {
		close(base);
		return fail(error, ERROR_INPUT,
			"The user \"%s\", which submissions run as, cannot enter \"%s\"; choose another "
			"--directory or let others pass through its folders (chmod o+x).",
			account->name, directory);
	}
	remove_left_behind(base);
	return base;
}

/* Locks the folder immediately, so that no other podium-run takes it for left behind. */
static int make_job_folder(struct workspace *workspace, int64_t job, struct error *error)
{
	const struct sandbox_host *host = workspace->host;
	snprintf(workspace->name, sizeof workspace->name, "%s%" PRId64 "-%08" PRIx32, FOLDER_PREFIX,
		job, randombytes_random());
	snprintf(
		workspace->place, sizeof workspace->place, "%.3900s/%s", host->directory, workspace->name);
	workspace->lock = make_passable_folder(workspace->base, workspace->name, host->account, error);
	if (workspace->lock < 0)
		return workspace->lock;
	if (flock(workspace->lock, LOCK_EX | LOCK_NB))
		return fail(
			error, ERROR_SYSTEM, "The folder of the job cannot be locked: %s.", strerror(errno));
	return 0;
}

/* Mounts the job's file system and opens its root, which now has the folder's name. */
static int mount_job_folder(struct workspace *workspace, struct error *error)
{
	const struct account *account = workspace->host->account;
	int rc = sandbox_mount_job(workspace->host, workspace->place, error);
	if (rc)
		return rc;
	workspace->is_mounted = workspace->host->stands[WALL_DISK];
	workspace->job = folder_open(workspace->base, workspace->name, error);
	if (workspace->job < 0)
		return workspace->job;
	if (account->change
		&& (fchown(workspace->job, (uid_t)-1, account->gid) || fchmod(workspace->job, 0710)))
		return fail(error, ERROR_SYSTEM, "Cannot change the owner of the job's folder: %s.",
			strerror(errno));
	return 0;
}

static int fill_job_folder(struct workspace *workspace, struct error *error)
{
	int rc = mount_job_folder(workspace, error);
	if (rc)
		return rc;
	workspace->path = sandbox_job_path(workspace->host, workspace->place);
	return make_user_folder(workspace->job, "cache", workspace->host->account, error);
}

int workspace_open(struct workspace *workspace, int base, int64_t job,
	const struct sandbox_host *host, struct error *error)
{
	*workspace = (struct workspace){
		.host = host, .base = base, .lock = -1, .job = -1, .stage = -1, .run = -1
	};
	int rc = make_job_folder(workspace, job, error);
	return rc ? rc : fill_job_folder(workspace, error);
}

int workspace_open_part(
	const struct workspace *whole, const char *name, struct workspace *part, struct error *error)
{
	*part = (struct workspace){
		.host = whole->host, .base = whole->job, .lock = -1, .job = -1, .stage = -1, .run = -1
	};
	if ((size_t)snprintf(part->name, sizeof part->name, "%s", name) >= sizeof part->name
		|| (size_t)snprintf(part->place, sizeof part->place, "%s/%s", whole->place, name)
			>= sizeof part->place)
		return fail(error, ERROR_LIMIT, "The name of a part of the job's folder is too long.");
	part->lock = make_passable_folder(part->base, name, part->host->account, error);
	return part->lock < 0 ? part->lock : fill_job_folder(part, error);
}

void workspace_close(struct workspace *workspace)
{
	struct error error;
	if (workspace->lock < 0)
		return;
	workspace_close_stage(workspace);
	scope_close(&workspace->job);
	if (workspace->is_mounted)
		sandbox_unmount_job(workspace->host, workspace->place);
	if (folder_remove(workspace->base, workspace->name, &error))
		log_warning("%s", error.text);
	close(workspace->lock);
}

int workspace_open_stage(struct workspace *workspace, const char *name, struct error *error)
{
	const struct account *account = workspace->host->account;
	workspace->stage = make_passable_folder(workspace->job, name, account, error);
	if (workspace->stage < 0)
		return workspace->stage;
	workspace->stage_name = name;
	workspace->run = make_sticky_folder(workspace->stage, "run", account, error);
	if (workspace->run < 0)
		return workspace->run;
	int rc = make_user_folder(workspace->stage, "home", account, error);
	return rc ? rc : make_user_folder(workspace->stage, "tmp", account, error);
}

void workspace_close_stage(struct workspace *workspace)
{
	struct error error;
	if (!workspace->stage_name)
		return;
	scope_close(&workspace->run);
	scope_close(&workspace->stage);
	if (folder_remove(workspace->job, workspace->stage_name, &error))
		log_warning("%s", error.text);
	workspace->run = workspace->stage = -1;
	workspace->stage_name = NULL;
}
