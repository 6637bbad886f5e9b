/* The state of the GPU between blocks, from NVML: the range of each figure and what slowed the GPU
 * down. */
#ifndef PODIUM_ISOLATED_WATCH_H
#define PODIUM_ISOLATED_WATCH_H

#include "native.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

namespace podium
{

class Watch
{
  public:
	/* Asks NVML. Returns the bits of the reasons that slow the GPU down now; 0 if unknown. */
	std::uint64_t look()
	{
		const char *uuid = std::getenv("PODIUM_DEVICE_UUID");
		isolated_device_state state;
		if (!uuid || !*uuid || isolated_device_look(uuid, &state))
			return 0;
		const double figures[] = { state.sm_mhz, state.memory_mhz, state.temperature_c,
			state.power_w };
		for (std::size_t i = 0; i < figure_count; i++)
			ranges_[i].take(figures[i]);
		seen_ |= state.slowed_by;
		return state.slowed_by & slowing;
	}

	/* One line of JSON; "" if the driver reports nothing. */
	std::string json() const
	{
		std::string text;
		for (std::size_t i = 0; i < figure_count; i++)
			if (ranges_[i].least <= ranges_[i].most)
				text += (text.empty() ? "" : ", ") + ("\"" + std::string(NAMES[i])) + "\": ["
					+ number(ranges_[i].least) + ", " + number(ranges_[i].most) + "]";
		return text.empty() ? "" : "{" + text + ", \"slowed_by\": [" + quoted_reasons() + "]}";
	}

	/* NVML's bits in words. */
	static std::string reasons(std::uint64_t bits)
	{
		std::string text;
		for (const auto &reason : REASONS)
			if (bits & reason.bit)
				text += (text.empty() ? "" : ", ") + std::string(reason.name);
		return text;
	}

  private:
	static constexpr std::size_t figure_count = 4;
	static constexpr const char *NAMES[figure_count] = { "sm_clock_mhz", "memory_clock_mhz",
		"temperature_c", "power_w" };
	static constexpr struct {
		std::uint64_t bit;
		const char *name;
	} REASONS[] = {
		{ 0x4, "power cap" },
		{ 0x20, "temperature" },
		{ 0x40, "temperature (hardware)" },
		{ 0x80, "power brake" },
		{ 0x8, "hardware slowdown" },
		{ 0x10, "sync boost" },
	};
	static constexpr std::uint64_t slowing = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;

	struct Range {
		double least = std::numeric_limits<double>::infinity(),
			   most = -std::numeric_limits<double>::infinity();

		void take(double value)
		{
			if (std::isnan(value))
				return;
			least = std::min(least, value);
			most = std::max(most, value);
		}
	};

	static std::string number(double value)
	{
		char text[32];
		std::snprintf(text, sizeof text, "%.6g", value);
		return text;
	}

	std::string quoted_reasons() const
	{
		std::string text;
		for (const auto &reason : REASONS)
			if (seen_ & reason.bit)
				text += (text.empty() ? "\"" : ", \"") + std::string(reason.name) + "\"";
		return text;
	}

	Range ranges_[figure_count];
	std::uint64_t seen_ = 0;
};

} // namespace podium

#endif
