// 30 include_shadow
// attempts: to have files of the host shown in the compiler's messages, or to learn from them which there are
// required: VERDICT
// verdict: compile error
// never: seen by the compiler
#include "task.h"

// What cannot be opened is passed over, so that one failure hides no success.
#if __has_include("/etc/shadow")
#pragma message "seen by the " "compiler: /etc/shadow"
#include "/etc/shadow"
#endif
#if __has_include("/proc/1/environ")
#include "/proc/1/environ"
#endif
#if __has_include("/etc/passwd")
#include "/etc/passwd"
#endif
#if __has_include("/root/.bashrc")
#pragma message "seen by the " "compiler: /root/.bashrc"
#endif
#if __has_include("../../../../../..@VICTIM@/source.h")
#pragma message "seen by the " "compiler: source.h"
#include "../../../../../..@VICTIM@/source.h"
#endif
#if __has_include("/proc/self/root/@VICTIM@/source.h")
#pragma message "seen by the " "compiler: source.h"
#endif
#include "@SECRET@"

int custom_kernel(int number) { return number; }
