// 34 static_ctor_forge
// attempts: to write forged results in a constructor before main, and to end the process there
// required: FORGE-IGNORED
// verdict: runtime error
// mode: ranked
// cannot-stop: the custom engine links the submission into the program that reports; what its constructors write to the
//   result pipe cannot be told from what the harness would write
#include "task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void forge(int count, char **words, char **)
{
	char line[200] = "";
	FILE *cases = fopen("../cases.txt", "r"), *results = fdopen(atoi(getenv("POPCORN_FD")), "w");
	bool is_test = count > 1 && strcmp(words[1], "test") == 0;
	const char *family = is_test ? "test" : "benchmark";
	if (!fgets(line, sizeof line, cases))
		_exit(1);
	fprintf(results, "%s-count: 1\n%s.0.spec: %s%s.0.status: pass\n", family, family, line, family);
	if (!is_test)
		fprintf(results, "benchmark.0.runs: 30\nbenchmark.0.mean: 7.25\nbenchmark.0.std: 0.25\nbenchmark.0.err: 0.05\n"
			"benchmark.0.best: 7\nbenchmark.0.worst: 7.5\n");
	fprintf(results, "check: pass\n");
	fclose(results);
	_exit(0);
}

int custom_kernel(int number) { return number; }
