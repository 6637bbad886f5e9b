#include "cli/admin/tool.h"

#include "lib/base/buffer.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/database/database.h"
#include "lib/database/hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { most_words = 400, not_found = 127 };

/* ---- interruptions ---- */

static volatile sig_atomic_t interrupted, running; /* running: the tool's process, or 0 */

static void end_running(void)
{
	if (running > 0)
		kill(running, SIGTERM);
}

/* A signal that arrives just before read() or write() does not interrupt that call. The handler
 * therefore also stops the tool, which closes the tool's end of the pipe and so ends the call. */
static void note_signal(int number)
{
	const int before = errno;
	interrupted = number;
	end_running();
	errno = before;
}

static const int caught[] = { SIGINT, SIGTERM, SIGHUP };

void interruption_catch(void)
{
	struct sigaction action = { .sa_handler = note_signal }; /* without SA_RESTART */
	for (size_t i = 0; i < COUNT(caught); i++)
		sigaction(caught[i], &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static void hold_interruptions(sigset_t *before)
{
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < COUNT(caught); i++)
		sigaddset(&set, caught[i]);
	sigprocmask(SIG_BLOCK, &set, before);
}

int interruption_check(struct error *error)
{
	return interrupted
		? fail(error, ERROR_CONFLICT, "It was interrupted (%s).", strsignal(interrupted))
		: 0;
}

/* ---- the file of options ---- */

/* Quotes a value for MariaDB's option files, where a backslash starts an escape. */
static void write_option(struct buffer *out, const char *name, const char *value)
{
	buffer_printf(out, "%s=\"", name);
	for (; *value; value++)
		switch (*value) {
		case '\n': buffer_text(out, "\\n"); break;
		case '\r': buffer_text(out, "\\r"); break;
		case '\t': buffer_text(out, "\\t"); break;
		case '"':
		case '\\': buffer_byte(out, '\\'); /* fall through */
		default: buffer_byte(out, *value);
		}
	buffer_text(out, "\"\n");
}

/* Asks for TLS as podium-admin's own connections do (lib/database/database.h). */
static void write_tls(struct buffer *out, const struct config *config)
{
	const struct {
		const char *name, *path;
	} files[] = {
		{ "ssl-ca", config->database_tls_ca },
		{ "ssl-cert", config->database_tls_cert },
		{ "ssl-key", config->database_tls_key },
	};
	if (!database_wants_tls(config)) {
		buffer_text(out, "skip-ssl\n");
		return;
	}
	buffer_text(out,
		strcmp(config->database_tls, "unverified") == 0 ? "ssl\nskip-ssl-verify-server-cert\n"
														: "ssl\nssl-verify-server-cert\n");
	for (size_t i = 0; i < COUNT(files); i++)
		if (files[i].path[0])
			write_option(out, files[i].name, files[i].path);
}

static void write_options(struct buffer *out, const struct config *config)
{
	buffer_text(out, "[client]\n");
	write_option(out, "user", config->database_user);
	if (config->database_password[0])
		write_option(out, "password", config->database_password);
	if (config->database_socket[0]) {
		write_option(out, "socket", config->database_socket);
		return;
	}
	struct database_hosts hosts;
	if (database_hosts_read(config, &hosts, NULL) == 0)
		/* the same node of a cluster that podium-admin itself uses */
		write_option(out, "host", hosts.names[database_hosts_first(&hosts)]);
	buffer_printf(out, "port=%lld\nprotocol=tcp\n", (long long)config->database_port);
	write_tls(out, config);
}

/* Makes the option file in memory, with mode 0600. A new memfd is world-writable, and MariaDB
 * ignores world-writable option files. */
static int options_file(const struct config *config, struct error *error)
{
	cleanup_buffer struct buffer text = { 0 };
	write_options(&text, config);
	cleanup_fd int file = memfd_create("options", 0);
	if (file < 0 || fchmod(file, 0600)
		|| write(file, text.data, text.length) != (ssize_t)text.length)
		return fail(error, ERROR_SYSTEM, "Cannot store a program's options in memory: %s.",
			strerror(errno));
	explicit_bzero(text.data, text.length);
	return steal_fd(&file);
}

/* ---- running ---- */

/* Turns the forked child into the tool. The caller has blocked signals; a signal that arrived since
 * the fork terminates the child once it unblocks them. */
static void become_tool(const char *const *words, const sigset_t *signals, int options, int theirs,
	int standard, int complaints)
{
	char defaults[48];
	const char *argv[most_words + 2] = { words[0], defaults };
	snprintf(defaults, sizeof defaults, "--defaults-file=/proc/self/fd/%d", options);
	for (size_t i = 1; words[i] && i < most_words; i++)
		argv[i + 1] = words[i];
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGPIPE, SIG_DFL);
	for (size_t i = 0; i < COUNT(caught); i++)
		signal(caught[i], SIG_DFL);
	sigprocmask(SIG_SETMASK, signals, NULL);
	if (dup2(theirs, standard) >= 0 && dup2(complaints, STDERR_FILENO) >= 0)
		execvp(words[0], (char *const *)argv);
	_exit(not_found);
}

int tool_start(struct tool *tool, const struct config *config, enum tool_direction direction,
	const char *const *words, struct error *error)
{
	int ends[2];
	cleanup_fd int options = options_file(config, error);
	if (options < 0)
		return options;
	*tool = (struct tool){
		.name = words[0], .pipe = -1, .complaints = memfd_create("complaints", MFD_CLOEXEC)
	};
	if (tool->complaints < 0 || pipe2(ends, O_CLOEXEC))
		return fail(error, ERROR_SYSTEM, "Cannot start %s: %s.", words[0], strerror(errno));
	cleanup_fd int theirs = ends[direction == TOOL_READ];
	tool->pipe = ends[direction == TOOL_WRITE];
	fcntl(tool->pipe, F_SETPIPE_SZ, 1 << 20);
	fflush(stdout);
	sigset_t signals;
	hold_interruptions(&signals);
	tool->pid = fork();
	if (tool->pid == 0)
		become_tool(words, &signals, options, theirs,
			direction == TOOL_READ ? STDOUT_FILENO : STDIN_FILENO, tool->complaints);
	running = tool->pid;
	sigprocmask(SIG_SETMASK, &signals, NULL);
	if (interrupted)
		end_running();
	return tool->pid > 0
		? 0
		: fail(error, ERROR_SYSTEM, "Cannot start %s: %s.", words[0], strerror(errno));
}

/* Appends the last line of the tool's standard error, without the tool's name before it. */
static void last_complaint(const struct tool *tool, struct buffer *out)
{
	char text[4096] = "";
	off_t size = lseek(tool->complaints, 0, SEEK_END),
		  from = size > (off_t)sizeof text - 1 ? size - (off_t)sizeof text + 1 : 0;
	ssize_t length = pread(tool->complaints, text, sizeof text - 1, from);
	while (length > 0 && strchr("\n\r .", text[length - 1]))
		text[--length] = '\0';
	char *line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	char *rest = strstr(line, ": ");
	if (rest && (size_t)(rest - line) <= strlen(tool->name))
		line = rest + 2;
	text_append_printable(out, line);
}

static int say_how_it_ended(const struct tool *tool, int status, struct error *error)
{
	cleanup_buffer struct buffer said = { 0 };
	if (WIFEXITED(status) && WEXITSTATUS(status) == not_found)
		return fail(error, ERROR_SYSTEM, "%s is not installed. Install the package mariadb-client.",
			tool->name);
	last_complaint(tool, &said);
	if (said.length)
		return fail(error, ERROR_DATABASE, "%s failed: %.800s.", tool->name, said.data);
	if (WIFSIGNALED(status))
		return fail(error, ERROR_SYSTEM, "A signal ended %s (%s).", tool->name,
			strsignal(WTERMSIG(status)));
	return fail(
		error, ERROR_SYSTEM, "%s failed with exit status %d.", tool->name, WEXITSTATUS(status));
}

static int end_tool(struct tool *tool, struct error *error)
{
	int status = 0;
	close(tool->pipe);
	siginfo_t ended;
	while (waitid(P_PID, (id_t)tool->pid, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	running = 0; /* before waitpid() allows the reuse of the process ID */
	waitpid(tool->pid, &status, 0);
	int rc = status ? say_how_it_ended(tool, status, error) : 0;
	close(tool->complaints);
	tool->pid = 0;
	return rc;
}

int tool_finish(struct tool *tool, struct error *error)
{
	int rc = end_tool(tool, error);
	/* Ctrl-C also stops the tool; its failure is then not the reason to report. */
	return rc && interruption_check(NULL) ? interruption_check(error) : rc;
}

void tool_stop(struct tool *tool)
{
	struct error ignored;
	if (tool->pid <= 0)
		return;
	kill(tool->pid, SIGTERM);
	end_tool(tool, &ignored);
}
