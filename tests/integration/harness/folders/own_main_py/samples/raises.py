def custom_kernel(data):
	return 1 // 0
