/* The judge of a CUDA C++ task: seeds, inputs, reference, clock, verdict. No code of a submission
 * runs here.
 *
 *	POPCORN_FD=3 ./judge.out MODE CASEFILE [MODE CASEFILE]
 *	./judge.out --can-split    exits with 0 if the task can be split; else prints why not, exits
 *	                           with 115
 *
 * MODE            test, benchmark, leaderboard or compare; the second mode starts only when all
 *                 cases of the first have passed. "build" as the second mode: the judge only makes
 *                 the plans of these cases, and a result line "warning" reports the first failure
 * POPCORN_FD      an open descriptor for the results, one `key: value` a line
 * descriptor 4    socket to the submission
 * descriptor 5    socket to the null contestant, for the timed modes
 * descriptor 6    socket to the rival, for compare
 * PODIUM_SEALED   if set, this is the judge of the sealed engine (sealed_side.h). The sockets are
 *                 then those to the submission's builder (4), its launcher (5), the null launcher
 *                 (6), the rival's builder (7) and its launcher (8). "all": the run ends before its
 *                 first case if a case cannot be recorded
 * PODIUM_PLANS    with PODIUM_SEALED: a folder for the plans of the last mode's cases
 * PODIUM_TOOLKIT  with PODIUM_PLANS: the folder of the CUDA toolkit, for the times of their nodes
 *
 * The program is compiled with the task's task.h, reference.cuh and utils.h, as eval.cu describes
 * them. It includes eval.cu to read the cases and write the results. docs/judge.md explains the
 * engine.
 *
 * Exit codes: those of eval.cu, and
 *
 * 1      the submission cannot be loaded or threw
 * 113    also: the task's own code used up the time limit
 * 114    the contestant did not answer in time
 * 115    the task cannot be split
 * 116    protocol violation
 * 117    the submission's process ended
 * 118    the rival failed, in a comparison
 * 119    the rival's process ended
 * 121    a call cannot be recorded (PODIUM_SEALED); with "all", no case was judged
 *
 * A failure before a submission is loaded is never the submission's fault (2, 113, 115).
 *
 * If a run ends before all its cases, the last result line is `error:`. */
#include <cstdint>

#include "utils.h"

/* What eval.cu needs from utils.h, for tasks with their own utils.h. */
namespace podium_eval
{
namespace ExitCodes
{
constexpr int RAISED = 1, USAGE = 2, CUDA_API = 110, REPORT = 111, VALIDATION = 112, CASES = 113,
			  SLOW = 114, NOT_SPLIT = 115, VIOLATION = 116, GONE = 117, RIVAL = 118,
			  RIVAL_GONE = 119, REFUSED = 121;
}
inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index);
} // namespace podium_eval

#define PODIUM_ISOLATED
#include "eval.cu"

#include "blocks.h"
#include "carry.h"
#include "gpu.h"
#include "host.h"
#include "sealed/sealed_side.h"
#include "seeds.h"
#include "side.h"
#include "watch.h"

#include <algorithm>
#include <bit>
#include <csignal>
#include <functional>
#include <new>
#include <numeric>
#include <set>
#include <sstream>
#include <typeinfo>
#include <utility>

#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

inline std::uint64_t podium_eval::random_bits(std::uint64_t seed, std::uint64_t index)
{
	return podium::mixed(seed, index);
}

namespace podium
{
namespace
{

namespace Code = podium_eval::ExitCodes;
using podium_eval::Case;
using podium_eval::CaseFailed;
using podium_eval::Report;
using podium_eval::stop;

constexpr double usual_limit_s = 120; /* of a mode, unless PODIUM_TIME_LIMIT_S sets another */
/* The part of the time limit that the cases may use. The rest is for the start and for delays. */
constexpr double share_for_cases = 0.85;
constexpr double share_for_calls = 0.97; /* of a mode's time limit; no call begins later */
/* Limits of one call. The first call of a case may load and tune, so it may take half of the time
 * left. */
constexpr double first_call_s = 30, call_s = 10, call_factor = 3;
constexpr std::size_t private_outputs =
	3; /* copies of an output on the host, besides its slots: the judge's, the one for the check,
          and the null contestant's form */
constexpr int most_specs = 16; /* how often the outputs of a case may need more memory */
constexpr std::size_t quiet_warm_calls =
	26; /* more than own_calls of contestant.cu, because those calls take longer */
constexpr double ready_factor =
	20; /* a submission may take 20 times as long as the null contestant to get ready */
constexpr std::int64_t leave_s = 10;       /* for a dismissed process to end */
constexpr std::int64_t trace_s = 10;       /* for the times of the nodes of all plans */
constexpr std::int64_t failed_leave_s = 2; /* as leave_s, after a failure: time may be short */
/* The judge ignores a time that a submission measured itself if it is this long or longer. */
constexpr double most_own_ns = 3600e9;
/* The contestant's first calls of a case are not pinned to a core. Otherwise threads that a library
 * starts would all inherit that core. */
constexpr int unpinned_calls = 2;

struct Mode {
	const char *name, *noun;
	bool is_timed, has_nonce, has_rival;
};

constexpr Mode MODES[] = {
	{ "test", "test", false, false, false }, { "benchmark", "benchmark", true, false, false },
	{ "leaderboard", "benchmark", true, true, false }, { "compare", "benchmark", true, true, true },
	{ "build", "benchmark", false, false, false }, /* makes plans, which no launcher plays */
};

using Input = Drawn<input_t>;

template <class Given, class Output>
constexpr bool wants_given_memory = requires(const Given &data, const Output &output)
{
	is_output_of(data, output);
};

/* Whether the task has a ref_kernel, which makes a right output. */
template <class Given, class Output> constexpr bool has_reference = requires(const Given &data)
{
	{
		ref_kernel(data)
		} -> std::convertible_to<Output>;
};

/* Whether the task's check throws an error of this type for the right output, too. */
template <class Given, class Output>
bool check_throws_by_itself(const Given &data, const std::type_info &type)
{
	if constexpr (has_reference<Given, Output>) {
		try {
			TestReporter reporter;
			Output right = ref_kernel(podium_eval::copy_of(data));
			check_implementation(reporter, data, right);
		} catch (const std::exception &error) {
			return typeid(error) == type;
		} catch (...) {
		}
	}
	return false;
}

/* ---- the task's code ---- */

/* Called when the task's code ends the process, as CUDA_CHECK does. Empty while other code runs. */
std::function<void(int code)> on_end_by_task;
bool is_over = false; /* the results are written, and nothing changes them any more */

/* Exists while the task's code runs: sets on_end_by_task and counts the time. */
class TaskRuns
{
  public:
	explicit TaskRuns(std::function<void(int code)> on_end)
		: began_(std::chrono::steady_clock::now())
	{
		on_end_by_task = std::move(on_end);
	}
	TaskRuns(const TaskRuns &) = delete;
	~TaskRuns()
	{
		on_end_by_task = nullptr;
		spent_s += ns_since(began_) / 1e9;
	}

	static inline double spent_s = 0; /* in the task's code, in the current part of the run */

  private:
	std::chrono::steady_clock::time_point began_;
};

void end_by_task(int code)
{
	auto act = std::exchange(on_end_by_task, nullptr);
	if (act)
		act(code);
}

/* Describes that the task's code ended the process with this code, with the GPU's error, if any. */
std::string ended_by_task(int code)
{
	cudaError_t status = cudaPeekAtLastError();
	std::string text = "the process ended with exit code " + std::to_string(code);
	return status == cudaSuccess ? text : text + ": " + cudaGetErrorString(status);
}

/* Whether the error says that memory is missing. */
bool is_about_memory(const std::exception &error)
{
	return dynamic_cast<const std::bad_alloc *>(&error)
		|| std::strstr(error.what(), "out of memory");
}

/* ---- inputs ---- */

class Inputs
{
  public:
	Inputs(std::optional<std::int64_t> secret, bool has_nonce, bool is_cuda)
		: seeds_(secret, has_nonce), is_cuda_(is_cuda)
	{
#ifdef PODIUM_FRESH_MEMORY
		if (is_cuda)
			PODIUM_FRESH_MEMORY = poison_fresh_memory;
#endif
	}

	/* Called when generate_input ends the process. */
	static inline std::function<void(int code)> on_end = nullptr;

	std::string nonce() const
	{
		return seeds_.nonce();
	}

	/* The input of the case as written, combined with the secret. */
	Input as_written(const Case &one) const
	{
		return make(one.another(0), seeds_.draw(one.spec, "test", 0));
	}

	/* A new input. */
	Input fresh(const Case &one, const std::string &purpose, std::uint64_t number) const
	{
		auto arguments = one.arguments;
		std::uint32_t seed = seeds_.draw(one.spec, purpose, number);
		for (auto &argument : arguments)
			argument.seed = seed;
		return make(arguments, seed);
	}

  private:
	template <class Arguments> Input make(const Arguments &arguments, unsigned seed) const
	{
		TaskRuns runs(on_end);
		std::srand(seed);
		input_t data = std::apply(
			[](const auto &...argument) { return generate_input(argument...); }, arguments);
		if (is_cuda_)
			cuda(cudaDeviceSynchronize(), "generate_input");
		return Input(std::move(data));
	}

	Seeds seeds_;
	bool is_cuda_;
};

/* ---- the time ---- */

/* The time limit, divided among the cases and the calls of a case. */
class Budget
{
  public:
	explicit Budget(double limit_s) : began_(Clock::now()), limit_s_(limit_s)
	{
	}

	/* `cases_left`: how many equal shares remain, with this case's. `most_s`: the longest share. */
	void begin_case(double cases_left, double most_s)
	{
		double share_s = std::max(0.0, limit_s_ * share_for_cases - passed_s()) / cases_left;
		end_of_case_s_ = passed_s() + std::min(share_s, most_s);
		longest_s_ = 0;
	}

	bool is_over() const
	{
		return passed_s() >= limit_s_;
	}

	double limit_s() const
	{
		return limit_s_;
	}

	bool is_case_over() const
	{
		return passed_s() >= end_of_case_s_;
	}

	/* Whether the time limit leaves `work_s` seconds. */
	bool has_room(double work_s) const
	{
		return passed_s() + work_s < limit_s_ * share_for_calls;
	}

	/* All the time that is left, for a submission to load. */
	double left_s()
	{
		is_short_ = true;
		return std::max(1.0, limit_s_ * share_for_calls - passed_s());
	}

	/* The time limit of the contestant's next call. */
	double call_limit_s()
	{
		double left_s = std::max(1.0, limit_s_ * share_for_calls - passed_s()),
			   usual_s = longest_s_ > 0 ? std::max(call_s, call_factor * longest_s_)
										: std::max(first_call_s, left_s / 2);
		is_short_ = left_s < usual_s;
		return std::min(left_s, usual_s);
	}

	/* Whether the last limit given was shorter than usual, because earlier calls used up the time.
	 */
	bool is_short() const
	{
		return is_short_;
	}

	void note_call(double took_s)
	{
		longest_s_ = std::max(longest_s_, took_s);
	}
	double passed_s() const
	{
		return std::chrono::duration<double>(Clock::now() - began_).count();
	}

  private:
	using Clock = std::chrono::steady_clock;
	Clock::time_point began_;
	double limit_s_, end_of_case_s_ = 0, longest_s_ = 0;
	bool is_short_ = false;
};

/* A mode with its cases. */
struct Part {
	const Mode &mode;
	Inputs inputs;
	std::vector<Case> cases;
	double limit_s;
};

using Parts = std::vector<Part>;

template <class Has> bool any_of(const Parts &parts, Has has)
{
	return std::any_of(
		parts.begin(), parts.end(), [&](const Part &part) { return part.mode.*has; });
}

/* Thrown if all earlier inputs of a case had the same part on the host, and a new input has another
 * one. */
struct HostPartVaries {
};

/* What the judge knows about a case and has reserved for it before it loads a submission. */
struct Plan {
	std::vector<std::byte> stream; /* of an input */
	std::size_t device_bytes = 0;
	std::uint32_t slots = 1;
	/* Whether the stream differs from input to input. Then the contestant must not have it before
	 * the clock runs. A stream that never changes is no secret. */
	bool is_handed = false;
	isolated_quiet quiet = { 0, std::numeric_limits<double>::quiet_NaN(), 0, 0, 0, {}, {}, {} };
};

/* The measurements of a contestant in a case. */
struct Measurement {
	Blocks blocks;
	Values own; /* what the contestant measured itself */
	/* How many blocks count although they were disturbed, by reason. */
	std::map<std::string, int> disturbed;
	int repeated = 0;                 /* blocks that were measured again */
	std::map<const Side *, int> late; /* calls for which a side got ready late */
	Watch watch;
	std::size_t rest = 0; /* calls of a last block that the time limit cut short; do not count */
};

/* ---- calls ---- */

class Judge
{
  public:
	/* `only_built`: parts of the mode "build"; `sealed`: PODIUM_SEALED; `plans_folder`:
	 * PODIUM_PLANS; "" without. */
	Judge(const Report &report, const Parts &parts, const Parts &only_built, bool is_cuda,
		std::string sealed, std::string plans_folder)
		: sealed_(std::move(sealed)), plans_folder_(std::move(plans_folder)), report_(report),
		  parts_(parts), only_built_(only_built), part_(&parts.front()),
		  usual_rule_(is_cuda ? isolated_cuda_rule : isolated_cpu_rule), rule_(usual_rule_),
		  budget_(part_->limit_s)
	{
		std::int32_t own_cpu = -1;
		isolated_affinity before;
		Inputs::on_end = [this](int code) {
			if (code != Code::CUDA_API)
				stop(Code::CASES,
					"The task's generate_input ended the process with exit code "
						+ std::to_string(code) + ".");
			lose_own("generate_input failed: " + ended_by_task(code) + ".", Code::CUDA_API);
		};
		if (is_cuda)
			succeed(isolated_cuda_open());
		if (is_cuda)
			device_ = std::make_unique<Device>();
		if (is_cuda)
			succeed(isolated_choose_cpus(&own_cpu, &contestants_cpu_));
		else
			succeed(isolated_choose_cpu(&own_cpu));
		if (!is_cuda)
			contestants_cpu_ = own_cpu;
		succeed(isolated_pin(own_cpu, &before));
	}

	/* Starts the sides in the order of their sockets. Then reserves memory and measures the null
	 * contestant, and only after that loads a submission, which can no longer disturb these steps.
	 */
	void meet()
	{
		int count = any_of(parts_, &Mode::has_rival) ? 3 : any_of(parts_, &Mode::is_timed) ? 2 : 1;
		for (int i = 0; i < count; i++)
			sides_.push_back(is_sealed() ? make_sealed_side(i) : make_side(i));
		make_plans(); /* meanwhile the contestants start */
		for (auto &side : sides_)
			ready(*side, &Side::greet);
		if (count > 1)
			ready(null(), &Side::load);
		take_room();
		if (count > 1) {
			calibrate();
			measure_quiet();
		}
		for (auto &side : sides_)
			if (!side->is_null() && (side.get() != &entry() || count < 3))
				load(*side);
	}

	/* Runs the parts until one has a failed case. Returns the exit code. */
	int all_parts()
	{
		for (const Part &part : parts_) {
			if (&part != part_) {
				settle();
				budget_ = Budget(part.limit_s);
				TaskRuns::spent_s = 0;
				spent_s_.clear();
			}
			part_ = &part;
			all_cases(part.cases);
			if (code_)
				break;
		}
		return code_;
	}

	/* Adds to each saved plan the times at which its nodes run. All results are already written and
	 * count without these times, so from here on the process ends with 0, whatever happens.
	 * `toolkit`: the folder of the CUDA toolkit. */
	void trace(const std::string &toolkit)
	{
		if (plans_folder_.empty() || std::strcmp(mode().name, "leaderboard") != 0 || code_)
			return;
		is_over = true;
		podium_eval::results = -1;
		std::signal(SIGALRM, [](int) { _exit(0); });
		alarm(static_cast<unsigned>(std::min<double>(trace_s, budget_.left_s())));
		try {
			for (std::size_t i = 0; i < part_->cases.size(); i++)
				trace_case(part_->cases[i], plans_folder_ + "/" + std::to_string(i) + ".times",
					toolkit + "/extras/CUPTI/lib64:" + toolkit + "/lib64:" + toolkit + "/lib");
		} catch (...) {
			std::fputs("Some plans have no times.\n", stderr);
		}
		alarm(0);
	}

	/* Ends the run because the judge's own work failed, although it worked before a submission was
	 * loaded. If one side is loaded, that side is at fault. If two are, the side at fault is the
	 * one that does not leave, or frees over half of the GPU's memory when it leaves. `code`: the
	 * exit code if the submission is at fault. */
	[[noreturn]] void lose_own(const std::string &failure, int code)
	{
		for (Side *suspect : loaded_) {
			auto before = loaded_.size() > 1 ? settled_free_bytes() : std::nullopt;
			bool is_it = loaded_.size() == 1 || !suspect->leave(leave_s * second_ns);
			auto after = is_it ? std::nullopt : settled_free_bytes();
			if (is_it || (before && after && *after > *before + room_bytes_ / 2))
				stop(suspect == &entry() ? code : Code::RIVAL,
					"The " + suspect->name()
						+ " kept the judge from its own work, which was possible before the "
						+ suspect->name() + " was loaded. " + failure);
		}
		stop(Code::USAGE, failure);
	}

	/* Ends the run because the task's code threw an exception without an output to check. */
	[[noreturn]] void lose_by_task(const std::exception &error)
	{
		if (is_about_memory(error))
			lose_own(std::string("The task's reference.cuh threw: ") + error.what(), Code::RAISED);
		stop(Code::CASES, std::string("The task's reference.cuh threw: ") + error.what());
	}

  private:
	static constexpr int first_socket = 4;
	static constexpr const char *names[] = { "submission", "null contestant", "rival" };

	bool is_sealed() const
	{
		return !sealed_.empty();
	}

	std::unique_ptr<Side> make_side(int number)
	{
		return std::make_unique<Side>(
			names[number], first_socket + number, number == 1, device_.get());
	}

	std::unique_ptr<Side> make_sealed_side(int number)
	{
		constexpr int sockets[] = { first_socket, first_socket + 2, first_socket + 3 };
		int socket = sockets[number];
		if (number == 1)
			return std::make_unique<Launched>(names[number], socket, true, device_.get());
		return std::make_unique<SealedSide>(names[number], socket, socket + 1, device_.get());
	}

	/* Waits until podium-run has read the results so far. podium-run then assigns later output of
	 * contestants to the next part. */
	static void settle()
	{
		constexpr int most_looks = 10'000;
		int unread = 1;
		for (int i = 0;
			 i < most_looks && ioctl(podium_eval::results, FIONREAD, &unread) == 0 && unread; i++)
			usleep(200);
	}

	const Mode &mode() const
	{
		return part_->mode;
	}
	const Inputs &inputs() const
	{
		return part_->inputs;
	}
	Side &entry()
	{
		return *sides_[0];
	}
	Side &null()
	{
		return *sides_[1];
	}
	Side &rival()
	{
		return *sides_[2];
	}

	/* The side whose output's form the null contestant returns. */
	Side &leader()
	{
		return *players_[0];
	}

	void load(Side &side)
	{
		loaded_.push_back(&side);
		spent_s_[&side] = 0;
		ready(side, &Side::load);
		if (is_sealed())
			build(static_cast<SealedSide &>(side));
	}

	/* Lets the side's builder make the plans of all cases. Then the submission's process must end,
	 * and its work on the GPU, so that nothing of it is left when calls begin. */
	void build(SealedSide &side)
	{
		build_cases(side);
		if (!side.see_off_builder(leave_s * second_ns))
			stop(&side == &entry() ? Code::SLOW : Code::RIVAL,
				"The " + side.name() + "'s process did not end within " + std::to_string(leave_s)
					+ " s after its dismissal.");
		settled_free_bytes();
		device_->rest();
	}

	void build_cases(SealedSide &side)
	{
		for (const Parts *parts : { &parts_, &only_built_ })
			for (const Part &part : *parts)
				if (!build_part(side, part))
					return;
	}

	/* Returns whether the builder can make other plans. */
	bool build_part(SealedSide &side, const Part &part)
	{
		bool is_played = std::strcmp(part.mode.name, "build") != 0, has_warned = &part == part_;
		for (std::size_t i = 0; i < part.cases.size(); i++) {
			if (!is_played && !budget_.has_room(budget_.limit_s() / 2))
				return false;
			const Case &one = part.cases[i];
			auto failure = build_case(side, part, one);
			if (!is_played)
				side.forget(&plans_[&one]);
			if (failure && !has_warned)
				report_.line("warning",
					"Benchmark " + std::to_string(i + 1) + " of "
						+ std::to_string(part.cases.size()) + " (" + one.spec + ") will fail. "
						+ failure->text);
			has_warned |= failure.has_value();
			if (failure && failure->code == Code::CUDA_API)
				return false;
		}
		return true;
	}

	std::optional<CaseFailed> build_case(SealedSide &side, const Part &part, const Case &one)
	{
		Input input = part.inputs.fresh(one, "build", 0);
		try {
			attempt(side, [&] { side.build(&plans_[&one], input, limit_ns()); });
		} catch (const CaseFailed &failure) {
			if (sealed_ == "all" && failure.code == Code::REFUSED)
				stop(Code::REFUSED, "The case " + one.spec + ": " + failure.text);
			return failure;
		}
		return std::nullopt;
	}

	/* ---- before a submission is loaded ---- */

	void make_plans()
	{
		for (const Part &part : parts_)
			for (const Case &one : part.cases) {
				Input input = part.inputs.fresh(one, "look", 0);
				Plan &plan = plans_[&one];
				plan.is_handed = (!part.mode.is_timed && !is_sealed())
					|| part.inputs.fresh(one, "look", 1).stream != input.stream;
				if (is_sealed() && plan.is_handed)
					stop_for_host_part(one);
				plan.slots = slots_for(input, part.mode.is_timed);
				plan.device_bytes = input.device_bytes;
				plan.stream = std::move(input.stream);
			}
	}

	/* Ends the run because the inputs of a case differ on the host. The sealed engine cannot judge
	 * such a case: a plan has no data on the host. */
	[[noreturn]] void stop_for_host_part(const Case &one)
	{
		stop(Code::NOT_SPLIT,
			"Two inputs of the case " + one.spec
				+ " differ in their part on the host. The sealed engine needs inputs that differ "
				  "only in memory on the GPU.");
	}

	/* Gives every side the device memory that the inputs of any case need. */
	void take_room()
	{
		std::size_t most = 0;
		for (const auto &[one, plan] : plans_)
			most = std::max(most, round_up(plan.device_bytes, piece_alignment) * plan.slots);
		for (auto &side : sides_)
			if (most)
				attempt(*side, [&] {
					side->give_room(most);
					side->call_without_data(ISOLATED_NOTHING, limit_ns(), -1);
				});
		room_bytes_ = device_ ? device_->free_bytes() : 0;
	}

	/* Measures the null contestant's calls in each timed case while no submission is loaded. Takes
	 * turns with the other sides, as the later measurements do. Also runs empty kernels between the
	 * calls, as the later controls do. */
	void measure_quiet()
	{
		if (!rule_.most_calibrations)
			return;
		device_->copy_ns(1, 1); /* measures the rate while no submission can slow it */
		for (const Part &part : parts_)
			for (std::size_t i = 0; part.mode.is_timed && i < part.cases.size(); i++) {
				std::vector<Timing> calls;
				Values probed, empty;
				Plan &plan = plans_[&part.cases[i]];
				Input input = part.inputs.fresh(part.cases[i], "look", 0);
				attempt(null(), [&] {
					give_inputs(null(), input, plan);
					for (std::size_t k = 0; k < quiet_warm_calls + rule_.calls; k++) {
						Called called = null().call(input, limit_ns(), contestants_cpu_, 0, true);
						if (called.status != ISOLATED_RETURNED)
							fail(null());
						Timing timing = called.timing;
						device_->note_switch(timing.touch_ns);
						timing.rest_ns = device_->rest();
						calls.push_back(timing);
						double empty_ns = run_empty(null());
						if (k >= quiet_warm_calls) {
							probed.push_back(timing.probed_ns);
							empty.push_back(empty_ns);
						}
						for (auto &side : sides_)
							if (!side->is_null())
								run_empty(*side);
					}
				});
				plan.quiet = isolated_quiet_of({ calls.data() + quiet_warm_calls, rule_.calls });
				plan.quiet.empty_ns = std::max(quiet_ns_, center(empty));
				if (input.device_bytes)
					plan.quiet.probed_ns = center(probed);
			}
	}

	/* Runs every case, even after a failed one. */
	void all_cases(const std::vector<Case> &cases)
	{
		report_.line(std::string(mode().noun) + "-count", cases.size());
		if (mode().has_rival)
			compare(cases);
		else
			judge_alone(cases);
		if (mode().has_nonce)
			report_.line("nonce", inputs().nonce());
		report_.line("check", std::string(code_ ? "fail" : "pass"));
	}

	std::string key_of(std::size_t number) const
	{
		return mode().noun + ("." + std::to_string(number) + ".");
	}

	void judge_alone(const std::vector<Case> &cases)
	{
		players_ = { &entry() };
		for (std::size_t i = 0; i < cases.size(); i++) {
			std::string key = key_of(i);
			report_.line(key + "spec", cases[i].spec);
			budget_.begin_case(static_cast<double>(cases.size() - i), rule_.most_s);
			try_case(key, cases[i], [&] {
				begin_case(cases[i]);
				least_blocks_ = mode().is_timed ? isolated_least_blocks : 0;
				if (mode().is_timed)
					write_figures(key, measure(cases[i]));
				else
					write_message(key, "");
				report_.line(key + "status", std::string("pass"));
			});
			if (!plans_folder_.empty() && part_ == &parts_.back())
				save_plan(cases[i], i);
		}
	}

	/* The run's result counts whether or not its plans can be saved. */
	void save_plan(const Case &one, std::size_t number)
	{
		mkdir(plans_folder_.c_str(), 0755);
		std::string path = plans_folder_ + "/" + std::to_string(number);
		if (static_cast<SealedSide &>(entry()).save_plan(&plans_[&one], path))
			return;
		std::fprintf(stderr, "The plan of the case %s could not be saved.\n", one.spec.c_str());
		plans_folder_.clear();
	}

	void trace_case(const Case &one, const std::string &path, const std::string &folders)
	{
		constexpr auto limit_ns = trace_s * second_ns;
		auto &side = static_cast<SealedSide &>(entry());
		Input input = inputs().fresh(one, "trace", 0);
		give_inputs(side, input, plans_[&one]);
		side.begin_trace(folders, limit_ns);
		for (int i = 0; i < traced_calls; i++)
			if (side.call(input, limit_ns, contestants_cpu_, 0).status != ISOLATED_RETURNED)
				throw Broken{ ISOLATED_FAILED, "a traced call failed" };
		side.end_trace(path, limit_ns);
	}

	/* Calls `act` for a case and reports a failure. Calls it again, now with is_handed, if the
	 * inputs' part on the host varies although the first inputs had the same. */
	template <class Do> void try_case(const std::string &key, const Case &one, Do &&act)
	{
		plan_ = &plans_[&one];
		again_.clear();
		try {
			try {
				act();
			} catch (const HostPartVaries &) {
				if (is_sealed())
					stop_for_host_part(one);
				plan_->is_handed = true;
				again_ = " again";
				act();
			}
		} catch (const CaseFailed &failure) {
			report_.line(key + "status", std::string("fail"));
			report_.line(key + "error", failure.text);
			code_ = code_ ? code_ : failure.code;
		}
	}

	/* A case of a comparison. */
	struct Duel {
		const Case &one;
		std::string key;
		Measurement theirs_alone = {}, ours = {}, ours_alone = {};
		Blocks theirs = {};
	};

	using Duels = std::vector<Duel>;

	/* Measures the rival alone, before the submission is loaded; then both in turns; then the
	 * submission alone, after the rival has left. So a side can disturb the other one only in the
	 * turns. The first failure ends the comparison, and the side that failed loses it. */
	void compare(const std::vector<Case> &cases)
	{
		Duels duels;
		for (const Case &one : cases) {
			duels.push_back({ one, key_of(duels.size()) });
			report_.line(duels.back().key + "spec", one.spec);
		}
		each_duel(
			duels, { &rival() }, 3, [&](Duel &duel) { duel.theirs_alone = measure(duel.one); });
		load(entry());
		each_duel(duels, { &entry(), &rival() }, 1, [&](Duel &duel) { measure_both(duel); });
		if (code_)
			return;
		see_off_rival();
		each_duel(duels, { &entry() }, 0, [&](Duel &duel) {
			duel.ours_alone = measure(duel.one);
			write_comparison(duel);
			report_.line(duel.key + "status", std::string("pass"));
		});
	}

	/* Calls `act` for each case with these players, and gives each case its share of the time left.
	 * `later`: how many measurements of one contestant follow for each case after this step. */
	template <class Do>
	void each_duel(Duels &duels, std::vector<Side *> players, std::size_t later, Do &&act)
	{
		players_ = std::move(players);
		series_ = players_.size() > 1 ? "" : " alone";
		for (std::size_t i = 0; i < duels.size() && !code_; i++) {
			double calls_left =
				static_cast<double>(later * duels.size() + players_.size() * (duels.size() - i));
			budget_.begin_case(calls_left / static_cast<double>(players_.size()),
				players_.size() > 1 ? rule_.most_pairs_s : rule_.most_s);
			try_case(duels[i].key, duels[i].one, [&] {
				begin_case(duels[i].one);
				act(duels[i]);
			});
		}
	}

	void see_off_rival()
	{
		if (!rival().leave(leave_s * second_ns))
			stop(Code::RIVAL,
				"The rival's process did not end within " + std::to_string(leave_s)
					+ " s after its dismissal.");
		loaded_.erase(std::find(loaded_.begin(), loaded_.end(), &rival()));
	}

	/* Calls `act` (Side::greet or Side::load). Ends the run if the contestant is not ready then. */
	void ready(Side &side, std::optional<Said> (Side::*act)(std::int64_t limit_ns))
	{
		std::optional<Said> said;
		attempt(side,
			[&] { said = (side.*act)(static_cast<std::int64_t>(budget_.left_s() * second_ns)); });
		if (said && &side != &entry())
			lose(side, Code::RIVAL, "The " + side.name() + " cannot be loaded: " + said->text);
		if (said)
			lose(side, Code::RAISED, said->text);
	}

	/* Measures how much longer an empty kernel takes in each contestant's process than in the null
	 * contestant's, before a submission is loaded. All memory is mapped by then, because mapping
	 * can make an empty kernel take longer. A first block only shows when an empty kernel ends,
	 * which decides when the gates open. */
	void calibrate()
	{
		for (auto &side : sides_) {
			Values deltas, quiet;
			if (side->is_null() || !rule_.most_calibrations)
				continue;
			double expected_ns = calibration(*side).null_ns;
			for (Side *one : { side.get(), &null() })
				one->open_at(expected_ns - rule_.open_before_ns);
			while (!isolated_is_calibrated(view(deltas), &rule_)) {
				Calibration block = calibration(*side);
				deltas.push_back(block.delta_ns);
				quiet.push_back(block.null_ns);
			}
			side->delta_ns = center(deltas);
			quiet_ns_ = center(quiet);
		}
	}

	struct Calibration {
		double delta_ns, null_ns;
	};

	/* Measures a block of empty kernels of the side and of the null contestant, in random order. */
	Calibration calibration(Side &side)
	{
		Values ours, theirs;
		for (std::size_t i = 0; i < rule_.calls; i++) {
			bool is_first = unforeseen() % 2;
			if (is_first)
				ours.push_back(run_empty(side));
			theirs.push_back(run_empty(null()));
			if (!is_first)
				ours.push_back(run_empty(side));
		}
		return { center(ours) - center(theirs), center(theirs) };
	}

	double run_empty(Side &side)
	{
		double elapsed_ns = 0;
		attempt(side, [&] {
			elapsed_ns = side.call_without_data(ISOLATED_EMPTY, limit_ns(), contestants_cpu_);
		});
		return elapsed_ns;
	}

	/* ---- failures ----
	 *
	 * While no submission is loaded, the machine or the task is at fault. While one submission is
	 * loaded, that submission is at fault. While two are loaded, the one whose process or output
	 * failed is at fault, unless the other one holds so much memory that it may have left none. */

	bool is_loaded(const Side &side) const
	{
		return std::find(loaded_.begin(), loaded_.end(), &side) != loaded_.end();
	}

	/* Calls `act` for a side. A contestant that violates the protocol or ends also ends the run. */
	template <class Do> void attempt(Side &side, Do &&act)
	{
		double began_s = budget_.passed_s() - TaskRuns::spent_s;
		auto note = [&] { spent_s_[&side] += budget_.passed_s() - TaskRuns::spent_s - began_s; };
		try {
			act();
			note();
		} catch (const Broken &broken) {
			note();
			if (broken.code == ISOLATED_TIMEOUT && budget_.is_short())
				stop_for_time();
			give_up(side, broken);
		} catch (const Malformed &fault) {
			give_up(side,
				{ ISOLATED_VIOLATION,
					std::string("The contestant left no output that can be read: ") + fault.what()
						+ "." });
		} catch (const CaseFailed &failure) {
			if (failure.code == Code::CASES)
				throw;
			if (&side != &entry())
				lose(side, Code::RIVAL, "The " + side.name() + " failed: " + failure.text);
			allow_for_memory(side);
			throw;
		} catch (const GpuLost &lost) {
			if (side.is_null() || !is_loaded(side))
				throw;
			lose(side, &side == &entry() ? Code::CUDA_API : Code::RIVAL,
				"The judge could not work with the " + side.name() + "'s output: " + lost.what());
		} catch (const std::bad_alloc &) {
			if (side.is_null() || !is_loaded(side))
				throw;
			lose(side, &side == &entry() ? Code::RAISED : Code::RIVAL,
				"The judge found no memory for the " + side.name() + "'s output.");
		}
	}

	[[noreturn]] void give_up(Side &side, const Broken &broken)
	{
		if (side.is_null())
			blame("The null contestant failed: " + broken.why);
		if (&side != &entry())
			lose(side, broken.code == ISOLATED_GONE ? Code::RIVAL_GONE : Code::RIVAL,
				"The " + side.name() + " failed: " + broken.why);
		switch (broken.code) {
		case ISOLATED_GONE: lose(side, Code::GONE, "The submission's process ended.");
		case ISOLATED_TIMEOUT: lose(side, Code::SLOW, broken.why);
		case ISOLATED_VIOLATION: lose(side, Code::VIOLATION, broken.why);
		default: lose(side, Code::RAISED, "The judge failed: " + broken.why);
		}
	}

	/* Call it when a side timed out because little of the time limit was left. If the task's own
	 * code took longer than the submissions' calls, ends the run and blames the task. Otherwise
	 * ends a comparison: the side that has spent more time loses. Returns if there is no rival. */
	void stop_for_time()
	{
		double calls_s = 0;
		for (const Side *side : loaded_)
			calls_s += spent_s_[side];
		char sentence[240];
		std::snprintf(sentence, sizeof sentence,
			"The task's own code took %.3g s of the limit of %.3g s, the submission's calls %.3g "
			"s. Make generate_input and check_implementation faster, or raise the limit.",
			TaskRuns::spent_s, budget_.limit_s(), calls_s);
		if (!loaded_.empty() && TaskRuns::spent_s > calls_s)
			stop(Code::CASES, sentence);
		if (!mode().has_rival)
			return;
		bool is_rival = !is_loaded(entry()) || spent_s_[&entry()] < spent_s_[&rival()];
		Side &slower = is_rival ? rival() : entry();
		stop(loaded_.empty() ? Code::USAGE
				: is_rival   ? Code::RIVAL
							 : Code::SLOW,
			loaded_.empty() ? "The time limit was over before the submission could be loaded."
							: "The " + slower.name() + " used up the time limit.");
	}

	/* Ends the run if no time is left for the side's next call. */
	void need_time(Side &side)
	{
		char sentence[100];
		if (!budget_.is_over())
			return;
		stop_for_time();
		std::snprintf(sentence, sizeof sentence,
			"No time was left for the next call. The limit of %.3g s was reached.",
			budget_.limit_s());
		lose(side, Code::SLOW, sentence);
	}

	/* Ends the run because this side's process or output failed. If no submission is loaded there,
	 * the machine is at fault. */
	[[noreturn]] void lose(Side &side, int code, const std::string &sentence)
	{
		allow_for_memory(side);
		stop(is_loaded(side) ? code : Code::USAGE, sentence);
	}

	/* If one of two loaded sides failed and the other one holds over half of the GPU's memory, ends
	 * the run without a loser, because the failed side may have found no room. The failed side is
	 * dismissed first, so that its own memory does not count. */
	void allow_for_memory(Side &failed)
	{
		for (Side *side : loaded_) {
			if (side == &failed || !device_ || !is_loaded(failed))
				continue;
			failed.leave(failed_leave_s * second_ns);
			auto before = settled_free_bytes();
			bool has_left = side->leave(leave_s * second_ns);
			auto after = settled_free_bytes();
			if (!has_left || (before && after && *after > *before + room_bytes_ / 2))
				stop(Code::USAGE,
					"The " + side->name()
						+ " uses over half of the GPU's memory, so the failure of the other one "
						  "decides nothing.");
		}
	}

	/* Returns the GPU's free memory once it no longer changes, because the driver frees the memory
	 * of a process some time after the process's socket has closed. Returns nothing without a
	 * working GPU. */
	std::optional<std::size_t> settled_free_bytes() const
	{
		constexpr int most_looks = 40, pause_us = 50'000;
		if (!device_)
			return std::nullopt;
		try {
			std::size_t free = device_->free_bytes(), before = free + 1;
			for (int i = 0; i < most_looks && free != before; i++) {
				usleep(pause_us);
				before = std::exchange(free, device_->free_bytes());
			}
			return free;
		} catch (const GpuLost &) {
			return std::nullopt;
		}
	}

	/* Ends the run because the null contestant failed. Dismisses the loaded submissions one after
	 * the other. A submission is at fault if it does not leave, or if the null contestant works
	 * again once it has left. */
	[[noreturn]] void blame(const std::string &failure)
	{
		std::vector<Side *> suspects = loaded_;
		for (Side *suspect : suspects) {
			if (suspect->leave(leave_s * second_ns) && !null_works())
				continue;
			bool is_full = failure.find("CUDA_ERROR_OUT_OF_MEMORY") != std::string::npos;
			lose(*suspect, suspect == &entry() ? Code::RAISED : Code::RIVAL,
				(is_full ? std::string("The GPU's memory is full: the judge found no room for "
									   "inputs and outputs. A submission must leave room for "
									   "them. ")
						 : "The " + suspect->name()
							+ " kept the judge's own process from working; without it, that "
							  "process works. ")
					+ failure);
		}
		stop(Code::USAGE, failure);
	}

	bool null_works()
	{
		try {
			null().resume(limit_ns());
			null().call_without_data(ISOLATED_EMPTY, limit_ns(), contestants_cpu_);
			return true;
		} catch (const Broken &) {
			return false;
		}
	}

	/* Throws the failure that a contestant reports about its call. */
	[[noreturn]] void fail(Side &side)
	{
		Said said{ THREW, "" };
		attempt(side, [&] { said = side.complaint(); });
		if (side.is_null())
			blame("The null contestant failed: " + said.text);
		lost_ = lost_ || said.complaint == LOST_GPU;
		bool is_cuda = said.complaint == LEFT_ERROR || said.complaint == LOST_GPU;
		throw CaseFailed{ is_cuda ? Code::CUDA_API : Code::RAISED, said.text };
	}

	/* ---- one call ---- */

	std::int64_t limit_ns()
	{
		return static_cast<std::int64_t>(budget_.call_limit_s() * static_cast<double>(second_ns));
	}

	/* Gives the contestant memory for larger outputs. */
	void grow(Side &side)
	{
		Needs needs = side.needs();
		std::size_t most_device_bytes = device_ ? device_->free_bytes() / 4 / plan_->slots : 0;
		if (side.specs() > most_specs)
			throw CaseFailed{ Code::VALIDATION,
				"The outputs of a case become larger repeatedly. At most "
					+ std::to_string(most_specs) + " times are allowed." };
		if (needs.device_bytes && !device_)
			throw Broken{ ISOLATED_VIOLATION,
				"The contestant asked for memory of a GPU, and there is none." };
		if (!output_slots(needs) || needs.device_bytes > most_device_bytes)
			throw CaseFailed{ Code::VALIDATION,
				"custom_kernel returned "
					+ std::to_string((needs.host_bytes + needs.device_bytes) >> 20)
					+ " MiB, for which there is no memory." };
		Needs more = { needs.host_bytes + needs.host_bytes / 4,
			needs.device_bytes + needs.device_bytes / 4 };
		if (side.specs() > 1 && output_slots(more))
			needs = more;
		give_outputs(side, needs, nullptr);
	}

	/* How many slots the outputs get: as many as the inputs, or fewer if the host has less memory;
	 * 0 if it has none for a single one. */
	std::uint32_t output_slots(const Needs &needs) const
	{
		std::size_t stride = Side::host_stride(needs.host_bytes),
					in_memory = host_bytes_ / sides_.size() / stride,
					in_file = most_file_bytes() / stride;
		in_memory -= std::min(in_memory, private_outputs);
		in_file -= std::min<std::size_t>(in_file, 1); /* the form */
		return static_cast<std::uint32_t>(
			std::min({ std::size_t(plan_->slots), in_memory, in_file }));
	}

	void give_outputs(Side &side, const Needs &needs, const std::vector<std::byte> *form)
	{
		side.give_outputs(needs, std::max<std::uint32_t>(1, output_slots(needs)), form);
	}

	/* Calls a function of the task with a submission's output. If the function throws, the output
	 * is at fault, unless the task's check throws the same type for the right output. */
	template <class Ask>
	void ask_task(Side &side, const Input &input, const std::string &name, Ask &&ask)
	{
		auto sentence = [&](const std::string &why) {
			return name + " could not work with what custom_kernel returned: " + why;
		};
		auto on_end = [&](int code) {
			bool is_entry = &side == &entry();
			lose(side, is_entry ? Code::CUDA_API : Code::RIVAL,
				(is_entry ? "" : "The rival failed: ") + sentence(ended_by_task(code)) + ".");
		};
		try {
			TaskRuns runs(on_end);
			ask();
		} catch (const std::bad_alloc &) {
			throw;
		} catch (const std::exception &error) {
			TaskRuns runs(on_end);
			if (check_throws_by_itself<input_t, output_t>(input.data, typeid(error)))
				throw CaseFailed{ Code::CASES,
					"The task's " + name + " fails by itself, which is no fault of the submission: "
						+ error.what() };
			throw CaseFailed{ Code::RAISED, sentence(error.what()) };
		} catch (...) {
			throw CaseFailed{ Code::RAISED, sentence("it threw no std::exception") };
		}
	}

	void check(Side &side, const Input &input, const output_t &output, std::string *message)
	{
		if (!side.output().probes_agree())
			throw Broken{ ISOLATED_VIOLATION,
				"The submission said that it was done before its output was complete." };
		if constexpr (wants_given_memory<input_t, output_t>) {
			auto [given, returned] = side.output().in_place<output_t>(input);
			bool is_given = false;
			ask_task(side, input, "is_output_of",
				[&] { is_given = podium_eval::returned_what_was_given(given, returned); });
			if (!is_given)
				throw CaseFailed{ Code::VALIDATION,
					"custom_kernel did not return the output that it was given to fill." };
		}
		TestReporter reporter;
		ask_task(side, input, "check_implementation",
			[&] { check_implementation(reporter, input.data, output); });
		if (!reporter.has_passed())
			throw CaseFailed{ Code::VALIDATION, reporter.message() };
		if (!side.output().is_unchanged())
			throw Broken{ ISOLATED_VIOLATION,
				"The output changed after the submission had said that it was done." };
		if (message)
			*message = reporter.message();
	}

	/* Makes one call and checks the output. Returns nothing if the contestant needed larger memory
	 * for its output and has got it; the caller then calls again, with another input. */
	std::optional<Called> call(
		Side &side, const Input &input, int cpu, std::string *message = nullptr)
	{
		std::optional<Called> called;
		if (!side.is_null())
			need_time(side);
		if (!plan_->is_handed && input.stream != plan_->stream)
			throw HostPartVaries();
		attempt(side, [&] {
			if (!side.has_room(input.stream.size(), input.device_bytes))
				give_inputs(side, input, *plan_);
			double began_s = budget_.passed_s();
			called =
				side.call(input, limit_ns(), cpu, side.is_null() ? wait_ns_after(leader()) : 0);
			budget_.note_call(budget_.passed_s() - began_s);
			if (called->status == ISOLATED_NEW_SPEC) {
				grow(side);
				called.reset();
			} else if (called->status != ISOLATED_RETURNED) {
				fail(side);
			} else if (side.has_outputs()) {
				output_t output = side.output().read<output_t>(input, &called->timing.take_ns);
				if (device_)
					called->timing.rest_ns = device_->rest();
				if (!side.is_null()) {
					check(side, input, output, message);
					if (!is_sealed())
						side.note_write(output);
				}
			} else if (!side.is_null()) {
				throw Broken{ ISOLATED_VIOLATION,
					"The submission returned an output for which it has no memory yet." };
			}
		});
		return called;
	}

	/* How long the judge waits after the start of a null contestant's call: as long as this side's
	 * last call took. A judge that has waited is slower afterwards. With equal waits, the judge's
	 * own work differs only by what the side has left on the GPU. */
	double wait_ns_after(const Side &side) const
	{
		return std::min(rule_.wait_ns, side.latest_ns());
	}

	/* Makes a call that counts. The warm-up calls have shown how much memory the output needs and
	 * which parts of it lie in the input's memory, and the probes and the null contestant depend on
	 * both. So a contestant that needs more memory now violates the protocol, and an output in
	 * other memory is wrong. */
	Called measured(Side &side, const Input &input)
	{
		auto called = call(side, input, contestants_cpu_);
		if (!called)
			attempt(side, [] {
				throw Broken{ ISOLATED_VIOLATION,
					"The outputs of a case become larger while it is measured." };
			});
		if (side.output().has_moved())
			attempt(side, [] {
				throw CaseFailed{ Code::VALIDATION,
					"custom_kernel returned a part of its input in one call and memory of its own "
					"in another. Return the same memory in each call of a case." };
			});
		return *called;
	}

	/* ---- a case ---- */

	/* How many slots a side gets: more than four times the L2 cache, if there is memory for that.
	 */
	std::uint32_t slots_for(const Input &input, bool is_timed) const
	{
		constexpr std::size_t most = 64, least = 2, on_host = 4, large = std::size_t(64) << 20;
		if (is_sealed())
			return 1;
		if (!is_timed)
			return least;
		if (!device_ || !input.device_bytes)
			return input.stream.size() > large ? least : on_host;
		std::size_t wanted = std::min(most, 4 * device_->l2_bytes() / input.device_bytes + least);
		std::size_t room = device_->free_bytes() / 4 / (input.device_bytes * sides_.size());
		return static_cast<std::uint32_t>(std::max<std::size_t>(1, std::min(wanted, room)));
	}

	static void add_line(std::string &text, const std::string &line)
	{
		text += (text.empty() || line.empty() ? "" : "\n") + line;
	}

	/* Writes the check's message and the remarks. */
	void write_message(const std::string &key, const std::string &remarks)
	{
		std::string text = message_;
		add_line(text, remarks);
		if (!text.empty())
			report_.line(key + "message", text);
	}

	static std::string needed_calls()
	{
		return std::to_string(isolated_least_blocks * isolated_least_calls) + " calls in "
			+ std::to_string(isolated_least_blocks) + " blocks";
	}

	/* Remarks about the figures, as sentences for the page. */
	std::string remarks_about(const Measurement &made, const Summary &summary) const
	{
		std::string text;
		auto add = [&](const std::string &line) { add_line(text, line); };
		const double least_ns = negligible(made.blocks, rule_);
		char sentence[160];
		if (summary.blocks < isolated_least_blocks && !mode().has_rival)
			add("The time limit left room for " + std::to_string(summary.runs) + " calls in "
				+ std::to_string(summary.blocks) + (summary.blocks > 1 ? " blocks" : " block")
				+ ". A time with an interval needs " + needed_calls() + ".");
		for (const auto &[why, count] : made.disturbed)
			add("In " + std::to_string(count) + " of " + std::to_string(summary.blocks) + " blocks "
				+ why
				+ (made.repeated ? "; " + std::to_string(made.repeated)
							+ (made.repeated > 1 ? " more were" : " more was") + " measured again."
								 : "."));
		std::snprintf(sentence, sizeof sentence,
			"The blocks of calls differ so much that the upper end of the interval counts: %.1f us "
			"more than their center.",
			summary.surcharge_ns / 1000);
		if (summary.surcharge_ns > 0)
			add(sentence);
		std::snprintf(sentence, sizeof sentence,
			"The time includes work on the GPU before and after the calls: %.1f us a call.",
			summary.overrun_ns / 1000);
		if (summary.overrun_ns > least_ns)
			add(sentence);
		std::snprintf(sentence, sizeof sentence,
			"Empty kernels between the calls took %.1f us longer than before the submission was "
			"loaded; that is not subtracted.",
			summary.disturbance_ns / 1000);
		if (summary.disturbance_ns > least_ns)
			add(sentence);
		return text;
	}

	/* Calls every player until it has returned a right output. Gives memory to a side only when it
	 * is called, because a side reads its frames only then. */
	void begin_case(const Case &one)
	{
		if (lost_)
			throw CaseFailed{ Code::CUDA_API,
				"not run, because an earlier case left the GPU unusable." };
		message_.clear();
		after_ = nullptr;
		number_ = 0;
		for (Side *side : players_)
			begin_side(*side, one);
	}

	void begin_side(Side &side, const Case &one)
	{
		bool is_first = true;
		for (std::optional<Called> called; !called; is_first = false) {
			Input input = mode().is_timed
				? inputs().fresh(one, "warm" + series_ + again_, number_++)
				: inputs().as_written(one);
			if (is_first)
				attempt(side, [&] { give_inputs(side, input, *plan_); });
			called = call(side, input, -1, &side == &entry() ? &message_ : nullptr);
		}
	}

	void give_inputs(Side &side, const Input &input, const Plan &plan)
	{
		side.choose(&plan, input.pieces);
		side.give_inputs(input.stream.size(), input.device_bytes, plan.slots, plan.is_handed);
	}

	/* Makes calls that are verified but do not count, and chooses the rule by their time. That is
	 * the time to make an input, call the side and check its output, plus the time of a null
	 * contestant's call, for which the judge waits as long as for the side's. In a comparison the
	 * faster side's time counts. Otherwise a side could be slow now, and both sides would get fewer
	 * calls. */
	void warm_up(Measurement &made, const Case &one)
	{
		made.watch.look();
		double null_s = 0, pair_s = std::numeric_limits<double>::infinity();
		for (Side *side : players_) {
			double side_s = warm_up(*side, made, one, null_s), wait_s = wait_ns_after(*side) / 1e9;
			if (side == &leader())
				null_s = warm_up(null(), made, one, side_s) - wait_s;
			pair_s = std::min(pair_s, side_s + wait_s);
		}
		rule_ = isolated_rule_for(&usual_rule_, pair_s + null_s);
	}

	/* `others_s`: how long the other call of a pair takes. Returns how long this side's second call
	 * takes, because the first may still load something. */
	double warm_up(Side &side, Measurement &made, const Case &one, double others_s)
	{
		auto began = std::chrono::steady_clock::now();
		double took_s = 0;
		rule_ = usual_rule_;
		if (side.is_null()) {
			Input input = inputs().fresh(one, "warm" + series_ + again_, number_++);
			attempt(side, [&] {
				give_inputs(side, input, *plan_);
				if (is_sealed())
					static_cast<Launched &>(side).follow(static_cast<Launched &>(leader()));
				else
					give_outputs(side, leader().form_needs(), &leader().output().form());
			});
		}
		for (std::size_t i = 0; i < rule_.most_warm_calls; i++) {
			auto calling = std::chrono::steady_clock::now();
			Input input = inputs().fresh(one, "warm" + series_ + again_, number_++);
			if (side.is_null())
				calling = std::chrono::steady_clock::now();
			auto called = call(side, input, i < unpinned_calls ? -1 : contestants_cpu_);
			if (called && &side == &leader() && called->own_ns < most_own_ns)
				made.own.push_back(called->own_ns);
			if (i == 1) {
				took_s = ns_since(calling) / 1e9;
				rule_ = isolated_rule_for(&usual_rule_, others_s + took_s);
			}
			/* The null contestant always gets the usual number of warm-up calls, because its first
			 * calls take longer. */
			if (i + 1 >= (side.is_null() ? usual_rule_ : rule_).least_warm_calls
				&& ns_since(began) > rule_.warm_s * 1e9)
				break;
		}
		return took_s;
	}

	/* ---- blocks ---- */

	/* Makes one call of a side and appends its timing to `calls`. The next call appends the
	 * duration of its head to `heads`, because that shows what this call left on the GPU. Returns
	 * how many ns the side took to get ready. */
	double note(Side &side, const Input &input, std::vector<Timing> &calls, Values &heads)
	{
		Called called = measured(side, input);
		if (after_)
			after_->push_back(called.timing.head_ns);
		after_ = &heads;
		calls.push_back(called.timing);
		return called.ready_ns;
	}

	bool needs_blocks(const Measurement &made) const
	{
		return made.blocks.size() < least_blocks_;
	}

	/* Whether the case's time is up. A case that needs blocks for its interval continues while the
	 * time limit has room for another pair of calls. */
	bool is_time_up(const Measurement &made) const
	{
		return needs_blocks(made) ? !budget_.has_room(pair_s_) : budget_.is_case_over();
	}

	/* Whether a block ends before it has all its calls. */
	bool is_block_over(const Measurement &made, std::size_t calls) const
	{
		return (needs_blocks(made) && is_time_up(made))
			|| (calls >= isolated_least_calls && budget_.is_case_over());
	}

	/* Measures a block. `theirs`: the rival's block in a comparison, otherwise NULL. The order of
	 * calls is random, so that a submission that keeps the GPU busy after its call does not know
	 * whose call follows. */
	void run_block(const Case &one, Measurement &made, Block &ours, Block *theirs)
	{
		after_ = nullptr;
		for (std::size_t i = 0; i < rule_.calls && !is_block_over(made, i);) {
			auto began = std::chrono::steady_clock::now();
			Input input = inputs().fresh(one, "timed" + series_ + again_, number_++);
			double ready_ns = 0;
			std::vector<Side *> late = call_all(input, ours, theirs, ready_ns);
			pair_s_ = ns_since(began) / 1e9;
			if (!late.empty()) {
				drop_calls(ours, theirs);
				for (Side *side : late)
					note_late(made, *side);
				continue;
			}
			ours.pair_s.push_back((ns_since(began) - ready_ns) / 1e9);
			/* Puts the block's controls behind random pairs of calls (selection sampling). */
			if (unforeseen() % (rule_.calls - i++) < rule_.controls - ours.controls.size())
				control(ours);
		}
		end_block(made.watch, ours, theirs);
	}

	/* Removes the last calls of a block, which do not count because a submission got ready late. */
	static void drop_calls(Block &ours, Block *theirs)
	{
		ours.calls.pop_back();
		ours.null.pop_back();
		if (theirs) {
			theirs->calls.pop_back();
			theirs->null.pop_back();
		}
	}

	void note_late(Measurement &made, Side &side)
	{
		if (++made.late[&side] > isolated_most_late)
			attempt(side, [] {
				throw Broken{ ISOLATED_VIOLATION,
					"The submission took too long to get ready for a call, several times." };
			});
	}

	/* Calls all sides with one input. Returns those that got ready late. `all_ready_ns`: how long
	 * all sides together took to get ready. */
	std::vector<Side *> call_all(
		const Input &input, Block &ours, Block *theirs, double &all_ready_ns)
	{
		std::vector<double> ready_ns;
		double null_ready_ns = 0;
		std::vector<Side *> turns = players_, late;
		turns.push_back(&null());
		for (std::size_t left = turns.size(); left > 1; left--)
			std::swap(turns[left - 1], turns[unforeseen() % left]);
		for (Side *side : turns) {
			if (side->is_null()) {
				ready_ns.push_back(null_ready_ns = note_null(input, ours, theirs));
			} else {
				Block &block = side == &leader() ? ours : *theirs;
				ready_ns.push_back(note(*side, input, block.calls, block.heads));
			}
		}
		double most_ns = std::max(rule_.ready_ns, ready_factor * null_ready_ns);
		for (std::size_t i = 0; i < turns.size(); i++)
			if (!turns[i]->is_null() && ready_ns[i] > most_ns)
				late.push_back(turns[i]);
		all_ready_ns = std::accumulate(ready_ns.begin(), ready_ns.end(), 0.0);
		return late;
	}

	/* Calls the null contestant. If a side's block has one call more than the null contestant's,
	 * the side was called with this input before. */
	double note_null(const Input &input, Block &ours, Block *theirs)
	{
		bool is_after_ours = ours.calls.size() > ours.null.size(),
			 is_after_theirs = theirs && theirs->calls.size() > theirs->null.size();
		double ready_ns = note(null(), input, ours.null, ours.null_heads);
		if (theirs) {
			theirs->null.push_back(ours.null.back());
			theirs->null.back().is_after = is_after_theirs;
		}
		ours.null.back().is_after = is_after_ours;
		return ready_ns;
	}

	/* Calls an empty kernel of the null contestant, which shows whether a submission keeps the GPU
	 * busy. */
	void control(Block &block)
	{
		block.controls.push_back(run_empty(null()));
		after_ = nullptr;
	}

	void end_block(Watch &watch, Block &ours, Block *theirs)
	{
		for (std::size_t i = 0; i < rule_.bells; i++)
			attempt(null(), [&] {
				ours.bells.push_back(
					null().call_without_data(ISOLATED_NOTHING, limit_ns(), contestants_cpu_));
			});
		ours.delta_ns = leader().delta_ns;
		ours.quiet = plan_->quiet;
		ours.quiet.copy_ns = leader().copy_ns();
		ours.quiet.take_ns = leader().take_ns();
		ours.slowed_by = watch.look();
		if (!theirs)
			return;
		theirs->null_heads = ours.null_heads;
		theirs->bells = ours.bells;
		theirs->controls = ours.controls;
		theirs->quiet = ours.quiet;
		theirs->delta_ns = rival().delta_ns;
	}

	/* How a block was disturbed, so that it should be measured again; "" if it was not. `others`:
	 * the other blocks of the same side. */
	std::string disturbance_of(const Block &block, const Blocks &others) const
	{
		const char *overrun = "the GPU was at work before or after the calls";
		const double least = negligible({ block }, rule_);
		return block.slowed_by ? "the GPU was slowed down (" + Watch::reasons(block.slowed_by) + ")"
			: block.disturbance(rule_) > least         ? "empty kernels took longer than before"
			: block.constant_moved(rule_)              ? "the constant changed"
			: overrun_of(block, others, rule_) > least ? overrun
			: block.is_uneven(rule_) ? "some calls took another time than the rest"
									 : "";
	}

	/* Whether blocks with these disturbances must be measured again. After the most repeats, or
	 * when the case's time is over, disturbed blocks count, and the result page says so. */
	bool must_repeat(Measurement &made, std::set<std::string> whys)
	{
		whys.erase("");
		if (!whys.empty()
			&& isolated_may_repeat(static_cast<std::size_t>(made.repeated), made.blocks.size())
			&& !budget_.is_case_over()) {
			made.repeated++;
			return true;
		}
		for (const std::string &why : whys)
			made.disturbed[why]++;
		return false;
	}

	/* Measures a case. Measures it again if empty kernels took longer over all blocks, or if many
	 * blocks were disturbed and less than enough_s have passed: the machine may have drifted and
	 * recovered. An attempt that the time limit cut short never replaces an earlier one. */
	Measurement measure(const Case &one)
	{
		double began_s = budget_.passed_s();
		Measurement kept = attempt_at(one);
		refuse_few_blocks(kept);
		least_blocks_ = 0;
		auto must_go_on = [&] {
			bool is_soon = budget_.passed_s() - began_s < rule_.enough_s;
			std::size_t disturbed = 0;
			for (const auto &[why, count] : kept.disturbed)
				disturbed += static_cast<std::size_t>(count);
			return steady_disturbance(kept.blocks, rule_) > negligible(kept.blocks, rule_)
				|| (is_soon && isolated_are_spoiled(disturbed, kept.blocks.size()));
		};
		for (int i = 1; i < isolated_most_attempts && must_go_on() && !budget_.is_case_over();
			 i++) {
			Measurement other = attempt_at(one);
			if (is_enough(other.blocks, rule_))
				std::swap(kept, other);
			kept.repeated += other.repeated + static_cast<int>(other.blocks.size());
			kept.own.insert(kept.own.end(), other.own.begin(), other.own.end());
		}
		if (delays_probes(kept.blocks, rule_))
			attempt(leader(), [] {
				throw Broken{ ISOLATED_VIOLATION,
					"The submission said that its output was complete, and kept the GPU from "
					"showing it to the judge until it was." };
			});
		return kept;
	}

	/* Ends the run if the time limit had no room for the blocks that a ranked time needs. Other
	 * modes show a time without an interval. */
	void refuse_few_blocks(const Measurement &made)
	{
		if (!made.blocks.empty() && (!needs_blocks(made) || !mode().has_nonce))
			return;
		std::size_t calls = made.rest;
		for (const auto &block : made.blocks)
			calls += block.calls.size();
		stop_for_time();
		char limit[60];
		std::snprintf(limit, sizeof limit, " The limit of %.3g s was reached.", budget_.limit_s());
		lose(entry(), Code::SLOW,
			"The submission is too slow for this time limit: " + std::to_string(calls)
				+ (calls == 1 ? " call" : " calls") + " fitted, and a time needs " + needed_calls()
				+ "." + limit);
	}

	Measurement attempt_at(const Case &one)
	{
		Measurement made;
		warm_up(made, one);
		double began_s = budget_.passed_s();
		auto is_over = [&] {
			return is_enough(made.blocks, rule_) || is_time_up(made)
				|| is_long_enough(made.blocks, budget_.passed_s() - began_s, rule_);
		};
		while (made.blocks.empty() || !is_over()) {
			Block block;
			run_block(one, made, block, nullptr);
			if (block.calls.size() < isolated_least_calls) {
				made.rest = block.calls.size();
				break;
			}
			if (made.blocks.empty() && is_faster(block))
				continue;
			if (!must_repeat(made, { disturbance_of(block, made.blocks) }))
				made.blocks.push_back(std::move(block));
		}
		return made;
	}

	/* Whether the first block's calls were so much faster than those of the warm-up that the rule
	 * for short calls applies, which this function then sets. Otherwise a submission that is slow
	 * in the warm-up would be called less often. Getting ready does not count as slow, because it
	 * is not charged. */
	bool is_faster(const Block &block)
	{
		Rule usual = isolated_rule_for(&usual_rule_, median(block.pair_s));
		if (usual.calls <= rule_.calls)
			return false;
		rule_ = usual;
		return true;
	}

	void measure_both(Duel &duel)
	{
		auto is_over = [&] {
			Values ours = values_of(duel.ours.blocks, rule_),
				   theirs = values_of(duel.theirs, rule_);
			return isolated_is_decided(view(ours), view(theirs), &rule_) || budget_.is_case_over();
		};
		warm_up(duel.ours, duel.one);
		while (duel.theirs.empty() || !is_over()) {
			Block ours, theirs;
			run_block(duel.one, duel.ours, ours, &theirs);
			if (duel.theirs.empty() && is_faster(ours))
				continue;
			if (must_repeat(duel.ours,
					{ disturbance_of(ours, duel.ours.blocks),
						disturbance_of(theirs, duel.theirs) }))
				continue;
			duel.ours.blocks.push_back(std::move(ours));
			duel.theirs.push_back(std::move(theirs));
		}
	}

	/* ---- results ---- */

	/* Encodes the samples as little-endian float32 in base64. */
	static std::string base64(const Values &samples)
	{
		static_assert(std::endian::native == std::endian::little);
		static constexpr char digits[] =
			"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
		std::vector<float> floats(samples.begin(), samples.end());
		auto bytes = reinterpret_cast<const unsigned char *>(floats.data());
		std::size_t count = floats.size() * sizeof(float);
		std::string text;
		for (std::size_t i = 0; i < count; i += 3) {
			unsigned group = static_cast<unsigned>(bytes[i] << 16
				| (i + 1 < count ? bytes[i + 1] << 8 : 0) | (i + 2 < count ? bytes[i + 2] : 0));
			for (std::size_t k = 0; k < 4; k++)
				text += i + k > count ? '=' : digits[group >> (18 - 6 * k) & 63];
		}
		return text;
	}

	void write_figures(
		const std::string &key, const Measurement &made, const std::string &remark = "")
	{
		Summary summary(made.blocks, made.own, rule_);
		std::string remarks = remarks_about(made, summary);
		add_line(remarks, remark);
		write_message(key, remarks);
		const struct {
			const char *name;
			double value;
		} figures[] = {
			{ "mean", summary.mean_ns },
			{ "std", summary.std_ns },
			{ "err", summary.err_ns },
			{ "best", summary.best_ns },
			{ "worst", summary.worst_ns },
			{ "median", summary.median_ns },
			{ "low", summary.low_ns },
			{ "high", summary.high_ns },
			{ "constant", summary.constant_ns },
		};
		report_.line(key + "runs", summary.runs);
		for (const auto &figure : figures)
			if (!std::isnan(figure.value)) /* an interval that is unknown */
				report_.line(key + figure.name, figure.value);
		if (!std::isnan(summary.own_ns))
			report_.line(key + "own", summary.own_ns);
		if (summary.overrun_ns > 0)
			report_.line(key + "gap", summary.overrun_ns);
		report_.line(key + "blocks", summary.blocks);
		report_.line(key + "repeated", static_cast<std::size_t>(made.repeated));
		summary.samples.resize(
			isolated_thin(summary.samples.data(), summary.samples.size(), isolated_most_samples));
		report_.line(key + "samples", base64(summary.samples));
		std::string device = made.watch.json();
		if (!device.empty())
			report_.line(key + "device", device);
	}

	void write_comparison(const Duel &duel)
	{
		Values ours = values_of(duel.ours.blocks, rule_), theirs = values_of(duel.theirs, rule_);
		Values ours_alone = values_of(duel.ours_alone.blocks, rule_),
			   theirs_alone = values_of(duel.theirs_alone.blocks, rule_);
		Comparison turns = isolated_in_turns(view(ours), view(theirs), &rule_),
				   alone = isolated_apart(view(ours_alone), view(theirs_alone), &rule_),
				   found = isolated_compared(turns, alone);
		char remark[200];
		std::snprintf(remark, sizeof remark,
			"Taking turns, the first of the two took %.3f times as long as alone, the second %.3f "
			"times: one slows the other down, or the machine has changed.",
			center(ours) / center(ours_alone), center(theirs) / center(theirs_alone));
		write_figures(duel.key, found.is_apart ? duel.ours_alone : duel.ours,
			isolated_agree(turns, alone) ? "" : remark);
		report_.line(duel.key + "rival", found.rival_ns);
		report_.line(duel.key + "ratio", found.ratio);
		report_.line(duel.key + "ratio_low", found.low);
		report_.line(duel.key + "ratio_high", found.high);
		report_.line(duel.key + "ratio_err", found.err);
	}

	const std::string sealed_;
	std::string plans_folder_;
	const Report &report_;
	const Parts &parts_, &only_built_;
	const Part *part_; /* the current part */
	const Rule &usual_rule_;
	Rule rule_; /* of the current case */
	std::unique_ptr<Device> device_;
	std::vector<std::unique_ptr<Side>> sides_; /* submission, null contestant, rival */
	Budget budget_;
	double quiet_ns_ =
		0; /* an empty kernel of the null contestant before a submission was loaded */
	std::int32_t contestants_cpu_ = -1;
	std::size_t room_bytes_ = 0;                 /* the GPU's memory that submissions may use */
	const std::size_t host_bytes_ = host_room(); /* the host's memory for outputs */
	std::map<const Case *, Plan> plans_;
	Plan *plan_ = nullptr;                   /* of the current case */
	std::vector<Side *> loaded_;             /* the sides where code of a submission may run */
	std::map<const Side *, double> spent_s_; /* in their calls */
	std::vector<Side *> players_;            /* the sides called now, with the null contestant */
	std::string series_; /* part of a seed's purpose: differs between measurements of a case */
	std::string again_;  /* the same, if the case began again with is_handed */
	std::uint64_t number_ = 0;     /* of inputs in this case */
	std::size_t least_blocks_ = 0; /* which a case gets while the time limit has room */
	double pair_s_ = 0;            /* how long the last calls with one input took */
	std::string message_;          /* the check's message about the first output */
	Values *after_ = nullptr;      /* where the duration of the next head goes; NULL: nowhere */
	int code_ = 0;                 /* of the first case that failed */
	bool lost_ = false;            /* a CUDA error left the GPU unusable for the contestant */
};

/* Why this task cannot be split; "" if it can be. */
std::string cannot_split()
{
	const struct {
		std::string blame, name;
	} types[] = { { not_carried<input_t>(), "input_t" }, { not_carried<output_t>(), "output_t" } };
	for (const auto &type : types)
		if (!type.blame.empty())
			return "The type " + type.blame + " in " + type.name
				+ " cannot be carried to another process.";
	return "";
}

int say_whether_split()
{
	std::string why = cannot_split();
	std::printf("%s\n", why.c_str());
	return why.empty() ? 0 : Code::NOT_SPLIT;
}

/* Makes this process unreadable for other processes of its user. PODIUM_HIDE is set on hosts whose
 * sandbox does not ensure this. */
void hide()
{
	const char *wanted = std::getenv("PODIUM_HIDE");
	if (wanted && *wanted)
		prctl(PR_SET_DUMPABLE, 0);
}

/* A variable of the environment, which this removes; "" if there is none. */
std::string take_variable(const char *name)
{
	const char *found = std::getenv(name);
	std::string value = found ? found : "";
	unsetenv(name);
	return value;
}

const Mode *find_mode(const char *name)
{
	for (const Mode &one : MODES)
		if (std::strcmp(name, one.name) == 0)
			return &one;
	return nullptr;
}

/* `words`: the mode and the case file of each part. */
Parts read_parts(char **words, int count, bool is_cuda)
{
	Parts parts;
	auto secret = podium_eval::take_secret();
	const char *given = std::getenv("PODIUM_TIME_LIMIT_S");
	std::istringstream limits(given ? given : "");
	for (int i = 0; i < count; i += 2) {
		const Mode &mode = *find_mode(words[i]);
		double limit_s = 0;
		if (!(limits >> limit_s) || !(limit_s > 0))
			limit_s = usual_limit_s;
		parts.push_back({ mode, Inputs(secret, mode.has_nonce, is_cuda),
			podium_eval::read_cases(words[i + 1], secret), limit_s });
	}
	return parts;
}

int judge(const Report &report, char **words, int count)
{
	hide();
	const char *visible = std::getenv("CUDA_VISIBLE_DEVICES");
	bool is_cuda = visible && *visible;
	std::string sealed = take_variable("PODIUM_SEALED"), plans = take_variable("PODIUM_PLANS"),
				toolkit = take_variable("PODIUM_TOOLKIT");
	if (!sealed.empty() && !is_cuda)
		stop(Code::USAGE, "The sealed engine needs a GPU.");
	std::string why = cannot_split();
	if (why.empty() && !is_cuda && (has_device<input_t> || has_device<output_t>))
		why = "The task's data are on a GPU, and there is none.";
	if (!why.empty())
		stop(Code::NOT_SPLIT, why);
	Parts parts = read_parts(words, count, is_cuda), only_built;
	if (parts.size() > 1 && std::strcmp(parts.back().mode.name, "build") == 0) {
		only_built.push_back(parts.back());
		parts.pop_back();
	}
	Judge judge(report, parts, only_built, is_cuda, sealed, sealed.empty() ? "" : plans);
	try {
		judge.meet();
		int code = judge.all_parts();
		judge.trace(toolkit);
		return code;
	} catch (const GpuLost &lost) {
		judge.lose_own(
			std::string("The judge could not use the GPU: ") + lost.what(), Code::CUDA_API);
	} catch (const Broken &broken) {
		judge.lose_own("The judge failed: " + broken.why, Code::RAISED);
	} catch (const std::exception &error) {
		judge.lose_by_task(error);
	}
}

} // namespace
} // namespace podium

/* Replaces the C library's _Exit, which CUDA_CHECK in a task's code calls, so that the judge learns
 * of that end. */
extern "C" void _Exit(int code) noexcept
{
	if (podium::is_over)
		_exit(0);
	podium::end_by_task(code);
	_exit(code);
}

int main(int argc, char **argv)
{
	using namespace podium;
	if (argc == 2 && std::strcmp(argv[1], "--can-split") == 0)
		return say_whether_split();
	if ((argc != 3 && argc != 5) || !find_mode(argv[1]) || (argc == 5 && !find_mode(argv[3])))
		stop(Code::USAGE,
			"usage: judge.out test|benchmark|leaderboard|compare CASEFILE [MODE CASEFILE]");
	Report report;
	int code = Code::CASES;
	on_exit([](int status, void *) { end_by_task(status); }, nullptr);
	try {
		code = judge(report, argv + 1, argc - 1);
	} catch (const Broken &broken) {
		stop(Code::USAGE, broken.why);
	} catch (const GpuLost &error) {
		stop(Code::USAGE, error.what());
	} catch (const std::exception &error) {
		stop(Code::CASES, std::string("The task's reference.cuh threw: ") + error.what());
	}
	std::fflush(stdout);
	std::_Exit(code);
}
