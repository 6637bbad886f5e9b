// 33 flag_smuggle
// attempts: a task whose sources, defines or flags are further words for the compiler
// required: VERDICT
// verdict: internal error
// variants: {"sources":["@secret"]} {"sources":["-fplugin=/tmp/x.so"]} {"sources":["eval.cu","../submission.cu"]} {"compile_flags":["@secret"]} {"compile_flags":["eval.cu"]} {"compile_flags":[""]} {"defines":[{"name":"A\u0020-fplugin=x","value":"1"}]} {"defines":[{"name":"A=1","value":null}]} {"defines":[{"name":"","value":"x"}]} {"defines":[{"name":"-x","value":"x"}]}
// change: {"task": @VARIANT@}
#include "task.h"

int custom_kernel(int number) { return number; }
