// 33 flag_smuggle
// attempts: to pass further words to the compiler through a task's sources, defines or flags
// required: VERDICT
// verdict: internal error
// variants: {"sources":["@secret"]} {"sources":["-fplugin=/tmp/x.so"]} {"sources":["eval.cu","../submission.cu"]} {"compile_flags":["@secret"]} {"compile_flags":["eval.cu"]} {"compile_flags":[""]} {"defines":[{"name":"A\u0020-fplugin=x","value":"1"}]} {"defines":[{"name":"A=1","value":null}]} {"defines":[{"name":"","value":"x"}]} {"defines":[{"name":"-x","value":"x"}]}
// change: {"task": @VARIANT@}
#include "task.h"

int custom_kernel(int number) { return number; }
