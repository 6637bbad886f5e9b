// 30 include_shadow
// attempts: to show files of the host in the compiler's messages, or to learn from the messages
//   which files exist
// required: VERDICT
// verdict: compile error
// never: seen by the compiler
#include "task.h"

// What cannot be opened is passed over, and what can be opened but not read comes last: no failure hides a success.
#if __has_include("../../../../../..@VICTIM@/source.h")
#warning seen by the compiler: from its folder upwards
#include "../../../../../..@VICTIM@/source.h"
#endif
#if __has_include("/proc/self/root/@VICTIM@/source.h")
#warning seen by the compiler: from the root of its process
#include "/proc/self/root/@VICTIM@/source.h"
#endif
#if __has_include("/proc/1/root/@VICTIM@/source.h")
#warning seen by the compiler: from the root of process 1
#endif
#if __has_include("@VICTIM@/../jobs")
#warning seen by the compiler: the folder of jobs
#endif
#if __has_include("/root/.bashrc")
#warning seen by the compiler: /root/.bashrc
#endif
#if __has_include("/etc/shadow")
#warning seen by the compiler: /etc/shadow
#endif
#if __has_include("/etc/passwd")
#include "/etc/passwd"
#endif
#include "@SECRET@"
#include "/etc/shadow"

int custom_kernel(int number) { return number; }
