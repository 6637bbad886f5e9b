def custom_kernel(data):
    a, b, output = data
    output.copy_(a.float() @ b.float())
    output[-1] = 0
    return output
