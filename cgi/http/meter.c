#include "cgi/http/meter.h"

#include "cgi/render/exposition.h"
#include "lib/base/clock.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/database/database.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Each of these HTTP statuses has a counter; all others share one. cgi/main.c has their names. */
static const int STATUSES[] = {
	200,
	201,
	202,
	204,
	301,
	303,
	304,
	400,
	401,
	403,
	404,
	405,
	409,
	410,
	413,
	415,
	422,
	429,
	500,
	503,
};
/* Upper bounds of the duration buckets, in ns and in seconds for Prometheus' label `le`. */
static const struct {
	uint64_t most_ns;
	const char *le;
} BUCKETS[] = {
	{ 1000000, "0.001" },
	{ 2500000, "0.0025" },
	{ 5000000, "0.005" },
	{ 10000000, "0.01" },
	{ 20000000, "0.02" },
	{ 50000000, "0.05" },
	{ 100000000, "0.1" },
	{ 250000000, "0.25" },
	{ 1000000000, "1" },
	{ 5000000000, "5" },
};
enum { most_routes = 512 };

static struct {
	atomic_ullong statuses[COUNT(STATUSES) + 1]; /* the last: all other statuses */
	atomic_ullong buckets[COUNT(BUCKETS) + 1];   /* the last: above all bounds */
	atomic_ullong total_ns;
} routes[most_routes];
static atomic_ullong in_work;
static int64_t threads, started_ms;
static const struct route *(*route_at)(size_t number);

static void add_to(atomic_ullong *figure, unsigned long long more)
{
	atomic_fetch_add_explicit(figure, more, memory_order_relaxed);
}

static uint64_t value_of(atomic_ullong *figure)
{
	return atomic_load_explicit(figure, memory_order_relaxed);
}

/* ---- counting ---- */

void meter_start(int64_t at_once, const struct route *(*by_number)(size_t number))
{
	threads = at_once;
	route_at = by_number;
	started_ms = now_ms();
}

uint64_t meter_begin(void)
{
	add_to(&in_work, 1);
	return clock_ns();
}

static size_t status_place(int status)
{
	size_t place = 0;
	while (place < COUNT(STATUSES) && STATUSES[place] != status)
		place++;
	return place;
}

static size_t bucket_place(uint64_t took_ns)
{
	size_t place = 0;
	while (place < COUNT(BUCKETS) && took_ns > BUCKETS[place].most_ns)
		place++;
	return place;
}

void meter_end(uint64_t began_ns, size_t route, int status)
{
	uint64_t took_ns = clock_ns() - began_ns;
	size_t place = route < most_routes ? route : 0;
	add_to(&routes[place].statuses[status_place(status)], 1);
	add_to(&routes[place].buckets[bucket_place(took_ns)], 1);
	add_to(&routes[place].total_ns, took_ns);
	atomic_fetch_sub_explicit(&in_work, 1, memory_order_relaxed);
}

/* ---- writing ---- */

static const char *route_method_name(const struct route *route)
{
	static const struct {
		const char *name;
		int method;
	} names[] = {
		{ "GET", METHOD_GET },
		{ "POST", METHOD_POST },
		{ "PUT", METHOD_PUT },
		{ "PATCH", METHOD_PATCH },
		{ "DELETE", METHOD_DELETE },
	};
	for (size_t i = 0; i < COUNT(names) && route; i++)
		if (route->methods == names[i].method)
			return names[i].name;
	return "any";
}

/* Requests for unknown addresses have no route and share one counter. */
static const char *pattern_of(const struct route *route)
{
	return route ? route->pattern : "none";
}

static size_t route_count(void)
{
	size_t count = 1;
	while (count < most_routes && route_at(count))
		count++;
	return count;
}

static void write_requests(struct buffer *out, size_t count)
{
	static const char name[] = "podium_http_requests_total";
	exposition_family(out, name, "counter", "Requests, by route pattern and status of the answer.");
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k <= COUNT(STATUSES); k++) {
			uint64_t requests = value_of(&routes[i].statuses[k]);
			char status[16] = "other";
			if (k < COUNT(STATUSES))
				snprintf(status, sizeof status, "%d", STATUSES[k]);
			if (requests)
				exposition_count(out, name, requests, "route", pattern_of(route_at(i)), "method",
					route_method_name(route_at(i)), "status", status, NULL);
		}
}

static void write_duration(struct buffer *out, size_t place)
{
	const struct route *route = route_at(place);
	const char *pattern = pattern_of(route), *method = route_method_name(route);
	uint64_t sum = 0, buckets[COUNT(BUCKETS) + 1];
	for (size_t k = 0; k <= COUNT(BUCKETS); k++)
		buckets[k] = sum += value_of(&routes[place].buckets[k]);
	if (!sum)
		return;
	for (size_t k = 0; k <= COUNT(BUCKETS); k++)
		exposition_count(out, "podium_http_request_duration_seconds_bucket", buckets[k], "route",
			pattern, "method", method, "le", k < COUNT(BUCKETS) ? BUCKETS[k].le : "+Inf", NULL);
	exposition_real(out, "podium_http_request_duration_seconds_sum",
		(double)value_of(&routes[place].total_ns) / 1e9, "route", pattern, "method", method, NULL);
	exposition_count(out, "podium_http_request_duration_seconds_count", sum, "route", pattern,
		"method", method, NULL);
}

static void write_durations(struct buffer *out, size_t count)
{
	exposition_family(out, "podium_http_request_duration_seconds", "histogram",
		"Time from accepting a request to the last byte of its answer, without requests that "
		"nginx's cache answers.");
	for (size_t i = 0; i < count; i++)
		write_duration(out, i);
}

static void write_metric(
	struct buffer *out, const char *name, const char *type, const char *help, double value)
{
	exposition_family(out, name, type, help);
	exposition_real(out, name, value, NULL);
}

static void write_database(struct buffer *out)
{
	struct database_figures figures = database_figures();
	write_metric(out, "podium_database_connections", "gauge",
		"Open connections; each thread has one.", (double)figures.connections);
	write_metric(out, "podium_database_connections_busy", "gauge",
		"Connections that wait for an answer.", (double)figures.asking);
	exposition_family(out, "podium_database_connects_total", "counter", "Connections opened.");
	exposition_count(out, "podium_database_connects_total", figures.connects, NULL);
	exposition_family(out, "podium_database_questions_total", "counter",
		"Round trips; one may carry several statements.");
	exposition_count(out, "podium_database_questions_total", figures.questions, NULL);
	exposition_family(out, "podium_database_failures_total", "counter",
		"Round trips that failed, duplicate keys included.");
	exposition_count(out, "podium_database_failures_total", figures.failures, NULL);
	exposition_family(out, "podium_database_conflicts_total", "counter",
		"Transactions that ran again after a conflict such as a deadlock.");
	exposition_count(out, "podium_database_conflicts_total", figures.conflicts, NULL);
	write_metric(out, "podium_database_wait_seconds_total", "counter",
		"Time that threads have waited for the database.", (double)figures.waited_ns / 1e9);
}

/* Resident memory: the second number of statm(5), in pages. */
static double resident_bytes(void)
{
	cleanup_file FILE *file = fopen("/proc/self/statm", "re");
	long pages = 0;
	return file && fscanf(file, "%*s %ld", &pages) == 1
		? (double)pages * (double)sysconf(_SC_PAGESIZE)
		: 0;
}

static double open_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = -3; /* leaves out ".", ".." and opendir()'s own descriptor */
	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return folder ? count : 0;
}

static double processor_seconds(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
		+ (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void write_process(struct buffer *out)
{
	exposition_family(out, "podium_build_info", "gauge", "Always 1; the label is the version.");
	exposition_count(out, "podium_build_info", 1, "version", PODIUM_VERSION, NULL);
	write_metric(out, "process_start_time_seconds", "gauge",
		"Unix time at which this podium-web started.", (double)(started_ms / 1000));
	write_metric(out, "process_cpu_seconds_total", "counter", "Processor time, user and system.",
		processor_seconds());
	write_metric(
		out, "process_resident_memory_bytes", "gauge", "Resident memory.", resident_bytes());
	write_metric(out, "process_open_fds", "gauge", "Open descriptors.", open_descriptors());
}

void meter_write(struct buffer *out)
{
	size_t count = route_count();
	write_process(out);
	write_metric(out, "podium_http_threads", "gauge",
		"Requests that podium-web can answer at the same time.", (double)threads);
	write_metric(out, "podium_http_requests_in_work", "gauge",
		"Requests in progress, this one included.", (double)value_of(&in_work));
	write_requests(out, count);
	write_durations(out, count);
	write_database(out);
}
