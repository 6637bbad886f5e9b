/* Reads untrusted zips. Names and types of all entries are checked before the first byte is
 * unpacked, and bytes are counted while unpacking. The archive stays in memory. */
#include "lib/files/fileset.h"
#include "lib/files/path_rule.h"

#include "lib/base/buffer.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/files/zip_layout.h"

#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <zip.h>

enum {
	most_ratio = 200,
	ratio_matters_from_bytes = 1024 * 1024,
};

struct archive {
	struct fileset *set;
	const unsigned char *bytes;
	size_t length;
	zip_t *zip;
	size_t count;       /* entries */
	const char **names; /* by entry, as stored */
	size_t top_bytes;   /* length of the only top folder with its slash, or 0 */
	size_t total_bytes; /* unpacked so far */
	struct error *error;
};

static void scope_zip_discard(zip_t **zip)
{
	if (*zip)
		zip_discard(*zip);
}

static void scope_zip_fclose(zip_file_t **file)
{
	if (*file)
		zip_fclose(*file);
}

#define cleanup_zip __attribute__((cleanup(scope_zip_discard)))
#define cleanup_zip_file __attribute__((cleanup(scope_zip_fclose)))

static int refuse_directory(struct error *error)
{
	return fail(error, ERROR_INPUT,
		"The zip's table of contents is damaged. Create the zip again and upload it.");
}

/* Takes the entry's name from the layout and requires libzip to have the same name. libzip ends
 * a name at its first NUL, hides its length, and prefers a name in an extra field. */
static int read_name(struct archive *archive, size_t index, const struct zip_place *place)
{
	struct arena *arena = archive->set->arena;
	const char *shown = quote_bytes(arena, place->name, place->name_length);
	/* A slash at the end marks a folder; the rules apply to the path before it. */
	size_t length = place->name_length;
	size_t path_length = length > 1 && place->name[length - 1] == '/' ? length - 1 : length;
	const char *fault = path_fault(arena_copy(arena, place->name, path_length), path_length);
	if (fault)
		return fail(
			archive->error, ERROR_INPUT, "The name of the zip's entry %s %s.", shown, fault);
	archive->names[index] = place->name;
	const char *seen = zip_get_name(archive->zip, index, ZIP_FL_ENC_RAW);
	if (seen && strcmp(seen, place->name) == 0)
		return 0;
	return fail(archive->error, ERROR_INPUT,
		"The zip's entry %s has a second name in an extra field; pack it with another program, or "
		"name it in plain letters.",
		shown);
}

static int read_names(struct archive *archive, const struct zip_layout *layout)
{
	int rc = archive->count == layout->count ? 0 : refuse_directory(archive->error);
	archive->names = arena_array(archive->set->arena, const char *, archive->count + 1);
	for (size_t i = 0; i < archive->count && !rc; i++)
		rc = read_name(archive, i, &layout->places[i]);
	return rc;
}

static bool is_folder(const char *name)
{
	size_t length = strlen(name);
	return length && name[length - 1] == '/';
}

/* The upper half of the external attributes is the Unix mode, if the packing program set it. */
static int check_type(struct archive *archive, size_t index, const char *shown)
{
	zip_uint8_t system;
	zip_uint32_t attributes = 0;
	if (zip_file_get_external_attributes(archive->zip, index, 0, &system, &attributes) < 0)
		return refuse_directory(archive->error);
	mode_t type = (mode_t)(attributes >> 16) & S_IFMT;
	if (type == S_IFLNK)
		return fail(archive->error, ERROR_INPUT,
			"The zip's entry %s is a link; replace it with the file.", shown);
	if (type && type != S_IFREG && type != S_IFDIR)
		return fail(archive->error, ERROR_INPUT,
			"The zip's entry %s is neither a file nor a folder; remove it.", shown);
	return 0;
}

static int check_entry(struct archive *archive, size_t index)
{
	const char *shown = quote(archive->set->arena, archive->names[index]);
	zip_stat_t about;
	if (zip_stat_index(archive->zip, index, 0, &about) < 0)
		return refuse_directory(archive->error);
	int rc = check_type(archive, index, shown);
	if (rc)
		return rc;
	if ((about.valid & ZIP_STAT_ENCRYPTION_METHOD) && about.encryption_method != ZIP_EM_NONE)
		return fail(archive->error, ERROR_INPUT,
			"The zip's entry %s is encrypted; pack it without a password.", shown);
	/* Other methods are refused, because their decoders may need as much memory as the entry's
	 * header says. */
	if (about.comp_method != ZIP_CM_STORE && about.comp_method != ZIP_CM_DEFLATE)
		return fail(archive->error, ERROR_INPUT,
			"The zip's entry %s uses compression method %u; only stored and deflated entries are "
			"read, which is what every zip program makes by default.",
			shown, (unsigned int)about.comp_method);
	return 0;
}

static bool is_task_file(const char *name)
{
	return !path_is_debris(name) && !is_folder(name);
}

/* The length of the top folder, with its slash, if it contains all files; otherwise 0. */
static size_t top_folder_length(const struct archive *archive)
{
	const char *top = NULL;
	size_t length = 0;
	for (size_t i = 0; i < archive->count; i++) {
		if (!is_task_file(archive->names[i]))
			continue;
		const char *slash = strchr(archive->names[i], '/');
		if (!slash)
			return 0;
		size_t here = (size_t)(slash - archive->names[i]) + 1;
		if (top && (here != length || strncmp(top, archive->names[i], length) != 0))
			return 0;
		top = archive->names[i];
		length = here;
	}
	return length;
}

/* All checks that need no unpacking. */
static int check_entries(struct archive *archive, const struct zip_layout *layout)
{
	int rc = read_names(archive, layout);
	if (!rc)
		rc = paths_check(archive->set->arena, archive->names, archive->count, archive->error);
	size_t files = 0;
	for (size_t i = 0; i < archive->count && !rc; i++) {
		rc = check_entry(archive, i);
		files += is_task_file(archive->names[i]);
	}
	if (!rc && files > fileset_most_files)
		rc = fail(archive->error, ERROR_LIMIT,
			"The zip contains %zu files; a task may have at most 512.", files);
	if (!rc && !files)
		rc = fail(archive->error, ERROR_INPUT, "The zip contains no files.");
	return rc;
}

static int refuse_contents(struct archive *archive, const char *shown, zip_error_t *why)
{
	if (zip_error_code_zip(why) == ZIP_ER_CRC)
		return fail(archive->error, ERROR_INPUT,
			"The zip's entry %s is damaged: its checksum does not match. Create the zip again and "
			"upload it.",
			shown);
	return fail(archive->error, ERROR_INPUT,
		"The zip's entry %s is damaged and cannot be unpacked (%s). Create the zip again and "
		"upload it.",
		shown, zip_error_strerror(why));
}

static int check_growth(struct archive *archive, const char *shown, size_t unpacked, size_t packed)
{
	if (unpacked > fileset_most_file_bytes)
		return fail(
			archive->error, ERROR_LIMIT, "The zip's entry %s unpacks to more than 4 MiB.", shown);
	if (unpacked > ratio_matters_from_bytes && unpacked / most_ratio > packed)
		return fail(archive->error, ERROR_LIMIT,
			"The zip's entry %s unpacks to more than 200 times its packed size, as in a zip bomb, "
			"so Podium refuses it.",
			shown);
	if (unpacked > fileset_most_total_bytes - archive->total_bytes)
		return fail(archive->error, ERROR_LIMIT,
			"The zip unpacks to more than 16 MiB (counted up to its entry %s).", shown);
	return 0;
}

static int unpack_entry(struct archive *archive, size_t index)
{
	const char *name = archive->names[index], *shown = quote(archive->set->arena, name);
	zip_stat_t about;
	if (zip_stat_index(archive->zip, index, 0, &about) < 0)
		return refuse_directory(archive->error);
	size_t packed = about.comp_size < archive->length ? (size_t)about.comp_size : archive->length;
	cleanup_zip_file zip_file_t *file = zip_fopen_index(archive->zip, index, 0);
	if (!file)
		return refuse_contents(archive, shown, zip_get_error(archive->zip));
	cleanup_buffer struct buffer bytes = { 0 };
	char piece[16384];
	for (zip_int64_t got; (got = zip_fread(file, piece, sizeof piece)) != 0;) {
		if (got < 0)
			return refuse_contents(archive, shown, zip_file_get_error(file));
		buffer_append(&bytes, piece, (size_t)got);
		int rc = check_growth(archive, shown, bytes.length, packed);
		if (rc)
			return rc;
	}
	if (!(about.valid & ZIP_STAT_SIZE) || about.size != bytes.length)
		return fail(archive->error, ERROR_INPUT,
			"The zip's entry %s is damaged: it unpacks to %zu bytes, but the zip states another "
			"size. Create the zip again and upload it.",
			shown, bytes.length);
	archive->total_bytes += bytes.length;
	int rc = fileset_add(archive->set, name + archive->top_bytes, buffer_string(&bytes),
		bytes.length, archive->error);
	return rc ? rc : arena_check(archive->set->arena, archive->error);
}

static zip_t *open_archive(const void *bytes, size_t length)
{
	zip_error_t why;
	zip_error_init(&why);
	zip_source_t *source = zip_source_buffer_create(bytes, length, 0, &why);
	zip_t *zip = source ? zip_open_from_source(source, ZIP_RDONLY, &why) : NULL;
	if (source && !zip)
		zip_source_free(source);
	zip_error_fini(&why);
	return zip;
}

int fileset_from_zip(struct fileset *set, const void *bytes, size_t length, struct error *error)
{
	if (!length)
		return fail(error, ERROR_INPUT, "The file is empty; choose the zip of the task's folder.");
	if (length > fileset_most_zip_bytes)
		return fail(error, ERROR_LIMIT, "The zip is larger than 8 MiB.");
	struct zip_layout layout;
	int rc = zip_layout_read(set->arena, bytes, length, fileset_most_entries, &layout, error);
	if (rc)
		return rc;
	cleanup_zip zip_t *zip = open_archive(bytes, length);
	if (!zip)
		return refuse_directory(error);
	struct archive archive = {
		.set = set, .bytes = bytes, .length = length, .zip = zip, .error = error
	};
	archive.count = (size_t)zip_get_num_entries(zip, 0);
	rc = check_entries(&archive, &layout);
	archive.top_bytes = rc ? 0 : top_folder_length(&archive);
	for (size_t i = 0; i < archive.count && !rc; i++)
		if (is_task_file(archive.names[i]))
			rc = unpack_entry(&archive, i);
	return rc;
}
