#include "record.h"

#include "calls.h"
#include "recorder.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(crypto_hash_sha256_BYTES == plan_hash_bytes, "a hash has another size");

static const char UNLOADED[] = ""; /* the module of an image whose module is unloaded */

/* ---- images ---- */

void sealed_modules_forget_plan(struct sealed_record *record)
{
	while (record->listed_count)
		record->listed[--record->listed_count].image->number = -1;
	while (record->content_count)
		free(record->contents[--record->content_count].bytes);
}

void sealed_modules_free(struct sealed_record *record)
{
	sealed_modules_forget_plan(record);
	for (size_t i = 0; i < record->image_count; i++)
		if (record->images[i].owns_bytes)
			free(record->images[i].bytes);
}

/* Gives a new image its bytes: those of an equal image, or a copy. */
static void keep_bytes(struct sealed_record *record, struct sealed_image *image, const void *bytes)
{
	for (const struct sealed_image *other = record->images; other < image; other++)
		if (other->bytes && other->length == image->length
			&& memcmp(other->bytes, bytes, image->length) == 0) {
			image->bytes = other->bytes;
			return;
		}
	if (image->length > plan_most_image_bytes
		|| image->length > sealed_most_loaded_bytes - record->kept_bytes)
		return;
	uint8_t *copy = malloc(image->length);
	if (!copy)
		return;
	image->bytes = memcpy(copy, bytes, image->length);
	image->owns_bytes = true;
	record->kept_bytes += image->length;
}

size_t sealed_record_image(
	struct sealed_record *record, const void *module, const void *bytes, size_t length)
{
	pthread_mutex_lock(&record->lock);
	const size_t number = record->image_count;
	if (number < sealed_most_loaded) {
		struct sealed_image *image = &record->images[number];
		*image = (struct sealed_image){ .module = module, .length = length, .number = -1 };
		keep_bytes(record, image, bytes);
		image->is_cubin = image->bytes && cubin_open(&image->cubin, image->bytes, length);
		record->image_count++;
	}
	pthread_mutex_unlock(&record->lock);
	return number;
}

void sealed_record_module(struct sealed_record *record, size_t image, const void *module)
{
	pthread_mutex_lock(&record->lock);
	if (image < record->image_count)
		record->images[image].module = module;
	pthread_mutex_unlock(&record->lock);
}

void sealed_record_unload(struct sealed_record *record, const void *module)
{
	pthread_mutex_lock(&record->lock);
	for (size_t i = 0; i < record->image_count; i++)
		if (module && record->images[i].module == module)
			record->images[i].module = UNLOADED;
	pthread_mutex_unlock(&record->lock);
}

json_t *sealed_hex(const uint8_t *bytes, size_t length)
{
	char *digits = malloc(2 * length + 1);
	json_t *json =
		digits ? json_string(sodium_bin2hex(digits, 2 * length + 1, bytes, length)) : NULL;
	free(digits);
	return json;
}

static json_t *hash_of(const uint8_t *bytes, size_t length)
{
	uint8_t hash[plan_hash_bytes];
	crypto_hash_sha256(hash, bytes, length);
	return sealed_hex(hash, sizeof hash);
}

static bool has_kernel(const struct sealed_image *image, const char *name)
{
	return image->is_cubin && cubin_has_function(&image->cubin, name);
}

/* Finds the last image of a module, because an unload may have been missed and the address used
 * again. `name`: a kernel that it must have; NULL: any. Returns NULL if there is none. */
static struct sealed_image *find_by_module(
	struct sealed_record *record, const void *module, const char *name)
{
	for (size_t i = record->image_count; i-- > 0;)
		if (record->images[i].module == module && (!name || has_kernel(&record->images[i], name)))
			return &record->images[i];
	return NULL;
}

/* Finds the image with a kernel among those whose module is not known. NULL: there is none. Counts
 * images that differ. */
static struct sealed_image *find_by_name(
	struct sealed_record *record, const char *name, size_t *count)
{
	struct sealed_image *found = NULL;
	*count = 0;
	for (size_t i = 0; i < record->image_count; i++)
		if (!record->images[i].module && has_kernel(&record->images[i], name)) {
			*count += !found || found->bytes != record->images[i].bytes;
			if (!found)
				found = &record->images[i];
		}
	return found;
}

/* Finds the image with a kernel. NULL: it is not known. *count: how many images it could be. */
static struct sealed_image *find_kernel(
	struct sealed_record *record, const void *module, const char *name, size_t *count)
{
	*count = 1;
	pthread_mutex_lock(&record->lock);
	struct sealed_image *image = find_by_module(record, module, name);
	if (!image && (image = find_by_name(record, name, count)) && *count == 1)
		image->module = module;
	if (!image)
		image = find_by_module(record, module, NULL);
	pthread_mutex_unlock(&record->lock);
	return image;
}

/* Refuses a kernel whose image cannot be in a plan. Returns 0 if it can. */
static int check_image(const struct sealed_image *image, const char *name, size_t count)
{
	if (count > 1)
		return REFUSE(
			"Two modules have a kernel %.200s, and CUDA does not say which one the call launches. "
			"Rename one of them.",
			name);
	if (image && image->length > plan_most_image_bytes)
		return REFUSE(
			"The image with the kernel %.200s takes %zu bytes; a plan's may take up to %d MiB.",
			name, image->length, plan_most_image_bytes >> 20);
	if (image && !image->bytes)
		return REFUSE("The process loaded more modules than %d MiB can hold before the kernel "
					  "%.200s. Load fewer modules.",
			sealed_most_loaded_bytes >> 20, name);
	if (image && !image->is_cubin)
		return REFUSE(
			"The image of a module is no cubin. Compile for this GPU, as with -arch=sm_90.");
	if (!image || !has_kernel(image, name))
		return REFUSE("The kernel %.200s is in a module that was loaded in an unknown way.", name);
	if (!cubin_names_all_bytes(&image->cubin))
		return REFUSE("The module with the kernel %.200s has variables without a name, so they "
					  "cannot be restored before a call. Do not strip its symbols.",
			name);
	return 0;
}

/* An image does not change, and each plan may list it, so its hash is computed once. */
static json_t *hash_of_image(struct sealed_image *image)
{
	if (!image->is_hashed)
		crypto_hash_sha256(image->hash, image->bytes, image->length);
	image->is_hashed = true;
	return sealed_hex(image->hash, sizeof image->hash);
}

static int list_image(
	struct sealed_record *record, struct sealed_image *image, struct CUmod_st *module)
{
	if (record->listed_count == plan_most_images)
		return REFUSE("The call launches kernels of more than %d modules.", plan_most_images);
	image->number = record->listed_count;
	record->listed[record->listed_count++] = (struct sealed_listed){ image, module };
	json_array_append_new(record->list,
		json_pack(
			"{s:I, s:o}", "bytes", (json_int_t)image->length, "sha256", hash_of_image(image)));
	return 0;
}

int sealed_modules_find(
	struct sealed_record *record, struct CUfunc_st *function, const char *name, int64_t *number)
{
	struct CUmod_st *module;
	size_t count;
	int rc = SEALED_DO(function_module, &module, function);
	if (rc)
		return rc;
	struct sealed_image *image = find_kernel(record, module, name, &count);
	rc = check_image(image, name, count);
	if (!rc)
		rc = sealed_calls_check(&image->cubin, name);
	if (!rc && image->number < 0)
		rc = list_image(record, image, module);
	if (!rc)
		*number = image->number;
	return rc;
}

const void *sealed_record_blob(const struct sealed_record *record, uint32_t number, size_t *length)
{
	if (number < record->listed_count) {
		*length = record->listed[number].image->length;
		return record->listed[number].image->bytes;
	}
	if (number - record->listed_count >= record->content_count)
		return NULL;
	const struct sealed_content *content = &record->contents[number - record->listed_count];
	*length = content->length;
	return content->bytes;
}

/* ---- variables ---- */

/* Reads what a variable contains. */
static int read_content(struct sealed_record *record, unsigned long long address, size_t length)
{
	struct sealed_content content = { malloc(length), length };
	if (!content.bytes)
		return isolated_no_memory();
	record->contents[record->content_count++] = content;
	int rc = CUDA_DO(copy_to_host, content.bytes, address, length, NULL);
	return rc ? rc : CUDA_DO(context_wait);
}

/* Records nothing for a string literal of a kernel (`$str`): the driver does not know its name, so
 * the launcher could not restore it before a call. */
static int record_variable(struct sealed_record *record, const struct sealed_listed *listed,
	const struct cubin_variable *variable, json_t *list)
{
	unsigned long long address;
	size_t bytes;
	if (variable->is_managed)
		return REFUSE(
			"The variable %.200s is managed, so the host can change it. Make it __device__.",
			variable->name);
	const unsigned int status =
		sealed_cuda.module_variable(&address, &bytes, listed->module, variable->name);
	if (status == CUDA_CALL_NOT_FOUND)
		return 0;
	if (status != CUDA_CALL_SUCCEEDED)
		return isolated_cuda_check_named(status, "cuModuleGetGlobal_v2");
	if (record->content_count == plan_most_variables)
		return REFUSE("The modules have more than %d variables.", plan_most_variables);
	if (bytes > plan_most_variable_bytes)
		return REFUSE("The variable %.200s takes %zu bytes; at most %d MiB are allowed.",
			variable->name, bytes, plan_most_variable_bytes >> 20);
	int rc = read_content(record, address, bytes);
	if (rc)
		return rc;
	json_array_append_new(list,
		json_pack("{s:I, s:I, s:s, s:o}", "bytes", (json_int_t)bytes, "image",
			listed->image->number, "name", variable->name, "sha256",
			hash_of(record->contents[record->content_count - 1].bytes, bytes)));
	return 0;
}

static int by_name(const void *one, const void *other)
{
	return strcmp(
		((const struct cubin_variable *)one)->name, ((const struct cubin_variable *)other)->name);
}

/* Records the variables of an image by name, as a plan lists them. */
static int record_image_variables(
	struct sealed_record *record, const struct sealed_listed *listed, json_t *list)
{
	const struct cubin *cubin = &listed->image->cubin;
	size_t count = 0;
	int rc = 0;
	struct cubin_variable *found = calloc(cubin->symbols.count + 1, sizeof *found);
	if (!found)
		return isolated_no_memory();
	for (uint64_t next = 0; cubin_next_variable(cubin, &next, &found[count]);)
		count++;
	qsort(found, count, sizeof *found, by_name);
	for (size_t i = 0; i < count && !rc; i++)
		if (!i || strcmp(found[i - 1].name, found[i].name) != 0)
			rc = record_variable(record, listed, &found[i], list);
	free(found);
	return rc;
}

int sealed_modules_record_variables(struct sealed_record *record, json_t *list)
{
	int rc = 0;
	for (uint32_t i = 0; i < record->listed_count && !rc; i++)
		rc = record_image_variables(record, &record->listed[i], list);
	return rc;
}

const char *sealed_modules_variable_at(const struct sealed_record *record, uint64_t address)
{
	struct cubin_variable variable;
	unsigned long long begin;
	size_t bytes;
	for (uint32_t i = 0; i < record->listed_count; i++)
		for (uint64_t next = 0;
			 cubin_next_variable(&record->listed[i].image->cubin, &next, &variable);)
			if (sealed_cuda.module_variable(&begin, &bytes, record->listed[i].module, variable.name)
					== CUDA_CALL_SUCCEEDED
				&& address - begin < bytes)
				return variable.name;
	return NULL;
}
