# 107 profiler_leaves
# attempts: to have something else published as the profiler's report: a link, a hard link, a pipe,
#   a folder, a device, or a file that is swapped meanwhile
# required: VERDICT
# task: plain_py
# mode: profile
# on: compiler
# variants: link host-link hard-link folder pipe device exchange
# programs: ncu
# never: @MARK@-through-a-link
from attack import custom_kernel
