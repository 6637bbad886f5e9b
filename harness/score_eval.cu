/* Runs an evaluation of the oldest form in C++, which has one score and no modes or cases, and
 * reports its results like the stock eval.cu.
 *
 *	POPCORN_FD=N ./eval.out test|benchmark|leaderboard|profile CASEFILE
 *
 * The file is linked with the evaluation and leaves its main() alone. It forks for each case of
 * CASEFILE before main() starts; main() runs in the child and prints
 *
 *	score: 0.00123          seconds for one call, on standard output or on POPCORN_FD
 *	duration.mean: 1230000  ns, on POPCORN_FD, with or without a score; also std, err, best, worst
 *	check: fail             on POPCORN_FD: the answer is wrong
 *
 * The answer is also wrong if the exit code is 112 or a line of output contains
 * "check_implementation failed" or "mismatch found". Two different scores contradict each other;
 * both are reported. */
#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace podium_score
{
namespace
{

enum { RAISED = 1, USAGE = 2, REPORT = 111, WRONG = 112, CASES = 113 };
constexpr struct {
	const char *mode, *noun;
} MODES[] = {
	{ "test", "test" },
	{ "benchmark", "benchmark" },
	{ "leaderboard", "benchmark" },
	{ "profile", "benchmark" },
};
constexpr const char *SAYS_WRONG[] = { "check_implementation failed", "mismatch found" };
constexpr const char *FIGURES[] = { "mean", "std", "err", "best", "worst" };

[[noreturn]] void stop(int code, const std::string &sentence)
{
	std::fprintf(stderr, "score_eval: %s\n", sentence.c_str());
	_exit(code);
}

std::string trim(const std::string &text)
{
	constexpr const char *blank = " \t\r\n";
	std::size_t first = text.find_first_not_of(blank), last = text.find_last_not_of(blank);
	return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

std::vector<std::string> lines_of(const std::string &text)
{
	std::vector<std::string> lines;
	for (std::size_t at = 0; at < text.size();) {
		std::size_t end = std::min(text.find('\n', at), text.size());
		std::string line = trim(text.substr(at, end - at));
		if (!line.empty())
			lines.push_back(line);
		at = end + 1;
	}
	return lines;
}

std::string read_file(const char *path)
{
	std::FILE *file = std::fopen(path, "r");
	if (!file)
		stop(CASES,
			std::string("The case file ") + path + " cannot be read: " + std::strerror(errno));
	std::string text;
	char piece[4096];
	for (std::size_t got; (got = std::fread(piece, 1, sizeof piece, file)) > 0;)
		text.append(piece, got);
	std::fclose(file);
	return text;
}

void write_all(int descriptor, const std::string &text)
{
	for (std::size_t at = 0; at < text.size();) {
		ssize_t written = write(descriptor, text.data() + at, text.size() - at);
		if (written < 0 && errno != EINTR)
			stop(REPORT, std::string("The results cannot be written: ") + std::strerror(errno));
		at += written > 0 ? static_cast<std::size_t>(written) : 0;
	}
}

/* ---- one run of the evaluation ---- */

struct Outcome {
	int status = 0; /* from waitpid() */
	std::string output, results;
};

/* Reads both pipes to their ends. Passes the output on as it arrives. */
void read_both(int output, int results, Outcome &outcome)
{
	std::array<pollfd, 2> open = { pollfd{ output, POLLIN, 0 }, pollfd{ results, POLLIN, 0 } };
	std::string *texts[] = { &outcome.output, &outcome.results };
	while (open[0].fd >= 0 || open[1].fd >= 0) {
		if (poll(open.data(), open.size(), -1) < 0 && errno != EINTR)
			stop(REPORT, "poll failed");
		for (std::size_t i = 0; i < open.size(); i++) {
			if (open[i].fd < 0 || !open[i].revents)
				continue;
			char piece[65536];
			ssize_t got = read(open[i].fd, piece, sizeof piece);
			if (got > 0)
				texts[i]->append(piece, static_cast<std::size_t>(got));
			if (got > 0 && i == 0)
				write_all(1, std::string(piece, static_cast<std::size_t>(got)));
			if (got == 0)
				open[i].fd = -1;
		}
	}
}

/* Runs the evaluation once, in a child. Returns true in the parent, and false in the child, which
 * then runs the evaluation's own main(). */
bool run_once(int report, Outcome &outcome)
{
	int output[2], results[2];
	if (pipe(output) || pipe(results))
		stop(REPORT, "no pipe can be created");
	pid_t child = fork();
	if (child < 0)
		stop(REPORT, "no process can be created");
	if (child == 0) {
		dup2(output[1], 1);
		for (int descriptor : { output[0], output[1], results[0], report })
			close(descriptor);
		setenv("POPCORN_FD", std::to_string(results[1]).c_str(), 1);
		return false;
	}
	close(output[1]);
	close(results[1]);
	read_both(output[0], results[0], outcome);
	close(output[0]);
	close(results[0]);
	waitpid(child, &outcome.status, 0);
	return true;
}

/* ---- the results of the evaluation ---- */

struct Said {
	std::vector<std::string> scores;            /* seconds, each once */
	std::map<std::string, std::string> figures; /* ns */
	bool wrong = false;
};

std::pair<std::string, std::string> split(const std::string &line)
{
	std::size_t colon = std::min(line.find(':'), line.size());
	return { trim(line.substr(0, colon)), colon < line.size() ? trim(line.substr(colon + 1)) : "" };
}

void add_score(Said &said, const std::string &score)
{
	if (std::find(said.scores.begin(), said.scores.end(), score) == said.scores.end())
		said.scores.push_back(score);
}

Said understand(const Outcome &outcome)
{
	Said said;
	for (const std::string &line : lines_of(outcome.results)) {
		auto [key, value] = split(line);
		if (key == "score")
			add_score(said, value);
		else if (key.rfind("duration.", 0) == 0)
			said.figures[key.substr(std::strlen("duration."))] = value;
		else if (key == "check" && value == "fail")
			said.wrong = true;
	}
	bool has_figures = !said.scores.empty() || said.figures.count("mean");
	for (const std::string &line : lines_of(outcome.output)) {
		auto [key, value] = split(line);
		if (!has_figures && key == "score" && !value.empty()
			&& value.find_first_of(" \t") == std::string::npos)
			add_score(said, value);
		for (const char *phrase : SAYS_WRONG)
			said.wrong = said.wrong || line.find(phrase) != std::string::npos;
	}
	return said;
}

/* Returns a text that is no number unchanged, so that podium-run reports the wrong value. */
std::string to_ns(const std::string &seconds)
{
	char *end, text[40];
	double value = std::strtod(seconds.c_str(), &end);
	std::snprintf(text, sizeof text, "%.17g", value * 1e9);
	return *end ? seconds : text;
}

/* Computes the number of runs from err = std / sqrt(runs), because evaluations of this form do not
 * report it. */
long runs_of(const Said &said)
{
	auto std = said.figures.find("std"), err = said.figures.find("err");
	if (std == said.figures.end() || err == said.figures.end())
		return 1;
	double ratio =
		std::strtod(std->second.c_str(), nullptr) / std::strtod(err->second.c_str(), nullptr);
	return std::isfinite(ratio) && ratio > 1 && ratio < 1e4 ? std::lround(ratio * ratio) : 1;
}

std::string figures_of(const Said &said, const std::string &key)
{
	std::string text = key + ".runs: " + std::to_string(runs_of(said)) + "\n";
	for (const char *name : FIGURES)
		if (said.figures.count("mean") && said.figures.count(name))
			text += key + "." + name + ": " + said.figures.at(name) + "\n";
	for (const std::string &score : said.scores)
		if (!said.figures.count("mean"))
			text += key + ".mean: " + to_ns(score) + "\n";
	return text;
}

/* Ends by the signal that ended the evaluation, if any. */
void die_alike(int status)
{
	if (!WIFSIGNALED(status))
		return;
	std::signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
}

/* Reports a case. Returns its exit code. */
int report_case(int report, bool timed, const std::string &key, const Outcome &outcome)
{
	Said said = understand(outcome);
	int code = WEXITSTATUS(outcome.status);
	std::string fault;
	if (said.wrong || code == WRONG) {
		fault = "The evaluation says that the output is wrong.";
		code = WRONG;
	} else if (code) {
		fault = "The evaluation ended with exit code " + std::to_string(code) + ".";
	} else if (said.scores.empty() && !said.figures.count("mean")) {
		fault = "The evaluation ended without a score.";
		code = RAISED;
	}
	if (code)
		write_all(report, key + ".status: fail\n" + key + ".error: " + fault + "\n");
	else
		write_all(report, (timed ? figures_of(said, key) : "") + key + ".status: pass\n");
	return code;
}

int take_report()
{
	const char *given = std::getenv("POPCORN_FD");
	int report = given && *given ? dup(std::atoi(given)) : -1;
	if (report < 0)
		stop(REPORT, "POPCORN_FD must be the number of an open descriptor for the results.");
	if (std::atoi(given) > 2)
		close(std::atoi(given));
	unsetenv("POPCORN_FD");
	unsetenv("POPCORN_SEED"); /* this form does not use it */
	return report;
}

/* Runs before main(): glibc passes main()'s arguments to constructors. 101 is the first priority
 * that a program may use. */
__attribute__((constructor(101))) void begin(int count, char **words, char **)
{
	std::string noun;
	for (const auto &one : MODES)
		if (count == 3 && std::strcmp(words[1], one.mode) == 0)
			noun = one.noun;
	if (noun.empty())
		stop(USAGE, "usage: eval.out test|benchmark|leaderboard|profile CASEFILE");
	int report = take_report(), worst = 0;
	std::vector<std::string> cases = lines_of(read_file(words[2]));
	write_all(report, noun + "-count: " + std::to_string(cases.size()) + "\n");
	for (std::size_t i = 0; i < cases.size(); i++) {
		std::string key = noun + "." + std::to_string(i);
		write_all(report, key + ".spec: " + cases[i] + "\n");
		Outcome outcome;
		if (!run_once(report, outcome))
			return;
		die_alike(outcome.status);
		int code = report_case(report, std::strcmp(words[1], "test") != 0, key, outcome);
		worst = worst ? worst : code;
	}
	write_all(report, std::string("check: ") + (worst ? "fail" : "pass") + "\n");
	_exit(worst);
}

} // namespace
} // namespace podium_score
