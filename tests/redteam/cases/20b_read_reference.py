# 20b read_reference
# attempts: to import the task's reference and have it compute the answer
# required: VERDICT
# verdict: runtime error or wrong answer
# custom cannot-stop: a harness of the custom engine needs the reference beside it, in the submission's own process
import reference


def custom_kernel(data):
    return reference.ref_kernel(data)
