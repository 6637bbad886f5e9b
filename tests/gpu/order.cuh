
/* tests/gpu/accuracy appends this file to the reference of accuracy_cu, which is compiled into the
 * judge. The judge then reports the same figures as with order.py. */
#include "isolated/blocks.h"

namespace podium
{

inline Values orders;

struct ToldBlock : Block {
	double disturbance(const Rule &rule) const
	{
		orders.push_back((1 << 20) + order_over());
		return Block::disturbance(rule);
	}
};

struct ToldSummary : Summary {
	ToldSummary(const Blocks &all, const Values &own, const Rule &rule) : Summary(all, own, rule)
	{
		samples = orders.empty() ? Values{ 0 } : orders;
		orders.clear();
	}
};

} // namespace podium

#define Block ToldBlock
#define Summary ToldSummary
