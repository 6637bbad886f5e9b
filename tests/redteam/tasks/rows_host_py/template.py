def custom_kernel(data):
	matrix, sums = data
	sums.copy_(matrix.sum(1))
	return sums
