// 34 static_ctor_forge
// attempts: to print good results from a constructor, before main, and to end there
// required: FORGE-IGNORED
// verdict: runtime error
// mode: ranked
// cannot-stop: the custom engine links the submission into the program that reports; what its constructors write to the
//   result pipe cannot be told from what the harness would write
#include "task.h"

#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>

__attribute__((constructor)) static void forge(int count, char **words, char **)
{
	bool is_test = count > 1 && std::string(words[1]) == "test";
	std::string family = is_test ? "test" : "benchmark", out, line;
	std::ifstream file("../cases.txt");
	int index = 0;
	for (; std::getline(file, line); index++) {
		std::string key = family + "." + std::to_string(index) + ".";
		out += key + "spec: " + line + "\n" + key + "status: pass\n";
		if (!is_test)
			out += key + "runs: 30\n" + key + "mean: 7.25\n" + key + "std: 0.25\n" + key + "err: 0.05\n" + key + "best: 7\n" +
				key + "worst: 7.5\n";
	}
	out = family + "-count: " + std::to_string(index) + "\n" + out + "check: pass\n";
	ssize_t written = write(std::atoi(std::getenv("POPCORN_FD")), out.data(), out.size());
	_exit(written < 0);
}

output_t custom_kernel(input_t data) { return data; }
