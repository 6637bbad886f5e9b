/* Unpredictable seeds: 31 bits of SipHash-2-4 (Aumasson and Bernstein, 2012) with the leaderboard's
 * secret as key. The hashed text consists of the nonce, the purpose, the case's line and the number
 * of the call. The judge draws the nonce once per run, so every run has new inputs, which nobody
 * can predict from the case file. The same secret and nonce give the same seeds again. */
#ifndef PODIUM_ISOLATED_SEEDS_H
#define PODIUM_ISOLATED_SEEDS_H

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>

#include <sys/random.h>

namespace podium
{

class SipHash
{
  public:
	SipHash(std::uint64_t key0, std::uint64_t key1)
		: v_{ key0 ^ 0x736f6d6570736575ull, key1 ^ 0x646f72616e646f6dull,
			  key0 ^ 0x6c7967656e657261ull, key1 ^ 0x7465646279746573ull }
	{
	}

	std::uint64_t hash(const std::string &text)
	{
		std::size_t at = 0;
		for (; at + 8 <= text.size(); at += 8)
			take(word(text.data() + at, 8));
		take(word(text.data() + at, text.size() - at)
			| static_cast<std::uint64_t>(text.size()) << 56);
		v_[2] ^= 0xff;
		for (int i = 0; i < 4; i++)
			round();
		return v_[0] ^ v_[1] ^ v_[2] ^ v_[3];
	}

  private:
	static std::uint64_t word(const char *bytes, std::size_t count)
	{
		std::uint64_t made = 0;
		std::memcpy(&made, bytes, count);
		return made;
	}

	void take(std::uint64_t word)
	{
		v_[3] ^= word;
		round();
		round();
		v_[0] ^= word;
	}

	void round()
	{
		auto &[a, b, c, d] = v_;
		a += b, b = std::rotl(b, 13) ^ a, a = std::rotl(a, 32);
		c += d, d = std::rotl(d, 16) ^ c;
		a += d, d = std::rotl(d, 21) ^ a;
		c += b, b = std::rotl(b, 17) ^ c, c = std::rotl(c, 32);
	}

	std::array<std::uint64_t, 4> v_;
};

/* Unpredictable bits for poison, slots and probes. */
inline std::uint64_t unforeseen()
{
	std::uint64_t drawn = 0;
	if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn)
		throw std::runtime_error("the system provides no random numbers");
	return drawn;
}

class Seeds
{
  public:
	/* `has_nonce`: whether each run gets new seeds. */
	Seeds(std::optional<std::int64_t> secret, bool has_nonce)
		: secret_(static_cast<std::uint64_t>(secret.value_or(0)))
	{
		for (int i = 0; has_nonce && i < 2; i++) {
			std::uint64_t part = unforeseen();
			nonce_.append(reinterpret_cast<const char *>(&part), sizeof part);
		}
	}

	std::uint32_t draw(
		const std::string &line, const std::string &purpose, std::uint64_t number) const
	{
		std::string text = nonce_ + '\0' + purpose + '\0' + line + '\0' + std::to_string(number);
		return static_cast<std::uint32_t>(SipHash(secret_, 0).hash(text) & 0x7fffffff);
	}

	std::string nonce() const
	{
		std::string hex;
		for (char c : nonce_) {
			hex += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
			hex += "0123456789abcdef"[c & 15];
		}
		return hex;
	}

  private:
	std::uint64_t secret_;
	std::string nonce_;
};

} // namespace podium

#endif
