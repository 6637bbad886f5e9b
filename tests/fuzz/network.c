/* Where webhooks may send to. Input: the networks that the operator allows and an address, a line
 * each. */
#include "lib/base/network.h"
#include "lib/webhook/address.h"

#include "tests/fuzz/fuzz.h"

#include <strings.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct fuzz_input input = { bytes, length };
	cleanup_free char *allowed = fuzz_line(&input);
	cleanup_free char *text = fuzz_line(&input);
	cleanup_arena struct arena *arena = arena_new();
	struct webhook_address address = { 0 };
	struct network literal, same;
	struct error error = { 0 };
	int rc = network_list_check(allowed, &error);
	if (rc)
		require_error(rc, &error);
	/* A network contains its own first address, and its text form reads back as the same
	 * network. */
	if (network_parse(allowed, &literal) == 0)
		require(
			network_holds(&literal, literal.bytes) && network_list_holds(allowed, literal.bytes));
	rc = webhook_address_read(arena, text, allowed, &address, &error);
	if (rc) {
		require_error(rc, &error);
		return 0;
	}
	require(address.host && *address.host
		&& address.is_named == network_list_names(allowed, address.host));
	/* By default only https is allowed, and no address of an internal network. */
	if (webhook_address_read(arena, text, "", &address, &error) == 0) {
		require(strncasecmp(text, "https:", 6) == 0 && !address.is_named);
		require(network_parse(address.host, &same) || !network_internal(same.bytes));
	}
	return 0;
}
