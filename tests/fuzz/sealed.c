/* Plans that lie in any field, with images and variables, against the whole launcher: launch.c runs
 * on a thread, with the tests' pretended driver. The input is a list of changes to a right plan.
 * Unlike the target `plan`, which makes up text, most of these plans are read to their end. */
int launcher_main(int argc, char **argv);
#define main launcher_main
#include "harness/sealed/launch.c"
#undef main

#include "tests/fuzz/fuzz.h"
#include "tests/lib/make_cubin.h"
#include "tests/lib/pretend_cuda.h"

#include <jansson.h>
#include <pthread.h>
#include <sys/socket.h>

enum { place_bytes = 1 << 16, bytes_in_use = 16, most_blobs = 16, most_changes = 12 };
static const int64_t LIMIT_NS = INT64_C(20000000000);
static const uint64_t INPUT = SEALED_RANGE_ADDRESS, OUTPUT = SEALED_RANGE_ADDRESS + place_bytes;

/* ---- the judge ---- */

static struct {
	int socket;
	struct isolated_call call;
	struct isolated_gate *gate;
	struct isolated_memory input, output;
	struct pretend_cuda *driver;
} judge;

int LLVMFuzzerInitialize(int *count, char ***arguments);

static struct isolated_frame letter; /* large, so it is not on the stack */

static void *run_launcher(void *unused)
{
	(void)unused;
	launcher_main(1, (char *[]){ "launch", NULL });
	return NULL;
}

static void post(
	uint32_t kind, const void *content, size_t length, const int *descriptors, uint32_t count)
{
	letter = (struct isolated_frame){
		.kind = kind, .length = (uint32_t)length, .descriptor_count = count
	};
	memcpy(letter.content, content, length);
	require(isolated_send(judge.socket, &letter, descriptors) == 0);
}

/* Receives an answer. Returns whether it is `kind`; otherwise it must be TEXT with a sentence. The
 * sentence may have names of an image, of any bytes, which the judge cleans. */
static bool hear(uint32_t kind)
{
	require(isolated_receive(judge.socket, &letter, NULL, LIMIT_NS) == 0);
	if (letter.kind == kind)
		return true;
	require(letter.kind == ISOLATED_TEXT);
	require(letter.length > 10 && letter.content[0] >= 'A' && letter.content[0] <= 'Z');
	return false;
}

static void give_place(struct isolated_memory *memory, uint64_t address, bool is_input)
{
	const struct sealed_place place = {
		.address = address, .bytes = place_bytes, .is_input = is_input
	};
	require(isolated_memory_make(memory, 1, place_bytes) == 0);
	post(ISOLATED_PLACE, &place, sizeof place, &memory->descriptor, 1);
	require(hear(ISOLATED_MAPPED));
}

/* Takes the launcher's descriptor before libFuzzer uses its number. */
int LLVMFuzzerInitialize(int *count, char ***arguments)
{
	enum { high = 16 };
	int both[2];
	(void)count, (void)arguments;
	require(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, both) == 0);
	judge.socket = fcntl(both[0], F_DUPFD, high);
	const int theirs = fcntl(both[1], F_DUPFD, high);
	close(both[0]);
	close(both[1]);
	require(judge.socket >= 0 && theirs >= 0 && dup2(theirs, SOCKET) == SOCKET);
	close(theirs);
	return 0;
}

static void open_judge(void)
{
	int descriptors[2];
	pthread_t thread;
	const struct isolated_hello hello = { isolated_version, 1 };
	judge.driver = pretend_load();
	require(isolated_page_make(&judge.call.page, &descriptors[0]) == 0);
	require(isolated_gate_make(&judge.gate, &descriptors[1]) == 0);
	require(pthread_create(&thread, NULL, run_launcher, NULL) == 0 && pthread_detach(thread) == 0);
	post(ISOLATED_HELLO, &hello, sizeof hello, descriptors, 2);
	require(hear(ISOLATED_READY));
	judge.call.socket = -1; /* the launcher's end is open in this process, too */
	judge.call.cpu = -1;
	give_place(&judge.input, INPUT, true);
	give_place(&judge.output, OUTPUT, false);
	judge.driver->places[0] = (struct pretend_place){ INPUT, place_bytes };
	judge.driver->places[1] = (struct pretend_place){ OUTPUT, place_bytes };
}

/* ---- a right plan ---- */

static const char *const IMAGES[] = {
	"kernel add_one 8 4\nkernel add_gain 8 4\nvariable gain 4\n",
	"kernel add_one 8\nkernel add_gain 8 4 4\nvariable gain 8\n",
	"kernel add_one 4 8\nkernel other 16\nvariable other 4\n",
	"kernel add_one\nvariable gain 16\n",
};

/* The plan, and its blobs as they lie in the file. */
struct lie {
	json_t *plan;
	uint8_t images[2][cubin_bytes];
	uint8_t contents[most_blobs];
	size_t more_text, less_file;
	bool is_short; /* bytes of a blob are missing */
};

static json_t *make_blob(size_t bytes)
{
	return json_pack("{s:i, s:s}", "bytes", (int)bytes, "sha256",
		"0011223344556677889900112233445566778899aabbccddeeff001122334455");
}

static json_t *variable_of(int image)
{
	json_t *variable = make_blob(4);
	json_object_set_new(variable, "image", json_integer(image));
	json_object_set_new(variable, "name", json_string("gain"));
	return variable;
}

static json_t *kernel_of(int image, const char *name)
{
	/* OUTPUT, and bytes_in_use */
	return json_pack("{s:s, s:i, s:s, s:[i,i,i], s:[i,i,i], s:i, s:[[i,s],[i,s]]}", "kind",
		"kernel", "image", image, "name", name, "grid", 4, 2, 1, "block", 32, 1, 1, "shared_bytes",
		0, "parameters", 0, "0000010000650000", 8, "10000000");
}

static json_t *special_kernel(void)
{
	json_t *kernel = kernel_of(1, "add_one");
	json_object_update_new(kernel,
		json_pack("{s:[i,i,i], s:b, s:i, s:i, s:b}", "cluster", 2, 1, 1, "cooperative", 1,
			"most_shared_bytes", 70000, "carveout", 50, "large_clusters", 1));
	return kernel;
}

static json_t *right_plan(void)
{
	const json_int_t input = (json_int_t)INPUT, output = (json_int_t)OUTPUT;
	json_t *memset_node = json_pack("{s:s, s:I, s:i, s:i, s:i, s:i, s:i}", "kind", "memset",
		"address", output, "element_bytes", 4, "height", 2, "pitch", 64, "value", 7, "width", 4);
	json_t *copy = json_pack("{s:s, s:i, s:i, s:i, s:[I,i,i], s:[I,i,i]}", "kind", "copy", "depth",
		2, "height", 2, "width", bytes_in_use, "from", input, 32, 4, "to", output, 64, 2);
	return json_pack("{s:s, s:[o,o], s:[o,o], s:[o,o,o,o,o,{s:s}], s:[[i,i],[i,i],[i,i,s],[i,i]]}",
		"format", "podium plan 1", "images", make_blob(cubin_bytes), make_blob(cubin_bytes),
		"variables", variable_of(0), variable_of(1), "nodes", memset_node, copy,
		kernel_of(0, "add_one"), kernel_of(1, "add_gain"), special_kernel(), "kind", "empty",
		"edges", 0, 1, 1, 2, 2, 3, "trigger", 3, 5);
}

/* ---- changes ---- */

/* A value of the plan, and how to put another in its place. */
struct field {
	json_t *value, *parent;
	const char *key; /* in an object */
	size_t index;    /* in an array */
};

enum { most_fields = 4096 };
static struct field fields[most_fields];
static size_t field_count;

static void list_fields(json_t *value, json_t *parent, const char *key, size_t index)
{
	const char *name;
	json_t *one;
	size_t i;
	if (field_count == most_fields)
		return;
	fields[field_count++] = (struct field){ value, parent, key, index };
	json_object_foreach(value, name, one) list_fields(one, value, name, 0);
	json_array_foreach(value, i, one) list_fields(one, value, NULL, i);
}

/* Takes ownership of `fresh`. */
static void put(const struct field *field, json_t *fresh)
{
	if (!field->parent)
		json_decref(fresh);
	else if (field->key)
		json_object_set_new(field->parent, field->key, fresh);
	else
		json_array_set_new(field->parent, field->index, fresh);
}

struct change {
	uint8_t what;
	uint16_t field, value;
};

static json_int_t number_of(uint16_t value)
{
	const json_int_t input = (json_int_t)INPUT, output = (json_int_t)OUTPUT;
	const json_int_t known[] = { 0, 1, 2, 3, 4, 8, 16, 17, 31, 32, 63, 64, 65, 100, 101, 255, 256,
		512, 1023, 1024, 1025, 4095, 4096, 32763, 32764, 65535, 65536, 70000, 262144, 262145,
		INT32_MAX - 1, INT32_MAX, (json_int_t)INT32_MAX + 1, UINT32_MAX, (json_int_t)UINT32_MAX + 1,
		(json_int_t)1 << 56, INT64_MAX, -1, -2, INT64_MIN, input, input - 1, input - 16, output,
		output - 1, output - 16, output + place_bytes, output + place_bytes - 1,
		output + place_bytes - 4, output + place_bytes - 16, output + place_bytes - 80,
		input + ((json_int_t)1 << 32), 0x7f0000000000 };
	return known[value % COUNT(known)];
}

static const char *word_of(uint16_t value)
{
	static const char *const known[] = { "", "add_one", "add_gain", "gain", "other", "zzz",
		"wait_for_gate", "no name", "kernel", "memset", "copy", "empty", "host", "trigger", "start",
		"end", "podium plan 2", "10000000", "100000000000", "ffffffff", "0000010000650000",
		"f0ff010000650000", "0000000000000000", "0g", "000" };
	return known[value % COUNT(known)];
}

/* Changes one character of a text, or its length. */
static json_t *bend(const char *text, uint16_t value)
{
	static const char letters[] = "0123456789abcdefgA_$. ";
	char bent[8300];
	size_t length = strlen(text);
	if (length > sizeof bent - 3)
		return json_string(text);
	memcpy(bent, text, length + 1);
	if (value % 8 == 0)
		strcat(bent, "00");
	else if (value % 8 == 1 && length)
		bent[length - 1] = '\0';
	else if (length)
		bent[(value >> 8) % length] = letters[(value >> 3) % (sizeof letters - 1)];
	return json_string(bent);
}

/* Changes the list or object itself: removes or repeats an entry, or empties it. */
static void reshape(json_t *value, uint16_t how)
{
	const size_t count = json_array_size(value), at = count ? (how >> 2) % count : 0;
	if (json_is_object(value)) {
		static const char *const keys[] = { "cluster", "cooperative", "carveout", "large_clusters",
			"most_shared_bytes", "parameters", "pitch", "name", "unknown" };
		const char *key = keys[(how >> 2) % COUNT(keys)];
		if (how % 2 && json_object_get(value, key))
			json_object_del(value, key);
		else
			json_object_set_new(value, key, json_integer(number_of(how >> 6)));
	} else if (how % 4 == 0) {
		json_array_remove(value, at);
	} else if (how % 4 == 1 && count) {
		json_array_insert_new(value, at, json_deep_copy(json_array_get(value, at)));
	} else if (how % 4 == 2) {
		json_array_append_new(value, json_integer(number_of(how >> 2)));
	} else {
		json_array_clear(value);
	}
}

static void change_field(struct lie *lie, const struct change *change)
{
	field_count = 0;
	list_fields(lie->plan, NULL, NULL, 0);
	const struct field *field = &fields[change->field % field_count];
	json_t *value = field->value;
	if (json_is_integer(value) && change->what % 2)
		put(field,
			json_integer((json_int_t)((uint64_t)json_integer_value(value)
				+ (uint64_t)(int16_t)change->value)));
	else if (json_is_integer(value))
		put(field, json_integer(number_of(change->value)));
	else if (json_is_string(value))
		put(field,
			change->what % 2 ? bend(json_string_value(value), change->value)
							 : json_string(word_of(change->value)));
	else if (json_is_boolean(value))
		put(field, json_boolean(!json_is_true(value)));
	else
		reshape(value, change->value);
}

/* Puts a copy of a value, such as a node or an address, in place of another one. Moves no list of
 * the plan itself, because the plan could double its size with each change. */
static void move_field(struct lie *lie, const struct change *change)
{
	field_count = 0;
	list_fields(lie->plan, NULL, NULL, 0);
	const struct field *from = &fields[change->value % field_count];
	if (from->parent && from->parent != lie->plan)
		put(&fields[change->field % field_count], json_deep_copy(from->value));
}

static void change_image(struct lie *lie, const struct change *change)
{
	uint8_t *image = lie->images[change->what / 8 % 2];
	if (change->what % 2)
		image[change->field % cubin_bytes] = (uint8_t)change->value;
	else
		make_cubin(image, IMAGES[change->field % COUNT(IMAGES)],
			change->value % 4 ? "__assertfail" : "vprintf", change->value % 16 == 1 ? 4 : 0);
}

static void change_file(struct lie *lie, const struct change *change)
{
	lie->contents[change->field % most_blobs] = (uint8_t)change->value;
	if (change->value % 8 == 0)
		lie->less_file = change->field % 4096;
	if (change->value % 8 == 1)
		lie->more_text = change->field % 8192;
}

static void apply(struct lie *lie, const struct change *change)
{
	static void (*const kinds[])(struct lie * lie, const struct change *change) = { change_field,
		change_field, change_field, change_field, change_field, move_field, change_image,
		change_file };
	kinds[change->what / 2 % COUNT(kinds)](lie, change);
}

/* ---- the file ---- */

static void align(struct buffer *file)
{
	while (file->length % plan_blob_alignment)
		buffer_byte(file, '\0');
}

/* Appends the blob of an entry with as many bytes as the plan says, as the judge has checked. Of
 * large ones only a part. */
static void append_blob(
	struct lie *lie, struct buffer *file, const json_t *entry, const uint8_t *bytes, size_t length)
{
	const json_int_t said = json_integer_value(json_object_get(entry, "bytes"));
	align(file);
	for (json_int_t i = 0; i < said && i < 4 * cubin_bytes; i++)
		buffer_byte(file, (char)bytes[i % (json_int_t)length]);
	lie->is_short |= said > 4 * cubin_bytes;
}

/* Returns how long the text is said to be. */
static size_t write_file(struct lie *lie, struct buffer *file)
{
	size_t i;
	json_t *entry;
	cleanup_free char *text =
		json_dumps(lie->plan, JSON_SORT_KEYS | JSON_COMPACT | JSON_ENSURE_ASCII);
	require(text);
	const size_t text_bytes = strlen(text);
	buffer_append(file, text, text_bytes);
	json_array_foreach(json_object_get(lie->plan, "images"), i, entry)
		append_blob(lie, file, entry, lie->images[i % 2], cubin_bytes);
	json_array_foreach(json_object_get(lie->plan, "variables"), i, entry)
		append_blob(lie, file, entry, lie->contents, most_blobs);
	if (lie->less_file && lie->less_file < file->length) {
		file->length -= lie->less_file;
		lie->is_short = true;
	}
	return text_bytes + lie->more_text;
}

static bool send_plan(struct lie *lie)
{
	cleanup_buffer struct buffer file = { 0 };
	const struct sealed_plan_frame content = { .text_bytes = (uint32_t)write_file(lie, &file) };
	int memory = memfd_create("plan", MFD_CLOEXEC);
	require(write(memory, file.data, file.length) == (ssize_t)file.length);
	post(ISOLATED_PLAN, &content, sizeof content, &memory, 1);
	close(memory);
	return hear(ISOLATED_MAPPED);
}

/* ---- what must hold ---- */

static void make_call(bool has_plan)
{
	struct isolated_call *call = &judge.call;
	call->command = ISOLATED_CALL;
	call->limit_ns = LIMIT_NS;
	call->gate = judge.gate;
	require(isolated_arm(call) == 0 && isolated_ring(call) == 0);
	require(call->status == ISOLATED_RETURNED || call->status == ISOLATED_RAISED);
	require(has_plan || call->status == ISOLATED_RAISED);
	if (call->status == ISOLATED_RAISED)
		require(!hear(ISOLATED_MAPPED));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct lie lie = { .plan = right_plan(), .contents = { 3 } };
	if (!judge.driver)
		open_judge();
	make_cubin(lie.images[0], IMAGES[0], "__assertfail", 0);
	make_cubin(lie.images[1], IMAGES[0], "__assertfail", 0);
	for (size_t i = 0; i < most_changes && 5 * i + 5 <= length; i++) {
		struct change change = { .what = bytes[5 * i] };
		memcpy(&change.field, bytes + 5 * i + 1, sizeof change.field);
		memcpy(&change.value, bytes + 5 * i + 3, sizeof change.value);
		apply(&lie, &change);
	}
	const bool is_taken = send_plan(&lie);
	require(is_taken || length >= 5); /* the plan without changes is right */
	require(!is_taken || !lie.is_short);
	make_call(is_taken);
	if (judge.driver->strayed)
		fprintf(stderr, "The launcher let pass: %s\n", judge.driver->strayed);
	require(!judge.driver->strayed);
	json_decref(lie.plan);
	return 0;
}
