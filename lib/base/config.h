/* Settings of all programs: one `key = value` file, and the environment, which wins: key
 * `database_socket` is PODIUM_DATABASE_SOCKET there. The file is the one that PODIUM_CONFIG names,
 * none where that is set to nothing, and where it is not set at all /etc/podium/podium.conf, if it
 * is there and may be read. lib/config.c has the table of keys with defaults and explanations; an
 * unknown key is refused with its line, and a password in a file that everybody may read as well.
 */
#ifndef PODIUM_LIB_CONFIG_H
#define PODIUM_LIB_CONFIG_H

#include "lib/buffer.h"
#include "lib/error.h"
#include "lib/slurm_options.h"

#include <stdbool.h>
#include <stdint.h>

struct config {
	char database_socket[108]; /* path; empty: TCP to database_host */
	char database_host[256];   /* one, or a cluster's nodes with commas between them */
	int64_t database_port;
	char database_name[64];
	char database_user[80];
	char database_password[256];
	int64_t database_timeout_s; /* how long an answer may take; 0: any time */
	char database_tls[16];      /* "verify", "unverified", "off"; empty: see lib/database.h */
	char database_tls_ca[256];  /* file with the certificates of those who sign the database's */
	char database_tls_cert[256],
		database_tls_key[256]; /* our own, where the database asks for one; empty: none */
	char fastcgi_socket[108];  /* path that podium-web listens on */
	int64_t web_threads;
	int64_t streams_at_once;
	char
		problems[256]; /* folder with problem sets, for popcorn-cli's admin commands; empty: none */
	char public_url[256]; /* how browsers reach us, without a slash at the end */
	int64_t quota_test, quota_benchmark, quota_ranked,
		quota_profile;            /* submissions of a user to a leaderboard; 0: any number */
	int64_t quota_hours;          /* in so many hours */
	int64_t queued_jobs_per_user; /* 0: any number */
	int64_t password_hashes_at_once;
	int64_t api_requests_per_minute; /* of a token, else of an address; 0: any number */
	char worker_name[64];            /* default: the host's name */
	char worker_runner[256]; /* path of podium-run; default: beside the program, else on the PATH */
	char worker_directory[256]; /* where jobs are unpacked */
	char worker_cache[256];     /* folder of fetched files; empty: one of this user's own in
	                               worker_directory */
	int64_t worker_cache_mib;   /* how much it keeps; 0: nothing */
	char device_locks[256];     /* folder of the devices' lock files; empty: /run/lock, else /tmp */
	int64_t worker_cpu; /* 1: offer the CPU as a device always; 0: only where there is no GPU */
	int64_t lease_ms;
	int64_t worker_drain_s; /* how long jobs may go on when the worker is told to stop; 0: they are
	                           queued again at once */
	int64_t poll_ms;        /* how often an idle worker looks for jobs */
	char python[256]; /* interpreter of Python tasks; empty: the first that can import torch */
	char nvcc[256];   /* empty: nvcc on the PATH, then /usr/local/cuda/bin/nvcc */
	char launcher[8]; /* "local": this machine's devices; "slurm": those of a cluster */
	struct slurm_options slurm_options;                   /* for every model, */
	struct slurm_options slurm_models[slurm_most_models]; /* and for those that are named:
	                                                         `slurm.H200 = ...` in the file */
	size_t slurm_model_count;
	int64_t slurm_jobs;         /* at once of a model that does not say it */
	int64_t slurm_idle_s;       /* how long a GPU is kept without a job */
	int64_t webhook_senders;    /* deliveries that podium-hooks makes at once; 0: it makes none */
	char webhook_allowed[512];  /* hosts and networks that webhooks may reach besides the internet
	                               (lib/network.h) */
	int64_t webhook_timeout_ms; /* how long a receiver may take for its answer */
	int64_t webhook_retry_ms;   /* after the first failure; it doubles with each further one */
	int64_t webhook_most_s;     /* how long a delivery is tried again */
	int64_t retain_samples_days, retain_logs_days, retain_artifacts_days, retain_deliveries_days,
		retain_audit_days; /* 0: for ever */
	char log_format[16];   /* auto, text, logfmt, json (lib/log.h) */
};

/* Fills `config` from the defaults, the file and the environment. */
int config_load(struct config *config, struct error *error);

extern const char config_default_file[];

/* The file that is read, "" for none. */
const char *config_file(void);

/* Whether there is a default file that this user may not read, so that what was loaded is not what
 * the site runs with. */
bool config_is_withheld(void);

/* Append the table of keys: as text, for --help; as the manual page podium.conf(5); as a file with
 * every key commented out. */
void config_describe(struct buffer *out);
void config_manual(struct buffer *out);
void config_template(struct buffer *out);

#endif
