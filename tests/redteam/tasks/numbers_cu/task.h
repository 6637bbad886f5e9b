#pragma once

#include "utils.h"

#include <array>
#include <vector>

using input_t = std::vector<int>;
using output_t = std::vector<int>;

constexpr std::array<const char *, 2> ArgumentNames = { "size", "seed" };

output_t custom_kernel(input_t data);
