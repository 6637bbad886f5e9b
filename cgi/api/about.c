/* Describes the API itself, and the holder of the request's token. */
#include "cgi/api/api.h"
#include "cgi/api/calls.h"
#include "lib/base/scope.h"

int api_root(struct request *request)
{
	return respond_json(request,
		json_pack("{s:s, s:s, s:s, s:s}", "name", "Podium", "version", PODIUM_VERSION, "openapi",
			"/api/v1/openapi.json", "documentation", "/api/v1/reference.md"));
}

static json_t *scope_names(int64_t scopes)
{
	json_t *names = json_array();
	for (int64_t scope = 1; scope <= TOKEN_ADMIN; scope *= 2)
		if (scopes & scope)
			json_array_append_new(names, json_string(token_scope_name((enum token_scope)scope)));
	return names;
}

int api_me(struct request *request)
{
	const struct token_holder *holder = request->token;
	return respond_json(request,
		json_pack("{s:s, s:s, s:o, s:s, s:o}", "user", holder->user, "role",
			role_name(holder->role), "scopes", scope_names(holder->token.scopes), "token",
			holder->token.name, "expires_at", json_moment(holder->token.expires_at_ms)));
}
