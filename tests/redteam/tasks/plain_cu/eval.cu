#include "task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **words)
{
	char line[200];
	int seed, size;
	FILE *results = fdopen(atoi(getenv("POPCORN_FD")), "w"), *cases = fopen(words[count - 1], "r");
	if (!fgets(line, sizeof line, cases) || sscanf(line, "size: %d; seed: %d", &size, &seed) != 2)
		return 113;
	line[strcspn(line, "\n")] = '\0';
	const char *family = strcmp(words[1], "test") == 0 ? "test" : "benchmark";
	bool good = custom_kernel(seed) == 2 * seed;
	fprintf(results, "%s-count: 1\n%s.0.spec: %s\n%s.0.status: %s\n", family, family, line, family,
		good ? "pass" : "fail");
	if (good && family[0] == 'b')
		fprintf(results,
			"benchmark.0.runs: 3\nbenchmark.0.mean: 5000\nbenchmark.0.std: 1\nbenchmark.0.err: "
			"1\nbenchmark.0.best: 4999\n"
			"benchmark.0.worst: 5001\n");
	fprintf(results, "check: %s\n", good ? "pass" : "fail");
	return fclose(results) ? 111 : good ? 0 : 112;
}
