# 25 symlink_out
# attempts: a job with a file whose name leads out of the job's folder
# required: VERDICT
# verdict: internal error
# variants: ../@MARK@ /tmp/@MARK@ a/../../../@MARK@ ./@MARK@ a//@MARK@ a/.. .. . @VICTIM@/open/@MARK@ submission.py
# change: {"files+": [{"path": "@VARIANT@", "text": "out"}]}
from attack import custom_kernel
