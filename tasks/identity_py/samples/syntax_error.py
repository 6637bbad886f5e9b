def custom_kernel(data)
    return data[1].copy_(data[0])
