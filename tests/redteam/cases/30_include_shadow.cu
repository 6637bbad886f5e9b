// 30 include_shadow
// attempts: to have files of the host shown in the compiler's messages
// required: VERDICT
// verdict: compile error
// variants: "/etc/shadow" "/etc/passwd" "/etc/hostname" "@SECRET@" "@VICTIM@/source.h" "/proc/self/environ" "/proc/1/cmdline"
#include @VARIANT@
#include "task.h"

output_t custom_kernel(input_t data) { return data; }
