def custom_kernel(data):
    x, output = data
    powers = x.exp()
    return output.copy_(powers / powers.sum(dim=1, keepdim=True))
