/* One YAML document as a small tree with line numbers, read with libyaml.
 *
 * Scalars mean what they mean to PyYAML's safe_load (YAML 1.1), because that is what wrote and read
 * task files until now: `0x1f`, `017`, `1_000` and `1:30` are integers, `yes` and `off` are truth
 * values, `1e-5` without a dot is text. Refused, each with its line: anchors, aliases, tags, merge
 * keys, duplicate keys, keys that are no scalars, several documents, too deep or too large a tree,
 * a NUL. */
#ifndef PODIUM_LIB_YAML_H
#define PODIUM_LIB_YAML_H

#include "lib/arena.h"
#include "lib/error.h"

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
	const char *text;        /* scalars: as written, without quotes; "" for lists and maps */
	bool truth;              /* YAML_BOOL */
	int64_t integer;         /* YAML_INTEGER */
	double real;             /* YAML_REAL */
	struct yaml_node *key;   /* of a map's child, else NULL */
	struct yaml_node *first; /* child of a list or map */
	struct yaml_node *next;  /* sibling */
	size_t count;            /* children */
};

/* Reads the document; `name` (of the file) begins every sentence. The tree lives in the arena. */
int yaml_parse(struct arena *arena, const char *name, const char *bytes, size_t length,
	struct yaml_node **root, struct error *error);

/* The value of the map's key written `key`, or NULL. */
struct yaml_node *yaml_find(const struct yaml_node *map, const char *key);

/* What a node is, for sentences: "text", "a list", "nothing". */
const char *yaml_kind_name(enum yaml_kind kind);

/* Fills kind and value of a scalar from its text. `plain`: not in quotes. Returns what is wrong
 * with it as the end of a sentence, or NULL. Used by yaml_parse. */
struct yaml_scalar_rules;
struct yaml_scalar_rules *yaml_scalar_rules_new(
	void); /* compiled patterns; not for two threads at once */
void yaml_scalar_rules_free(struct yaml_scalar_rules *rules);
const char *yaml_scalar_resolve(
	const struct yaml_scalar_rules *rules, struct yaml_node *node, bool plain);

#endif
