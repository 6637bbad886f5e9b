def custom_kernel(data):
    raise NotImplementedError("this sample always fails")
