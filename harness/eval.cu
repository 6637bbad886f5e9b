/* The stock harness for tasks in CUDA C++: checks a submission and measures how long it takes.
 *
 *	POPCORN_FD=N ./eval.out MODE CASEFILE
 *
 * MODE         test         check every case
 *              benchmark    check and time every case
 *              leaderboard  the same, with fresh inputs and a check for each timed run
 *              profile      check every case, and call it once more in an NVTX range named
 *                           custom_kernel
 * CASEFILE     one case a line: size: 128; seed: 5
 * POPCORN_FD   an open descriptor for the results, one `key: value` a line
 * POPCORN_SEED changes the seed of every case, so that the case file does not reveal it
 *
 * The program is compiled with the submission, which defines
 * `output_t custom_kernel(input_t data)`, and with these files of the task:
 *
 *	task.h         input_t, output_t, and ArgumentNames: a constexpr std::array<const char *, N>
 *	reference.cuh  input_t generate_input(...), with one parameter for each of ArgumentNames
 *	               void check_implementation(TestReporter &, const input_t &, const output_t &)
 *	utils.h        helpers
 *
 * eval.cu copies input and output for the check. It calls their member clone() if there is one.
 * Otherwise it copies the object, and the copy shares the memory that pointers point to.
 * reference.cuh may also define
 *
 *	bool is_output_of(const input_t &data, const output_t &output)
 *
 * if custom_kernel must return the memory that it was given.
 *
 * utils.h has the exit codes. */
#include "reference.cuh"
#include "task.h"
#include "utils.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <exception>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <unistd.h>

/* The judge of the isolated engine includes this file for the results, the cases and the copies. It
 * runs no kernel. */
#ifndef PODIUM_ISOLATED
#include <nvtx3/nvToolsExt.h>

output_t custom_kernel(input_t data);
#endif

/* A namespace, because a submission may be in the same source. */
namespace podium_eval
{
namespace
{

int results = -1; /* the descriptor for the results, once known */

/* Ends the process. Writes `error:` to the results, too, because a submission could fake the exit
 * code. */
[[noreturn]] void stop(int code, const std::string &sentence)
{
	if (results >= 0)
		dprintf(results, "error: %s\n", sentence.c_str());
	std::fflush(stdout);
	std::fprintf(stderr, "eval: %s\n", sentence.c_str());
	std::_Exit(code);
}

std::string trim(std::string_view text)
{
	auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
	while (!text.empty() && blank(text.front()))
		text.remove_prefix(1);
	while (!text.empty() && blank(text.back()))
		text.remove_suffix(1);
	return std::string(text);
}

template <class Number> std::optional<Number> read_number(const std::string &text)
{
	Number number;
	const char *first = text.c_str() + (text[0] == '+'), *last = text.c_str() + text.size();
	auto [end, error] = std::from_chars(first, last, number);
	return error == std::errc() && end == last && first != last ? std::optional<Number>(number)
																: std::nullopt;
}

/* ---- the results ---- */

class Report
{
  public:
	Report()
	{
		const char *given = std::getenv("POPCORN_FD");
		auto number = read_number<int>(given ? given : "");
		if (!number || (descriptor_ = dup(*number)) < 0)
			stop(ExitCodes::REPORT,
				"POPCORN_FD must be the number of an open descriptor for the results.");
		/* The submission's standard output must not get into the results. */
		if (*number == 1)
			dup2(2, 1);
		else if (*number > 2)
			close(*number);
		unsetenv("POPCORN_FD");
		results = descriptor_;
	}

	void line(const std::string &key, const std::string &value) const
	{
		std::string text = key + ": ";
		for (char c : value) {
			if (c == '\n')
				text += "\\n";
			else
				text += c == '\r' ? ' ' : c;
		}
		text += '\n';
		for (std::size_t at = 0; at < text.size();) {
			ssize_t written = write(descriptor_, text.data() + at, text.size() - at);
			if (written < 0 && errno != EINTR)
				stop(ExitCodes::REPORT,
					std::string("The results cannot be written: ") + std::strerror(errno));
			at += written > 0 ? static_cast<std::size_t>(written) : 0;
		}
	}

	void line(const std::string &key, std::size_t value) const
	{
		line(key, std::to_string(value));
	}

	void line(const std::string &key, double value) const
	{
		char text[40];
		std::snprintf(text, sizeof text, "%.17g", value);
		line(key, std::string(text));
	}

  private:
	int descriptor_ = -1;
};

/* ---- the cases ---- */

/* The value of an argument, which converts to the type of generate_input's parameter. */
struct Argument {
	std::string name, text;
	bool is_seed = false;
	std::int64_t seed = 0; /* combined with the secret and the number of the run */

	[[noreturn]] void refuse(const char *wanted) const
	{
		stop(ExitCodes::CASES,
			"the value of " + name + " is \"" + text + "\", but generate_input takes " + wanted
				+ " there.");
	}

	template <class T> operator T() const
	{
		if constexpr (std::is_same_v<T, std::string>) {
			return text;
		} else if constexpr (std::is_same_v<T, bool>) {
			return truth();
		} else if constexpr (std::is_integral_v<T>) {
			return is_seed ? fold<T>() : whole<T>();
		} else {
			static_assert(
				std::is_floating_point_v<T>, "generate_input takes numbers, bool and std::string");
			auto number = read_number<T>(text);
			return number ? *number : (refuse("a number"), T());
		}
	}

  private:
	bool truth() const
	{
		if (text == "True" || text == "true" || text == "1")
			return true;
		return text == "False" || text == "false" || text == "0" ? false
																 : (refuse("True or False"), false);
	}

	template <class T> T whole() const
	{
		auto number = read_number<T>(text);
		return number ? *number : (refuse("a whole number within the range of its type"), T());
	}

	/* A combined seed has up to 64 bits. If the parameter's type is smaller, mixes them into as
	 * many bits as its positive values have. */
	template <class T> T fold() const
	{
		constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
		if (seed >= 0 && static_cast<std::uint64_t>(seed) <= most)
			return static_cast<T>(seed);
		return static_cast<T>(random_bits(static_cast<std::uint64_t>(seed), 0) & most);
	}
};

constexpr std::size_t argument_count = ArgumentNames.size();

struct Case {
	std::string spec; /* the line of the case file */
	std::array<Argument, argument_count> arguments;

	std::array<Argument, argument_count> another(std::int64_t number) const
	{
		auto made = arguments;
		for (Argument &argument : made)
			argument.seed += 13 * number;
		return made;
	}
};

/* Cantor's pairing function: as long as it does not wrap around, no two pairs of seeds give the
 * same number. Unsigned, because signed integers must not wrap. */
std::int64_t combine(std::int64_t public_seed, std::int64_t secret)
{
	auto a = static_cast<std::uint64_t>(public_seed), b = static_cast<std::uint64_t>(secret),
		 sum = a + b;
	return static_cast<std::int64_t>(a + (sum % 2 ? sum * ((sum + 1) / 2) : sum / 2 * (sum + 1)));
}

std::string known_names()
{
	std::string names;
	for (const char *name : ArgumentNames)
		names += (names.empty() ? "" : ", ") + std::string(name);
	return names;
}

/* Parses "name: value; name: value". */
std::map<std::string, std::string> split_case(const std::string &line, const std::string &where)
{
	std::map<std::string, std::string> values;
	for (std::size_t at = 0; at <= line.size();) {
		std::size_t end = std::min(line.find(';', at), line.size());
		std::string part = line.substr(at, end - at);
		std::size_t colon = part.find(':');
		if (colon == std::string::npos)
			stop(ExitCodes::CASES,
				where + "\"" + trim(part) + "\" is not of the form \"name: value\".");
		std::string name = trim(part.substr(0, colon));
		if (!values.emplace(name, trim(part.substr(colon + 1))).second)
			stop(ExitCodes::CASES, where + name + " is given twice.");
		at = end + 1;
	}
	return values;
}

Case read_case(
	const std::string &line, const std::string &where, std::optional<std::int64_t> secret)
{
	auto values = split_case(line, where);
	Case made{ line, {} };
	for (std::size_t i = 0; i < argument_count; i++) {
		auto found = values.find(ArgumentNames[i]);
		if (found == values.end())
			stop(ExitCodes::CASES, where + "the argument " + ArgumentNames[i] + " is missing.");
		Argument &argument = made.arguments[i];
		argument.name = found->first;
		argument.text = found->second;
		auto seed = read_number<std::int64_t>(argument.text);
		argument.is_seed = argument.name == "seed" && seed;
		if (argument.is_seed)
			argument.seed = secret ? combine(*seed, *secret) : *seed;
		values.erase(found);
	}
	if (!values.empty())
		stop(ExitCodes::CASES,
			where + values.begin()->first + " is not an argument of this task. The arguments are "
				+ known_names() + ".");
	return made;
}

std::vector<Case> read_cases(const std::string &path, std::optional<std::int64_t> secret)
{
	std::ifstream file(path);
	if (!file)
		stop(ExitCodes::CASES, "The case file " + path + " cannot be read.");
	std::vector<Case> cases;
	std::string line;
	for (int number = 1; std::getline(file, line); number++)
		if (!trim(line).empty())
			cases.push_back(
				read_case(trim(line), path + ", line " + std::to_string(number) + ": ", secret));
	if (cases.empty())
		stop(ExitCodes::CASES, "There are no cases in " + path + ".");
	return cases;
}

/* ---- copies for the check ---- */

template <class T> T copy_of(const T &value)
{
	if constexpr (requires { value.clone(); })
		return value.clone();
	else
		return value;
}

template <class Input, class Output>
bool returned_what_was_given(const Input &data, const Output &output)
{
	if constexpr (requires { is_output_of(data, output); })
		return is_output_of(data, output);
	else
		return true;
}

/* ---- the process ---- */

struct CaseFailed {
	int code;
	std::string text;
};

/* Keeps freed GPU memory for the next run, because returning it to the driver waits for the GPU. */
void keep_freed_memory()
{
	int device;
	cudaMemPool_t pool;
	std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
	CUDA_CHECK(cudaGetDevice(&device));
	CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, device));
	CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
}

std::optional<std::int64_t> take_secret()
{
	const char *given = std::getenv("POPCORN_SEED");
	if (!given || !*given)
		return std::nullopt;
	auto secret = read_number<std::int64_t>(given);
	if (!secret)
		stop(ExitCodes::CASES, "POPCORN_SEED is not a whole number.");
	unsetenv("POPCORN_SEED");
	return secret;
}

#ifndef PODIUM_ISOLATED

/* ---- the clock ---- */

/* Measures the time between two events. The GPU is idle and its L2 cache overwritten before. */
class Clock
{
  public:
	Clock()
	{
		int device, l2_bytes;
		CUDA_CHECK(cudaGetDevice(&device));
		CUDA_CHECK(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device));
		flush_ = DeviceBuffer<char>(
			std::max<std::size_t>(4 * static_cast<std::size_t>(l2_bytes), std::size_t(64) << 20));
		CUDA_CHECK(cudaEventCreate(&start_));
		CUDA_CHECK(cudaEventCreate(&end_));
	}

	Clock(const Clock &) = delete;

	void start()
	{
		CUDA_CHECK(cudaDeviceSynchronize());
		/* Also keeps the GPU busy for about 50 us while the kernel is launched. */
		CUDA_CHECK(cudaMemsetAsync(flush_.data(), 42, flush_.bytes()));
		CUDA_CHECK(cudaEventRecord(start_));
	}

	void stop()
	{
		CUDA_CHECK(cudaEventRecord(end_));
	}

	double elapsed_ns() const
	{
		float elapsed_ms = 0;
		CUDA_CHECK(cudaEventElapsedTime(&elapsed_ms, start_, end_));
		return std::max(static_cast<double>(elapsed_ms) * 1e6, 1.0);
	}

  private:
	DeviceBuffer<char> flush_;
	cudaEvent_t start_ = nullptr, end_ = nullptr;
};

struct Figures {
	double mean, std, err, best, worst;
};

Figures summarise(const std::vector<double> &durations_ns)
{
	double runs = static_cast<double>(durations_ns.size()), sum = 0, squares = 0;
	for (double duration : durations_ns)
		sum += duration;
	double mean = sum / runs;
	for (double duration : durations_ns)
		squares += (duration - mean) * (duration - mean);
	double std = runs > 1 ? std::sqrt(squares / (runs - 1)) : 0;
	auto [best, worst] = std::minmax_element(durations_ns.begin(), durations_ns.end());
	return { mean, std, std / std::sqrt(runs), *best, *worst };
}

/* When a series of timed runs ends: after `most_runs`, after `most_s` of measured time, or after
 * `wall_s` in all; earlier if the standard error after at least ten runs is below 0.1 %. */
struct Limits {
	std::size_t most_runs;
	double most_s, wall_s;

	bool reached(
		const std::vector<double> &durations_ns, std::chrono::steady_clock::time_point began) const
	{
		constexpr std::size_t least_runs = 3, least_runs_for_precision = 10;
		constexpr double precision = 0.001;
		std::size_t runs = durations_ns.size();
		if (runs < least_runs)
			return false;
		Figures figures = summarise(durations_ns);
		std::chrono::duration<double> wall = std::chrono::steady_clock::now() - began;
		return runs >= most_runs || figures.mean * static_cast<double>(runs) > most_s * 1e9
			|| wall.count() > wall_s
			|| (runs >= least_runs_for_precision && figures.err / figures.mean < precision);
	}
};

constexpr Limits WARM_UP = { 50, 0.3, 1 }, BENCHMARK = { 100, 10, 120 }, RANKED = { 100, 30, 120 };

/* ---- the modes ---- */

/* `fresh`: a new input and a check for each timed run. `profile`: one more call, for an outside
 * profiler. */
struct Mode {
	const char *name, *noun;
	const Limits *limits; /* nullptr: no timing */
	bool fresh, profile;
};

constexpr Mode MODES[] = {
	{ "test", "test", nullptr, false, false },
	{ "benchmark", "benchmark", &BENCHMARK, false, false },
	{ "leaderboard", "benchmark", &RANKED, true, false },
	{ "profile", "benchmark", nullptr, false, true },
};

class Evaluation
{
  public:
	explicit Evaluation(const Report &report) : report_(report)
	{
	}

	/* Runs every case, even after a failed one. Returns the exit code. */
	int all_cases(const Mode &mode, const std::vector<Case> &cases)
	{
		report_.line(std::string(mode.noun) + "-count", cases.size());
		for (std::size_t i = 0; i < cases.size(); i++) {
			std::string key = mode.noun + ("." + std::to_string(i) + ".");
			report_.line(key + "spec", cases[i].spec);
			try {
				one_case(mode, cases[i], key);
				report_.line(key + "status", std::string("pass"));
			} catch (const CaseFailed &failure) {
				fail(key,
					mode.noun
						+ (" " + std::to_string(i + 1) + " of " + std::to_string(cases.size())
							+ " (" + cases[i].spec + ")"),
					failure);
			}
		}
		report_.line("check", std::string(code_ ? "fail" : "pass"));
		if (code_)
			std::fprintf(stderr, "%s\n", last_words_.c_str());
		return code_;
	}

  private:
	const Report &report_;
	Clock clock_;
	int code_ = 0;      /* of the first case that failed */
	bool lost_ = false; /* a CUDA error left the GPU unusable */
	bool warm_ = false;
	std::string last_words_;

	static input_t make_input(const Case &one, std::int64_t number)
	{
		auto arguments = one.another(number);
		input_t data = std::apply(
			[](const auto &...argument) { return generate_input(argument...); }, arguments);
		CUDA_CHECK(cudaDeviceSynchronize());
		return data;
	}

	static output_t call_kernel(input_t &&data)
	{
		try {
			return custom_kernel(std::move(data));
		} catch (const std::exception &error) {
			throw CaseFailed{ ExitCodes::RAISED,
				std::string("custom_kernel threw: ") + error.what() };
		} catch (...) {
			throw CaseFailed{ ExitCodes::RAISED,
				"custom_kernel threw something other than a std::exception." };
		}
	}

	/* Runs the kernel once. If `copy` is not NULL, copies the output as soon as the clock stops.
	 * The copy then lacks what the submission computes later on another stream. */
	double run(const input_t &data, std::optional<output_t> *copy)
	{
		input_t given = data; /* the kernel takes its input by value; copied before the clock */
		clock_.start();
		output_t output = call_kernel(std::move(given));
		clock_.stop();
		if (copy)
			copy->emplace(copy_of(output));
		check_cuda();
		if (!returned_what_was_given(data, output))
			throw CaseFailed{ ExitCodes::VALIDATION,
				"custom_kernel did not return the output that it was given to fill." };
		return clock_.elapsed_ns();
	}

	/* cudaGetLastError clears the error of a failed launch. The error of a kernel that ran stays,
	 * because it leaves the GPU unusable. */
	void check_cuda()
	{
		cudaError_t launch = cudaGetLastError(), ran = cudaDeviceSynchronize();
		lost_ = ran != cudaSuccess;
		cudaError_t status = lost_ ? ran : launch;
		if (status != cudaSuccess)
			throw CaseFailed{ ExitCodes::CUDA_API,
				std::string("custom_kernel left a CUDA error: ") + cudaGetErrorString(status) + " ("
					+ cudaGetErrorName(status) + ")" };
	}

	/* Runs the kernel once on a new input. The check gets a copy of the input that the kernel has
	 * not been given. */
	double run_checked(const Case &one, std::int64_t number, std::string *message)
	{
		input_t data = make_input(one, number), untouched = copy_of(data);
		std::optional<output_t> output;
		double duration_ns = run(data, &output);
		TestReporter reporter;
		check_implementation(reporter, untouched, *output);
		if (!reporter.has_passed())
			throw CaseFailed{ ExitCodes::VALIDATION, reporter.message() };
		if (message)
			*message = reporter.message();
		return duration_ns;
	}

	std::vector<double> series(const Case &one, const Limits &limits, bool fresh)
	{
		std::vector<double> durations_ns;
		auto began = std::chrono::steady_clock::now();
		std::optional<input_t> same;
		if (!fresh)
			same.emplace(make_input(one, 0));
		while (!limits.reached(durations_ns, began))
			durations_ns.push_back(fresh
					? run_checked(one, static_cast<std::int64_t>(durations_ns.size()) + 1, nullptr)
					: run(*same, nullptr));
		return durations_ns;
	}

	void profile(const Case &one)
	{
		input_t data = make_input(one, 0);
		nvtxRangePushA("custom_kernel");
		run(data, nullptr);
		nvtxRangePop();
	}

	void one_case(const Mode &mode, const Case &one, const std::string &key)
	{
		if (lost_)
			throw CaseFailed{ ExitCodes::CUDA_API,
				"not run, because an earlier case left the GPU unusable." };
		std::string message;
		run_checked(one, 0, &message);
		if (!message.empty())
			report_.line(key + "message", message);
		if (mode.profile)
			profile(one);
		if (!mode.limits)
			return;
		if (!warm_)
			series(one, WARM_UP, true); /* raises the clocks of the GPU */
		warm_ = true;
		auto durations_ns = series(one, *mode.limits, mode.fresh);
		Figures figures = summarise(durations_ns);
		report_.line(key + "runs", durations_ns.size());
		report_.line(key + "mean", figures.mean);
		report_.line(key + "std", figures.std);
		report_.line(key + "err", figures.err);
		report_.line(key + "best", figures.best);
		report_.line(key + "worst", figures.worst);
	}

	void fail(const std::string &key, const std::string &where, const CaseFailed &failure)
	{
		report_.line(key + "status", std::string("fail"));
		report_.line(key + "error", failure.text);
		std::fprintf(stderr, "%s: %s\n", where.c_str(), failure.text.c_str());
		if (code_)
			return;
		code_ = failure.code;
		last_words_ = where + ": " + failure.text.substr(0, failure.text.find('\n'));
	}
};

#endif

} // namespace
} // namespace podium_eval

#ifndef PODIUM_ISOLATED
int main(int argc, char **argv)
{
	using namespace podium_eval;
	const Mode *mode = nullptr;
	for (const Mode &one : MODES)
		if (argc == 3 && std::strcmp(argv[1], one.name) == 0)
			mode = &one;
	if (!mode)
		stop(ExitCodes::USAGE, "usage: eval.out test|benchmark|leaderboard|profile CASEFILE");
	Report report;
	auto cases = read_cases(argv[2], take_secret());
	int code = ExitCodes::CASES;
	try {
		keep_freed_memory();
		code = Evaluation(report).all_cases(*mode, cases);
	} catch (const std::exception &error) {
		stop(ExitCodes::CASES, std::string("The task's reference.cuh threw: ") + error.what());
	}
	std::fflush(stdout);
	/* The results are written. Exit handlers of the submission must not delay the end. */
	std::_Exit(code);
}
#endif
