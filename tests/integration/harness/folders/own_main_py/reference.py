def generate_input(number):
	return number


def check_implementation(data, output):
	return "" if output == 2 * data else f"expected {2 * data}, got {output}"
