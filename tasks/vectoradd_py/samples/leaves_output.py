def custom_kernel(data):
    A, B, output = data
    return A + B
