/* A contestant of the sealed engine as the judge of a CUDA C++ task sees it (podium_sealed_side.py
 * is the same for Python tasks).
 *
 * The submission's process is only the builder. It makes a plan for each case, and the judge
 * dismisses it before the first call. Then the contestant is the launcher, which has no code of the
 * submission (launch.h).
 *
 *	BuilderPeer   the process of a submission
 *	SealedSide    a submission: first its builder, then its launcher
 *	Launched      the null contestant
 *
 * In each case a launcher gets new memory at the same two addresses: the input's place, and the
 * arena with what the submission had allocated when it was built. The arena is no larger than the
 * plan needs, because the judge restores all of it before each call. So a call cannot leave
 * anything for a later one. */
#ifndef PODIUM_SEALED_SIDE_H
#define PODIUM_SEALED_SIDE_H

#include "isolated/host.h"
#include "isolated/side.h"
#include "sealed/launch.h"
#include "sealed/range.h"

#include <map>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace podium
{

constexpr std::uint64_t input_address = SEALED_RANGE_ADDRESS,
						arena_address = SEALED_RANGE_ADDRESS + (UINT64_C(64) << 30);
constexpr double most_kept_share = 0.25; /* of the free memory, for the contents of one arena */
constexpr std::int64_t map_limit_ns = 60 * second_ns;
constexpr int traced_calls = 6; /* sealed_traced_calls of trace.h */

#ifndef PODIUM_ARENA_BYTES
#define PODIUM_ARENA_BYTES (std::size_t(1) << 30)
#endif

using podium_eval::CaseFailed;

[[noreturn]] inline void fail_case(int code, const std::string &text)
{
	throw CaseFailed{ code, text };
}

[[noreturn]] inline void refuse_plan(const std::string &why)
{
	fail_case(podium_eval::ExitCodes::REFUSED,
		"custom_kernel does something that the sealed engine cannot record. " + why);
}

[[noreturn]] inline void violate(const std::string &why)
{
	throw Broken{ ISOLATED_VIOLATION, "The submission's process sent a wrong plan: " + why + "." };
}

class Descriptor
{
  public:
	explicit Descriptor(int number = -1) : number_(number)
	{
	}
	Descriptor(Descriptor &&other) noexcept : number_(std::exchange(other.number_, -1))
	{
	}
	Descriptor &operator=(Descriptor &&other) noexcept
	{
		std::swap(number_, other.number_);
		return *this;
	}
	~Descriptor()
	{
		if (number_ >= 0)
			close(number_);
	}
	int number() const
	{
		return number_;
	}

  private:
	int number_;
};

/* Memory for what a submission allocates. */
struct Arena {
	explicit Arena(Device &device, std::size_t bytes = PODIUM_ARENA_BYTES) : memory(true, bytes)
	{
		device.clear(memory.data(), memory.bytes());
	}

	/* Writes these first bytes, and 0 behind them. */
	void restore(Device &device, const std::byte *kept, std::size_t kept_bytes)
	{
		device.copy(memory.data(), kept, kept_bytes);
		device.clear(memory.data() + kept_bytes, memory.bytes() - kept_bytes);
	}

	Memory memory;
};

/* What a builder has made for a case. */
struct Built {
	Descriptor file; /* a memfd of the judge, as launch.h describes it for the frame PLAN */
	std::uint32_t text_bytes;
	sealed_outputs outputs;
	std::vector<std::byte> form; /* the output's stream */
	PrivateMemory kept;          /* the arena's first bytes before each call; the others are 0 */
	std::size_t kept_bytes = 0, arena_bytes = 0;
	std::string figures; /* the launcher's answer to the plan; "": it has not taken it */
};

/* ---- the builder ---- */

class BuilderPeer
{
  public:
	explicit BuilderPeer(int socket) : socket_(socket), mail_(std::make_unique<Mail>(socket))
	{
		mail_->send(ISOLATED_HELLO, isolated_hello{ isolated_version, 1 });
	}

	/* Waits for the answer READY. Returns the builder's complaint, if any. */
	std::optional<Said> await_ready(std::int64_t limit_ns)
	{
		return await(ISOLATED_READY, limit_ns);
	}

	std::optional<Said> load(const Memory &arena, std::int64_t limit_ns)
	{
		give(arena_address, arena, false, true);
		if (auto said = await(ISOLATED_MAPPED, limit_ns))
			return said;
		mail_->send(ISOLATED_LOAD);
		return await(ISOLATED_READY, limit_ns);
	}

	/* Makes the plan for this input, whose bytes on the device are in `place`. Throws CaseFailed if
	 * there is no plan. */
	template <class Input>
	Built build(const Drawn<Input> &drawn, const Memory &place, std::int64_t limit_ns)
	{
		Memory stream(false, std::max<std::size_t>(drawn.stream.size(), 1));
		std::memcpy(stream.data(), drawn.stream.data(), drawn.stream.size());
		int descriptor = stream.descriptor();
		give(input_address, place, true, false);
		need_mapped(limit_ns);
		mail_->send(ISOLATED_INPUTS,
			sealed_input_stream{ input_address, drawn.device_bytes, stream.bytes() }, &descriptor,
			1);
		need_mapped(limit_ns);
		mail_->send(ISOLATED_BUILD);
		int descriptors[isolated_most_descriptors];
		std::uint32_t kind = mail_->receive(limit_ns, descriptors);
		Descriptor file(descriptors[0]);
		for (int i = 1; i < isolated_most_descriptors; i++)
			if (descriptors[i] >= 0)
				close(descriptors[i]);
		std::optional<Built> made;
		std::optional<CaseFailed> failure;
		std::string content = mail_->text();
		try {
			made = read_answer(kind, content, file.number());
		} catch (const CaseFailed &failed) {
			failure = failed;
		}
		mail_->send(ISOLATED_PLACE, sealed_place{ input_address, 0, 0, 0 });
		need_mapped(limit_ns);
		if (failure)
			throw *failure;
		return std::move(*made);
	}

	/* Ends the frames to the builder, which then leaves. Returns whether its socket closed in time.
	 */
	bool leave(std::int64_t limit_ns)
	{
		shutdown(socket_, SHUT_WR);
		return mail_->await_end(limit_ns);
	}

  private:
	static constexpr std::uint64_t most_file_size =
		(UINT64_C(16) << 20) + (UINT64_C(1) << 30) + (1 << 17); /* the limits of plan.h */
	static constexpr std::size_t most_words = 6000;             /* of a text, in bytes */

	void give(std::uint64_t address, const Memory &memory, bool is_input, bool is_arena)
	{
		int descriptor = memory.descriptor();
		mail_->send(ISOLATED_PLACE, sealed_place{ address, memory.bytes(), is_input, is_arena },
			&descriptor, 1);
	}

	static Said said(const std::string &text)
	{
		if (text.empty())
			throw Broken{ ISOLATED_VIOLATION,
				"The submission's process reported a failure without a reason." };
		return { static_cast<Complaint>(text[0]), cleaned(text.substr(1, most_words)) };
	}

	std::optional<Said> await(std::uint32_t wanted, std::int64_t limit_ns)
	{
		std::uint32_t kind = mail_->receive(limit_ns);
		if (kind == ISOLATED_TEXT)
			return said(mail_->text());
		if (kind != wanted)
			throw Broken{ ISOLATED_VIOLATION,
				"The submission's process sent an unexpected frame." };
		return std::nullopt;
	}

	void need_mapped(std::int64_t limit_ns)
	{
		if (auto fault = await(ISOLATED_MAPPED, limit_ns))
			fail_case(podium_eval::ExitCodes::RAISED, fault->text);
	}

	static Built read_answer(std::uint32_t kind, const std::string &content, int file)
	{
		sealed_built head;
		if (kind == ISOLATED_TEXT)
			fail_case(podium_eval::ExitCodes::RAISED, said(content).text);
		if (kind != ISOLATED_BUILT || content.size() < sizeof head)
			throw Broken{ ISOLATED_VIOLATION,
				"The submission's process sent an unexpected frame." };
		std::memcpy(&head, content.data(), sizeof head);
		std::string rest = content.substr(sizeof head);
		if (head.status != SEALED_BUILT)
			fail(head.status, rest);
		Built built;
		built.text_bytes = head.text_bytes;
		if (head.arena_bytes > PODIUM_ARENA_BYTES)
			violate("it needs more memory than there was");
		built.arena_bytes = head.arena_bytes;
		if (rest.size() < sizeof built.outputs)
			violate("its output is missing");
		std::memcpy(&built.outputs, rest.data(), sizeof built.outputs);
		check_outputs(built.outputs);
		auto form = reinterpret_cast<const std::byte *>(rest.data());
		built.form.assign(form + sizeof built.outputs, form + rest.size());
		built.file = copy_file(file, head.text_bytes);
		return built;
	}

	[[noreturn]] static void fail(std::uint32_t status, const std::string &text)
	{
		if (status == SEALED_REFUSED)
			refuse_plan(cleaned(text.substr(0, most_words)));
		if (status != SEALED_RAISED)
			throw Broken{ ISOLATED_VIOLATION,
				"The submission's process answered with an unknown status." };
		Said why = said(text);
		fail_case(why.complaint == LEFT_ERROR || why.complaint == LOST_GPU
				? podium_eval::ExitCodes::CUDA_API
				: podium_eval::ExitCodes::RAISED,
			why.text);
	}

	static void check_outputs(const sealed_outputs &outputs)
	{
		std::uint64_t most = PODIUM_ARENA_BYTES;
		if (outputs.begin % piece_alignment || outputs.bytes % piece_alignment
			|| outputs.begin > most || outputs.bytes > most - outputs.begin)
			violate("its output lies outside of the arena");
	}

	/* Copies the plan's file, because the builder can change it at any time. The launcher checks
	 * what it contains. Only a memfd has seals, and reading a memfd never blocks. */
	static Descriptor copy_file(int file, std::uint32_t text_bytes)
	{
		struct stat status;
		if (file < 0 || fcntl(file, F_GET_SEALS) < 0 || fstat(file, &status))
			violate("its file is no memfd");
		auto bytes = static_cast<std::uint64_t>(status.st_size);
		if (bytes > most_file_size || text_bytes > bytes)
			violate("its file or its text is too long");
		std::uint64_t room = std::min(available_bytes() / 2, most_file_bytes());
		if (bytes > room)
			fail_case(podium_eval::ExitCodes::RAISED,
				"The compiled kernels of custom_kernel take " + std::to_string(bytes >> 20)
					+ " MiB. The judge has memory for " + std::to_string(room >> 20)
					+ " MiB. Use fewer libraries.");
		Descriptor copy(memfd_create("plan", MFD_CLOEXEC));
		std::vector<char> buffer(std::min<std::uint64_t>(bytes, 1 << 20));
		for (std::uint64_t done = 0; done < bytes;) {
			ssize_t count = pread(file, buffer.data(),
				std::min<std::uint64_t>(buffer.size(), bytes - done), static_cast<off_t>(done));
			if (count <= 0)
				violate("its file has become shorter");
			if (write(copy.number(), buffer.data(), static_cast<std::size_t>(count)) != count)
				throw Broken{ ISOLATED_FAILED, "A plan cannot be copied." };
			done += static_cast<std::uint64_t>(count);
		}
		return copy;
	}

	int socket_;
	std::unique_ptr<Mail> mail_;
};

/* ---- the launchers ---- */

/* A side with a launcher. All calls use one slot, the input's place. An object of this class is the
 * null contestant; a submission is a SealedSide. The null contestant has an input place of its own,
 * so that no process with kernels of a submission can read an input before its own call. The judge
 * restores the submission's arena for the null contestant's calls too, which costs equal time. */
class Launched : public Side
{
  public:
	using Side::Side;

	std::optional<Said> load(std::int64_t) override
	{
		return std::nullopt; /* a launcher takes no LOAD */
	}

	void choose(const void *, const std::vector<Piece> &given) override
	{
		given_ = given;
	}

	void give_room(std::size_t) override
	{
		/* each case brings its own memory */
	}

	void give_inputs(std::size_t host_bytes, std::size_t device_bytes, std::uint32_t, bool) override
	{
		end_case();
		copy_.forget();
		Layout layout = layout_of(host_bytes, device_bytes, 1);
		room_ = Memory(true, std::max<std::size_t>(layout.device_stride, 1));
		area_.inputs.room = &room_;
		area_.inputs.host = Memory(false, layout.host_stride);
		layout.host_bytes = area_.inputs.host.bytes();
		layout.device_bytes = device_bytes ? room_.bytes() : 0;
		area_.inputs.layout = layout;
		give(input_address, room_, true, false);
	}

	double copy_ns() const override
	{
		return 0; /* no contestant copies outputs */
	}

	/* For the null contestant: expects the outputs of this side. */
	void follow(const Launched &leader)
	{
		idle_.reset();
		expect_outputs(*leader.built_, *leader.arena_);
	}

	/* A plan fails only by an error of its kernels, after which the launcher's GPU context is
	 * unusable. */
	Said complaint() override
	{
		expect_announced(ISOLATED_TEXT);
		return { LOST_GPU, "custom_kernel failed on the GPU: " + words() };
	}

  protected:
	std::string words() const
	{
		return cleaned(mail_->text().substr(0, most_words));
	}

	void give(std::uint64_t address, const Memory &memory, bool is_input, bool is_arena)
	{
		int descriptor = memory.descriptor();
		mail_->send(ISOLATED_PLACE, sealed_place{ address, memory.bytes(), is_input, is_arena },
			&descriptor, 1);
		places_.push_back(address);
		unanswered_++;
	}

	/* Takes the memory of the last case back. */
	void end_case()
	{
		for (; !places_.empty(); places_.pop_back(), unanswered_++)
			mail_->send(ISOLATED_PLACE, sealed_place{ places_.back(), 0, 0, 0 });
		for (; unanswered_; unanswered_--)
			expect_mapped(map_limit_ns);
		area_.inputs = {};
		area_.outputs = {};
		built_ = nullptr;
		arena_ = nullptr;
	}

	/* Expects the outputs of a plan, which the judge reads where the plan's kernels write them. */
	void expect_outputs(const Built &built, const Arena &arena)
	{
		built_ = &built;
		arena_ = &arena;
		Layout layout = layout_of(built.form.size(), built.outputs.bytes, 1);
		area_.outputs = {};
		area_.outputs.host = Memory(false, layout.host_stride);
		layout.host_bytes = area_.outputs.host.bytes();
		layout.device_bytes = built.outputs.bytes ? arena.memory.bytes() : 0;
		area_.outputs.room = &arena.memory;
		area_.outputs.begin = built.outputs.begin;
		area_.outputs.layout = layout;
		std::memcpy(area_.outputs.host.data(), built.form.data(), built.form.size());
		copy_.learn<output_t>(given_);
	}

	void expect_mapped(std::int64_t limit_ns) override
	{
		std::uint32_t kind = mail_->receive(limit_ns);
		if (kind == ISOLATED_TEXT)
			throw Broken{ ISOLATED_FAILED, "The launcher failed: " + words() };
		expect(kind, ISOLATED_MAPPED);
	}

	/* The output's part on the host comes from the plan, and no call writes it. So the judge
	 * poisons nothing there. */
	void prepare_host(std::uint64_t) override
	{
	}

	void prepare_device(std::uint64_t seed) override
	{
		if (!arena_) {
			idle_ = idle_ ? std::move(idle_) : std::make_unique<Arena>(*device_);
			idle_->restore(*device_, nullptr, 0);
			return;
		}
		const_cast<Arena *>(arena_)->restore(*device_, built_->kept.data(), built_->kept_bytes);
		copy_.poison_parts(seed);
	}

	std::vector<Piece> given_;
	std::vector<std::uint64_t> places_; /* that the launcher has mapped */
	const Built *built_ = nullptr;
	const Arena *arena_ = nullptr;
	/* An arena of the largest size, for calls before there is a plan. Restoring it takes as long as
	 * restoring any submission's arena. */
	std::unique_ptr<Arena> idle_;
};

/* A submission. */
class SealedSide : public Launched
{
  public:
	/* `builder`: the socket to its builder; `socket`: to its launcher. */
	SealedSide(std::string name, int builder, int socket, Device *device)
		: Launched(std::move(name), socket, false, device), builder_(builder)
	{
	}

	std::optional<Said> greet(std::int64_t limit_ns) override
	{
		auto said = builder_.await_ready(limit_ns);
		return said ? said : Launched::greet(limit_ns);
	}

	std::optional<Said> load(std::int64_t limit_ns) override
	{
		own_ = std::make_unique<Arena>(*device_);
		device_->wait();
		return builder_.load(own_->memory, limit_ns);
	}

	bool leave(std::int64_t limit_ns) override
	{
		return builder_.leave(limit_ns) && Launched::leave(limit_ns);
	}

	/* Makes the plan of a case with this input, which no call may use. Throws CaseFailed if there
	 * is none; so does then give_inputs for the case. */
	template <class Input>
	void build(const void *which, const Drawn<Input> &drawn, std::int64_t limit_ns)
	{
		try {
			Memory place(true, std::max<std::size_t>(drawn.device_bytes, 1));
			for (const Piece &piece : drawn.pieces)
				device_->copy(place.data() + piece.place, piece.data, piece.bytes);
			device_->wait();
			Built built = builder_.build(drawn, place, limit_ns);
			need_room(built.outputs);
			keep(built);
			builds_.insert_or_assign(which, std::move(built));
		} catch (const CaseFailed &failure) {
			failures_.insert_or_assign(which, failure);
			throw;
		}
	}

	/* Frees the plan of a case that will not be called. */
	void forget(const void *which)
	{
		builds_.erase(which);
		failures_.erase(which);
	}

	/* Dismisses the builder. Returns whether its socket closed in time. */
	bool see_off_builder(std::int64_t limit_ns)
	{
		bool has_left = builder_.leave(limit_ns);
		own_.reset();
		return has_left;
	}

	void choose(const void *which, const std::vector<Piece> &given) override
	{
		Launched::choose(which, given);
		which_ = which;
	}

	void give_inputs(std::size_t host_bytes, std::size_t device_bytes, std::uint32_t slots,
		bool is_handed) override
	{
		auto failure = failures_.find(which_);
		if (failure != failures_.end())
			throw failure->second;
		auto build = builds_.find(which_);
		if (build == builds_.end())
			fail_case(podium_eval::ExitCodes::CUDA_API,
				"not run, because an earlier case left the GPU unusable.");
		Launched::give_inputs(host_bytes, device_bytes, slots, is_handed);
		own_ = std::make_unique<Arena>(*device_, build->second.arena_bytes);
		give(arena_address, own_->memory, false, false);
		for (; unanswered_; unanswered_--)
			expect_mapped(map_limit_ns);
		send_plan(build->second);
		expect_outputs(build->second, *own_);
	}

	/* Writes the plan of a case for podium-run: NAME.plan is the plan's file, and NAME.figures the
	 * bytes of the plan's text (u32) and then the launcher's answer. Writes nothing if the launcher
	 * has not taken the plan, because then nobody has checked it. Returns whether that worked. */
	bool save_plan(const void *which, const std::string &path) const
	{
		auto found = builds_.find(which);
		if (found == builds_.end() || found->second.figures.empty())
			return true;
		const Built &built = found->second;
		std::ofstream plan(path + ".plan"), figures(path + ".figures");
		std::vector<char> buffer(1 << 20);
		for (off_t done = 0;;) {
			ssize_t count = pread(built.file.number(), buffer.data(), buffer.size(), done);
			if (count <= 0)
				break;
			plan.write(buffer.data(), count);
			done += count;
		}
		figures.write(reinterpret_cast<const char *>(&built.text_bytes), sizeof built.text_bytes);
		figures << built.figures;
		return plan.flush() && figures.flush();
	}

	/* Begins a trace of the current plan (launch.h). `folders`: where CUPTI may be. */
	void begin_trace(const std::string &folders, std::int64_t limit_ns)
	{
		mail_->send_bytes(ISOLATED_TRACE, folders.data(), folders.size());
		expect_mapped(limit_ns);
	}

	/* Ends the trace, and writes the launcher's answer to a file. podium-run checks it. */
	void end_trace(const std::string &path, std::int64_t limit_ns)
	{
		mail_->send(ISOLATED_TRACE);
		expect_mapped(limit_ns);
		std::ofstream(path) << mail_->text();
	}

  private:
	/* Fails the case if the outputs are too large. The memory between them counts, because the
	 * judge copies it, too. */
	void need_room(const sealed_outputs &outputs) const
	{
		std::size_t most = device_->free_bytes() / 4;
		if (outputs.bytes > most)
			fail_case(podium_eval::ExitCodes::VALIDATION,
				"custom_kernel's outputs take " + std::to_string(outputs.bytes >> 20)
					+ " MiB, with the memory between them; there is memory for "
					+ std::to_string(most >> 20) + " MiB.");
	}

	/* Copies what the arena contains after the build. */
	void keep(Built &built)
	{
		std::size_t used = round_up(device_->used_bytes(own_->memory.data(), own_->memory.bytes()),
						piece_alignment),
					most = static_cast<std::size_t>(
						most_kept_share * static_cast<double>(device_->free_bytes()));
		if (used > most)
			fail_case(podium_eval::ExitCodes::REFUSED,
				"custom_kernel keeps " + std::to_string(used >> 20)
					+ " MiB of the GPU's memory from call to call. The judge has room for "
					+ std::to_string(most >> 20) + " MiB. Keep less.");
		built.kept.need(used);
		built.kept_bytes = used;
		built.arena_bytes = std::max({ built.arena_bytes, used,
			static_cast<std::size_t>(built.outputs.begin + built.outputs.bytes), std::size_t(1) });
		device_->copy(built.kept.data(), own_->memory.data(), used);
		device_->wait();
	}

	void send_plan(Built &built)
	{
		int file = built.file.number();
		mail_->send(ISOLATED_PLAN, sealed_plan_frame{ built.text_bytes, 0, 1 }, &file, 1);
		std::uint32_t kind = mail_->receive(map_limit_ns);
		if (kind == ISOLATED_TEXT)
			refuse_plan(words());
		expect(kind, ISOLATED_MAPPED);
		built.figures = mail_->text();
	}

	BuilderPeer builder_;
	std::unique_ptr<Arena> own_;
	const void *which_ = nullptr; /* the current case */
	std::map<const void *, Built> builds_;
	std::map<const void *, CaseFailed> failures_;
};

} // namespace podium

#endif
