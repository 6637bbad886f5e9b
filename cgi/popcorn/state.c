#include "cgi/popcorn/state.h"

#include "lib/base/clock.h"

#include <pthread.h>
#include <sodium.h>
#include <stdbool.h>
#include <string.h>

enum { slots = 512, most_bytes = 4096, key_bytes = 32, kept_ms = 3600 * 1000 };

/* The key's hash chooses the slot; an answer replaces any other answer in its slot. */
static struct slot {
	unsigned char key[key_bytes];
	int64_t kept_at_ms;
	struct buffer json;
} table[slots];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void make_key(unsigned char key[static key_bytes], const char *secret, int64_t submission_id)
{
	crypto_generichash_state state;
	crypto_generichash_init(&state, NULL, 0, key_bytes);
	crypto_generichash_update(&state, (const unsigned char *)&submission_id, sizeof submission_id);
	crypto_generichash_update(&state, (const unsigned char *)secret, strlen(secret));
	crypto_generichash_final(&state, key, key_bytes);
}

static struct slot *state_slot(const unsigned char *key)
{
	return &table[(key[0] | key[1] << 8) % slots];
}

void popcorn_state_keep(const char *secret, int64_t submission_id, const char *json)
{
	unsigned char key[key_bytes];
	if (strlen(json) > most_bytes)
		return;
	make_key(key, secret, submission_id);
	struct slot *slot = state_slot(key);
	pthread_mutex_lock(&lock);
	memcpy(slot->key, key, sizeof key);
	slot->kept_at_ms = clock_ms();
	buffer_clear(&slot->json);
	buffer_text(&slot->json, json);
	pthread_mutex_unlock(&lock);
}

void popcorn_state_recall(const char *secret, int64_t submission_id, struct buffer *out)
{
	unsigned char key[key_bytes];
	make_key(key, secret, submission_id);
	struct slot *slot = state_slot(key);
	pthread_mutex_lock(&lock);
	bool is_known = slot->json.length && memcmp(slot->key, key, sizeof key) == 0
		&& clock_ms() - slot->kept_at_ms < kept_ms;
	if (is_known)
		buffer_append(out, slot->json.data, slot->json.length);
	pthread_mutex_unlock(&lock);
	if (!is_known)
		buffer_printf(out,
			"{\"id\":%lld,\"leaderboard_id\":0,\"leaderboard_name\":\"\",\"file_name\":\"\",\"user_"
			"id\":\"\",\"submission_time\":\"\",\"done\":false,\"code\":\"\",\"runs\":[],\"job\":{"
			"\"status\":\"pending\",\"error\":null,\"last_heartbeat\":null},\"runner_queue\":null}",
			(long long)submission_id);
}
