#include "task.h"

output_t custom_kernel(input_t data)
{
	return data.no_such_member;
}
