def custom_kernel(data):
	given, output = data
	output.copy_(given)
	output[-1] = 7
	return output
