# 25 symlink_out
# attempts: a job whose files have names that lead out of its folder
# required: VERDICT
# verdict: internal error
# variants: ../@MARK@ /tmp/@MARK@ a/../../../@MARK@ ./@MARK@ a//@MARK@ a/.. .. . @VICTIM@/open/@MARK@ submission.py
# change: {"files+": [{"path": "@VARIANT@", "text": "out"}]}
from attack import custom_kernel
