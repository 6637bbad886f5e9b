def custom_kernel(data):
	return 2 * data
