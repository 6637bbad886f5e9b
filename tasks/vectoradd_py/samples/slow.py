def custom_kernel(data):
    A, B, output = data
    for row in range(A.shape[0]):
        output[row] = A[row] + B[row]
    return output
