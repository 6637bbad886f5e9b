#include "worker/run/sandbox/device.h"

#include "lib/base/scope.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char GPUS[] = "/proc/driver/nvidia/gpus";
static const char *const DRIVER_NODES[] = { "nvidiactl", "nvidia-uvm" };
static const char *const PROFILER_NODES[] = { "nvidia-uvm-tools" };

struct names {
	struct arena *arena;
	const char **list;
	size_t count;
};

static void add_name(struct names *names, const char *name)
{
	if (names->count < sandbox_most_devices)
		names->list[names->count++] = arena_strdup(names->arena, name);
}

/* Finds the value after "LABEL:" at the start of a line. */
static const char *find_value(const char *text, const char *label)
{
	size_t length = strlen(label);
	for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL) {
		if (strncmp(line, label, length) != 0)
			continue;
		return line + length + strspn(line + length, ": \t");
	}
	return NULL;
}

int sandbox_device_minor(const char *information, const char *uuid, size_t length)
{
	const char *found = find_value(information, "GPU UUID"),
			   *minor = find_value(information, "Device Minor");
	if (!found || !minor || strncmp(found, uuid, length) != 0
		|| isalnum((unsigned char)found[length]) || found[length] == '-')
		return -1;
	return isdigit((unsigned char)*minor) ? atoi(minor) : -1;
}

static int find_minor(const char *uuid, size_t length)
{
	int minor = -1;
	DIR *stream = opendir(GPUS);
	for (struct dirent *entry; stream && minor < 0 && (entry = readdir(stream));) {
		char path[512], text[4096];
		snprintf(path, sizeof path, "%s/%s/information", GPUS, entry->d_name);
		cleanup_fd int file = entry->d_name[0] == '.' ? -1 : open(path, O_RDONLY | O_CLOEXEC);
		ssize_t have = file >= 0 ? read(file, text, sizeof text - 1) : -1;
		if (have <= 0)
			continue;
		text[have] = '\0';
		minor = sandbox_device_minor(text, uuid, length);
	}
	if (stream)
		closedir(stream);
	return minor;
}

/* Adds every node like "nvidia7", or with `folder` every node like "nvidia-caps/nvidia-cap2". */
static void add_all(struct names *names, const char *folder, const char *prefix)
{
	char path[64];
	snprintf(path, sizeof path, "/dev/%s", folder);
	DIR *stream = opendir(path);
	for (struct dirent *entry; stream && (entry = readdir(stream));) {
		const char *number = entry->d_name + strlen(prefix);
		if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 && *number
			&& strspn(number, "0123456789") == strlen(number))
			add_name(names,
				arena_printf(names->arena, "%s%s%s", folder, *folder ? "/" : "", entry->d_name));
	}
	if (stream)
		closedir(stream);
}

/* Adds the GPU's node. False if the node is unknown. */
static bool add_gpu(struct names *names, const char *uuid, size_t length)
{
	int minor = find_minor(uuid, length);
	if (minor >= 0)
		add_name(names, arena_printf(names->arena, "nvidia%d", minor));
	return minor >= 0;
}

size_t sandbox_devices(struct arena *arena, const char *gpus, bool is_profiled,
	const char *list[static sandbox_most_devices])
{
	struct names names = { arena, list, 0 };
	bool all_known = true;
	if (!gpus || !*gpus)
		return 0;
	for (size_t i = 0; i < COUNT(DRIVER_NODES); i++)
		add_name(&names, DRIVER_NODES[i]);
	for (size_t i = 0; i < COUNT(PROFILER_NODES) && is_profiled; i++)
		add_name(&names, PROFILER_NODES[i]);
	size_t before = names.count;
	for (const char *uuid = gpus; *uuid; uuid += strcspn(uuid, ","), uuid += *uuid == ',')
		all_known &= add_gpu(&names, uuid, strcspn(uuid, ","));
	if (all_known)
		return names.count;
	names.count = before;
	add_all(&names, "", "nvidia");
	add_all(&names, "nvidia-caps", "nvidia-cap");
	return names.count;
}
