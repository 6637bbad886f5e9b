/* In builds with sanitizers, passwords are hashed with the least cost that libsodium allows. A hash
 * with the real cost fills 64 MB, and the tests register hundreds of users. The release build has
 * the real cost: integration/dev/run checks it. */
#include <sodium.h>

int __real_crypto_pwhash_str(char hash[static crypto_pwhash_STRBYTES], const char *password,
	unsigned long long length, unsigned long long operations, size_t memory);
int __wrap_crypto_pwhash_str(char hash[static crypto_pwhash_STRBYTES], const char *password,
	unsigned long long length, unsigned long long operations, size_t memory);

/* The linker lets this replace crypto_pwhash_str (ld's option --wrap, in the Makefile). */
int __wrap_crypto_pwhash_str(char hash[static crypto_pwhash_STRBYTES], const char *password,
	unsigned long long length, unsigned long long operations, size_t memory)
{
	(void)operations, (void)memory;
	return __real_crypto_pwhash_str(
		hash, password, length, crypto_pwhash_OPSLIMIT_MIN, crypto_pwhash_MEMLIMIT_MIN);
}
