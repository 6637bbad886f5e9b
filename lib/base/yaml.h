/* Reads one YAML document with libyaml into a small tree with line numbers.
 *
 * Scalars have the types of PyYAML's safe_load (YAML 1.1), because existing task files are written
 * for it. `0x1f`, `017`, `1_000` and `1:30` are integers, `yes` and `off` are truth values, `1e-5`
 * without a dot is text.
 *
 * The reader refuses these and names the line: anchors, aliases, tags, merge keys, duplicate keys,
 * keys that are not scalars, several documents, a tree that is too deep or too large, a NUL. */
#ifndef PODIUM_LIB_BASE_YAML_H
#define PODIUM_LIB_BASE_YAML_H

#include "lib/base/arena.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	yaml_most_bytes = 256 * 1024,
	yaml_most_nodes = 20000,
	yaml_most_depth = 16,
};

enum yaml_kind {
	YAML_NULL,
	YAML_BOOL,
	YAML_INTEGER,
	YAML_REAL,
	YAML_DATE,
	YAML_TEXT,
	YAML_LIST,
	YAML_MAP
};

struct yaml_node {
	enum yaml_kind kind;
	int line;                /* from 1 */
	const char *text;        /* scalars: the source without quotes; "" for lists and maps */
	bool truth;              /* YAML_BOOL */
	int64_t integer;         /* YAML_INTEGER */
	double real;             /* YAML_REAL */
	struct yaml_node *key;   /* of a map's child, else NULL */
	struct yaml_node *first; /* child of a list or map */
	struct yaml_node *next;  /* sibling */
	size_t count;            /* children */
};

/* Reads the document. Every error starts with `name`, the file's name. The tree lives in the
 * arena. */
int yaml_parse(struct arena *arena, const char *name, const char *bytes, size_t length,
	struct yaml_node **root, struct error *error);

/* The value of `key`, or NULL. */
struct yaml_node *yaml_find(const struct yaml_node *map, const char *key);

/* The kind's name in sentences: "text", "a list", "nothing". */
const char *yaml_kind_name(enum yaml_kind kind);

struct yaml_scalar_rules;
/* compiled patterns; two threads must not use them at the same time */
struct yaml_scalar_rules *yaml_scalar_rules_new(void);
void yaml_scalar_rules_free(struct yaml_scalar_rules *rules);
/* Only for yaml_parse: fills a scalar's kind and value from its text. `plain`: the scalar has no
 * quotes. Returns NULL, or what is wrong as the end of a sentence. */
const char *yaml_scalar_resolve(
	const struct yaml_scalar_rules *rules, struct yaml_node *node, bool plain);

#endif
