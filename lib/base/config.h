/* The settings of all programs, from one file of `key = value` lines and from the environment.
 *
 * The environment overrides the file: PODIUM_DATABASE_SOCKET sets the key `database_socket`.
 * PODIUM_CONFIG names the file; when it is empty, no file is read. When it is unset,
 * /etc/podium/podium.conf is read if it exists and this user may read it.
 *
 * lib/base/config.c has the table of keys with defaults and explanations. An unknown key is an
 * error that names the line. A password in a file that everybody may read is an error too. */
#ifndef PODIUM_LIB_BASE_CONFIG_H
#define PODIUM_LIB_BASE_CONFIG_H

#include "lib/base/buffer.h"
#include "lib/base/error.h"
#include "lib/base/provider_settings.h"
#include "lib/base/slurm_options.h"

#include <stdbool.h>
#include <stdint.h>

struct config {
	char database_socket[108]; /* path; empty: TCP to database_host */
	char database_host[256];   /* one host, or a cluster's nodes separated by commas */
	int64_t database_port;
	char database_name[64];
	char database_user[80];
	char database_password[256];
	int64_t database_timeout_s; /* limit for one answer; 0: no limit */
	char database_tls[16]; /* "verify", "unverified", "off"; empty: see lib/database/database.h */
	char database_tls_ca[256]; /* certificates of the authorities that sign the database's
	                              certificate */
	/* the client's certificate and key, if the database requires them; empty: none */
	char database_tls_cert[256], database_tls_key[256];
	char fastcgi_socket[108]; /* path that podium-web listens on */
	int64_t web_threads;
	int64_t request_timeout_s, request_memory_mib;
	int64_t streams_at_once; /* terminals that wait on an open connection; 0: none may */
	/* folder with problem sets, for popcorn-cli's admin commands; empty: none */
	char problems[256];
	/* 1: leaderboards created after their deadline accept unranked practice submissions */
	int64_t problems_practice;
	char public_url[256]; /* address for browsers, without a slash at the end */
	/* submissions of one user to one leaderboard within quota_hours; 0: no limit */
	int64_t quota_test, quota_benchmark, quota_ranked, quota_profile;
	int64_t quota_hours;
	int64_t queued_jobs_per_user; /* 0: no limit */
	int64_t password_hashes_at_once;
	int64_t passwords;              /* 0: people log in with providers only */
	char second_factor[12];         /* "optional", "admins": who must have one */
	char registration[12];          /* "open", "invitation", "domain", "closed" */
	char registration_domains[512]; /* for "domain" */
	struct provider_settings providers[providers_most];
	size_t provider_count;
	int64_t provider_timeout_ms, provider_requests_at_once;
	int64_t api_requests_per_minute; /* per token, or per address without one; 0: no limit */
	char worker_name[64];            /* default: the host's name */
	/* path of podium-run; default: next to this program, else on the PATH */
	char worker_runner[256];
	char worker_directory[256]; /* jobs are unpacked here */
	/* folder of fetched files; empty: one in worker_directory for this user */
	char worker_cache[256];
	int64_t worker_cache_mib; /* size limit of worker_cache; 0: keep nothing */
	/* walls of the sandbox that may be missing (lib/base/required_walls.h) */
	char accept_missing_walls[64];
	char device_locks[256]; /* folder of device lock files; empty: /run/lock, else /tmp */
	int64_t worker_cpu;     /* 1: always offer the CPU as a device; 0: only without a GPU */
	int64_t lease_ms;
	/* time for running jobs to finish after the worker is asked to stop; 0: requeue them
	 * immediately */
	int64_t worker_drain_s;
	int64_t poll_ms;  /* interval at which an idle worker looks for jobs */
	char python[256]; /* interpreter of Python tasks; empty: the first that can import torch */
	char nvcc[256];   /* empty: nvcc on the PATH, then /usr/local/cuda/bin/nvcc */
	char launcher[8]; /* "local": this machine's devices; "slurm": a cluster's */
	/* srun's options for all GPU models */
	struct slurm_options slurm_options;
	/* srun's options for one model each: `slurm.H200 = ...` in the file */
	struct slurm_options slurm_models[slurm_most_models];
	size_t slurm_model_count;
	int64_t slurm_jobs;      /* most concurrent jobs of a model without jobs=N in its options */
	int64_t slurm_idle_s;    /* how long an idle GPU is kept */
	int64_t webhook_senders; /* concurrent deliveries of podium-hooks; 0: it sends none */
	/* hosts and networks that webhooks may reach besides the internet (lib/base/network.h) */
	char webhook_allowed[512];
	int64_t webhook_timeout_ms; /* limit for a receiver's answer */
	int64_t webhook_retry_ms;   /* delay after the first failure; each further failure doubles it */
	int64_t webhook_most_s;     /* a delivery older than this is given up */
	/* the server that takes e-mails: smtp://HOST[:PORT] or smtps://HOST[:PORT]; empty: the site
	 * sends none (lib/mail/smtp.h) */
	char mail_server[256];
	char mail_sender[256]; /* the address that they come from */
	/* the login on that server; empty: none. The password is here or in a file, whose path without
	 * a slash names a systemd credential. */
	char mail_user[256], mail_password[256], mail_password_file[256];
	char mail_tls[16];       /* "required" or "off" */
	char mail_tls_ca[256];   /* certificates that sign the server's; empty: the system's */
	int64_t mail_timeout_ms; /* limit for sending one e-mail */
	/* days after which data of each kind is deleted; 0: never */
	int64_t retain_samples_days, retain_logs_days, retain_artifacts_days, retain_deliveries_days,
		retain_audit_days;
	char log_format[16]; /* auto, text, logfmt, json (lib/base/log.h) */
};

/* Fills `config` from the defaults, the file and the environment, in that order. */
int config_load(struct config *config, struct error *error);

extern const char config_default_file[];

/* The path of the file that config_load reads; "": none. */
const char *config_file(void);

/* Returns whether the default file exists but this user may not read it. The loaded settings
 * then differ from the site's. */
bool config_is_withheld(void);

/* Each appends the table of keys: as text for --help, as the manual page podium.conf(5), or as a
 * file with every key commented out. */
void config_describe(struct buffer *out);
void config_manual(struct buffer *out);
void config_template(struct buffer *out);

#endif
