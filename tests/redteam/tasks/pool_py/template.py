def custom_kernel(data):
	return [2 * value for value in data]
