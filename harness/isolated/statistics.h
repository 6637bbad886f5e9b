/* Statistics of the isolated engine: a case's time, its uncertainty, and when to stop measuring.
 *
 * Both judges use these functions: judge.cu links native.o, judge.py calls native.so
 * (podium_statistics.py). docs/judge.md explains the method and the reasons for it.
 *
 * Functions are pure: they read what they are given and keep nothing. Arrays stay the caller's.
 * Times are ns and positive. `share` in a name means a fraction of a time. Functions free their
 * scratch memory before they return. If memory runs out, the process aborts. There are no other
 * errors; an estimate of no values is NAN. */
#ifndef PODIUM_ISOLATED_STATISTICS_H
#define PODIUM_ISOLATED_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- estimates ---- */

struct isolated_values {
	const double *at;
	size_t count;
};

typedef double isolated_estimate(struct isolated_values values);

double isolated_mean(struct isolated_values values);
/* The smallest value. Other load makes a call longer, never shorter. The judge subtracts the
 * constant; if the constant is too large, the reported time is too small. */
double isolated_least(struct isolated_values values);
double isolated_median(struct isolated_values values);
/* The median of the means of all pairs, a value with itself included: the estimator of Hodges and
 * Lehmann (Annals of Mathematical Statistics 34, 1963). Under normal noise its variance is two
 * thirds of the median's, under uniform noise a third. A quarter of the values may be arbitrary. */
double isolated_center(struct isolated_values values);
/* The standard deviation of the sample; 0 for a single value. */
double isolated_deviation(struct isolated_values values);
/* The standard error of the mean. */
double isolated_standard_error(struct isolated_values values);
/* The t with P(|T| <= t) = level for Student's t with `freedom` degrees of freedom, at least 1:
 * Abramowitz and Stegun, 26.7.3 and 26.7.4, inverted by bisection. */
double isolated_t_quantile(double level, size_t freedom);
/* Half of the confidence interval of the mean; INFINITY for a single value. */
double isolated_half_width(struct isolated_values values, double level);

/* ---- how to measure ---- */

enum {
	isolated_most_looks = 12,
	isolated_most_repeats = 6,    /* of a case's first blocks; see isolated_may_repeat */
	isolated_most_attempts = 3,   /* at a case */
	isolated_most_late = 20,      /* calls for which the submission was late to get ready */
	isolated_most_samples = 4000, /* reported per case */
	isolated_least_calls = 3,     /* in a block */
	isolated_least_blocks = 4,    /* with fewer, the page says so */
};

/* After how many blocks a case may end, in ascending order. */
struct isolated_looks {
	size_t count, blocks[isolated_most_looks];
};

/* How a case is measured on one kind of device. */
struct isolated_rule {
	/* a block */
	size_t calls;
	size_t bells;    /* calls without work, which show what the doorbell alone costs */
	size_t controls; /* the null contestant's empty kernels, at random places among the calls */

	/* a case */
	struct isolated_looks looks, pair_looks; /* of its blocks; of pairs of blocks in a comparison */
	double enough_s; /* for its blocks; after that the fewest suffice, however wide the interval */
	double most_s;   /* for its blocks */
	size_t least_warm_calls, most_warm_calls; /* calls that are verified but do not count */
	double warm_s; /* within these limits, as many as fit into this time */

	/* the order of the judge's work */
	size_t calibrations;   /* blocks of empty kernels before a submission is loaded */
	double open_before_ns; /* the gate opens so long before a call usually ends */
	double wait_ns;        /* the longest wait after a call of the null contestant */

	/* corrections */
	double empty_ns; /* what the empty kernel itself takes: no part of the constant */
	double process_ns, process_share; /* standard deviation of what each process adds to a time */

	/* noise, beyond which a difference counts; INFINITY: ignored */
	double overrun_ns, overrun_share;             /* of the judge's own work */
	double probe_ns;                              /* of the probes of an output */
	double ready_ns;                              /* from the announcement to "ready" */
	double disturbance_ns, steady_disturbance_ns; /* of empty kernels: in a block; in all of them */
	double moved_ns, moved_share;                 /* of the constant, between halves of a block */
	/* Their sum limits half of a case's interval, without the processes' part. */
	double half_ns, half_share;

	isolated_estimate *null_estimate;  /* from the null contestant's calls to the constant */
	isolated_estimate *block_estimate; /* from what the calls are charged to their block's value */
};

extern const struct isolated_rule isolated_cuda_rule;
/* The rule for a case in which a call takes `call_s` together with making its input and checking
 * its output. If that is long, the case gets fewer calls: a long call varies little. */
struct isolated_rule isolated_rule_for(const struct isolated_rule *rule, double call_s);
/* The rule for the CPU, which is for trying things out: a case ends within seconds. Work that
 * continues after a call goes unseen, because it runs on another core. */
extern const struct isolated_rule isolated_cpu_rule;

/* ---- blocks ---- */

/* One call. Each time but the last two starts where the one before ends. */
struct isolated_timing {
	double elapsed_ns; /* from the end of the judge's own work to "done" */
	double touch_ns;   /* until the GPU had done the least that the judge can ask for */
	double take_ns;    /* until the output was copied */
	double head_ns;    /* the judge's own work on the GPU before the call */
	double rest_ns;    /* after the copy, until no other process wanted the GPU */
	double probed_ns;  /* of the time before touch_ns: how long the probes of the output took */
	bool is_after;     /* of the null contestant: called after the submission, with its input */
};

struct isolated_timings {
	const struct isolated_timing *at;
	size_t count;
};

/* Usual values of a figure: their center, and the center of their distances from it. */
struct isolated_usual {
	double center_ns, spread_ns;
};

/* What the null contestant's calls take while no submission is loaded. No submission can change
 * these figures, so they bound what one may change later. `call_ns` NAN: unknown. */
struct isolated_quiet {
	double empty_ns;  /* an empty kernel without data */
	double call_ns;   /* a call with an input of the case and no output */
	double copy_ns;   /* at most, for the null contestant to copy the outputs of a call */
	double take_ns;   /* at most, for the judge to copy the outputs; INFINITY: unknown, both */
	double probed_ns; /* as many probes as a call may have; 0: unknown */
	struct isolated_usual head, touch, rest;
};

/* Computes all but empty_ns, copy_ns, take_ns and probed_ns. Needs at least one call. */
struct isolated_quiet isolated_quiet_of(struct isolated_timings null);

/* Consecutive calls of one case. */
struct isolated_block {
	struct isolated_timings calls, null; /* the submission's; the null contestant's among them */
	struct isolated_values heads, null_heads; /* the judge's own work after each of these calls */
	struct isolated_values bells;             /* calls without work */
	struct isolated_values controls;          /* the null contestant's empty kernels */
	struct isolated_quiet quiet;
	/* How much longer a call takes in this process than in the null contestant's. */
	double delta_ns;
};

struct isolated_blocks {
	const struct isolated_block *at;
	size_t count;
};

/* Limits for each block of a case, from the best block of the null contestant: a submission that
 * disturbs others by chance has missed that block. */
struct isolated_limits {
	double constant_ns; /* the most that a block may subtract */
	/* The most that the judge's own work may take for the null contestant. If it takes longer for
	 * the submission, the difference counts. */
	double head_ns, take_ns, probed_ns;
};

struct isolated_limits isolated_limits_of(
	struct isolated_blocks blocks, const struct isolated_rule *rule);

/* What is subtracted from each call. */
double isolated_constant(const struct isolated_block *block, const struct isolated_rule *rule,
	const struct isolated_limits *limits);
/* How far off a figure may be that is still not worth measuring again: little beside the calls'
 * time. */
double isolated_negligible(struct isolated_blocks blocks, const struct isolated_rule *rule);
/* By how much the submission delays the null contestant's calls; 0 within noise. */
double isolated_disturbance(const struct isolated_block *block, const struct isolated_rule *rule);
/* By how much the null contestant takes longer after a call of the submission than before one; 0
 * where there are too few calls to tell. */
double isolated_order_over(const struct isolated_block *block);
/* Whether the constant differs between the halves of the block. */
bool isolated_constant_moved(const struct isolated_block *block, const struct isolated_rule *rule);
/* Whether center and median of the block's calls, or of the null contestant's, differ by more than
 * noise: then some calls took another time than the others, and the block says little. */
bool isolated_is_uneven(const struct isolated_block *block, const struct isolated_rule *rule);
/* How long the submission kept the GPU busy before and after its calls, per call, and delayed the
 * probes; 0 within noise. */
double isolated_overrun(const struct isolated_block *block, const struct isolated_rule *rule,
	const struct isolated_limits *limits);
/* Writes what each call is charged into `samples`, which has room for block->calls.count. */
void isolated_samples(const struct isolated_block *block, const struct isolated_rule *rule,
	const struct isolated_limits *limits, double *samples);

/* ---- a case ---- */

/* Writes what each block is charged into `values`, which has room for blocks.count. */
void isolated_values_of(
	struct isolated_blocks blocks, const struct isolated_rule *rule, double *values);
/* Whether to look after so many blocks: computing the values takes time. */
bool isolated_is_look(const struct isolated_looks *looks, size_t blocks);
/* Whether a case may end after blocks with these values. At an early look the mean must be known to
 * 1 %, below 40 us to 0.4 us, with 99 % confidence, because looking often is a way to be lucky. At
 * the last look half of the interval must be within the rule's limit. Otherwise the case gets as
 * many blocks again. */
bool isolated_is_enough(struct isolated_values values, const struct isolated_rule *rule);
/* Whether one more of the case's blocks may be measured again instead of counting, after `repeated`
 * of them were: a machine disturbs a share of all blocks, so the number grows with theirs. */
bool isolated_may_repeat(size_t repeated, size_t blocks);
/* Whether so many of a case's blocks were disturbed that another attempt is worth its time. */
bool isolated_are_spoiled(size_t disturbed, size_t blocks);
/* Whether a case may end because it has taken so long: more blocks would hardly help. */
bool isolated_is_long_enough(size_t blocks, double took_s, const struct isolated_rule *rule);
/* The disturbance that all blocks together show, and one block is too short to show; 0 within
 * noise. */
double isolated_steady_disturbance(struct isolated_blocks blocks, const struct isolated_rule *rule);
/* Whether the probes came late in most blocks: the submission says "done" too early and keeps the
 * copy engine busy until its output is complete. */
bool isolated_delays_probes(struct isolated_blocks blocks, const struct isolated_rule *rule);

/* The figures of a case, over its blocks where nothing else is said. */
struct isolated_summary {
	double mean_ns, err_ns; /* the time of the case and its standard error */
	double low_ns, high_ns; /* its 95 % interval */
	double best_ns, worst_ns;
	double median_ns, std_ns;          /* of what all calls are charged */
	double constant_ns;                /* the median */
	double overrun_ns, disturbance_ns; /* means; the second with the steady disturbance */
	double surcharge_ns; /* in mean_ns because the interval is too wide; 0: it is not */
	double own_ns;       /* the median of what the submission measured; NAN: nothing */
	size_t runs, blocks;
};

/* `own`: what the submission measured itself. What each call is charged goes into `samples`, which
 * has room for the calls of all blocks, of which there is at least one. */
struct isolated_summary isolated_summarize(struct isolated_blocks blocks,
	struct isolated_values own, const struct isolated_rule *rule, double *samples);

/* Keeps at most `most` of `count` samples, evenly spread and in order; returns how many. */
size_t isolated_thin(double *samples, size_t count, size_t most);

/* ---- comparisons ---- */

/* How much longer the entry takes than the rival. */
struct isolated_comparison {
	double ratio, low, high; /* of the times, with its 95 % interval */
	double err;              /* standard error of the ratio's logarithm */
	double rival_ns;
	bool is_apart; /* each was measured by itself */
};

/* Compares pairs of blocks with the same inputs, as many of ours as of theirs. */
struct isolated_comparison isolated_in_turns(
	struct isolated_values ours, struct isolated_values theirs, const struct isolated_rule *rule);
/* Compares blocks that were measured separately; the sides may differ in number. If a side's
 * interval is wider than the rule allows, half of its width is added to that side's time, as in
 * isolated_summarize. */
struct isolated_comparison isolated_apart(
	struct isolated_values ours, struct isolated_values theirs, const struct isolated_rule *rule);
/* Chooses the comparison that counts. In turns, drift affects both submissions alike, but each can
 * slow the other down; separately it cannot. If both agree, the ratio nearer to 1 counts, and the
 * interval covers both. If they disagree, or the turns are the noisier ones, somebody may have
 * disturbed the turns: then the separate ratio counts, with an allowance for drift. */
struct isolated_comparison isolated_compared(
	struct isolated_comparison in_turns, struct isolated_comparison apart);
/* Whether the intervals overlap. */
bool isolated_agree(struct isolated_comparison one, struct isolated_comparison other);
/* Whether a comparison may end after these pairs of blocks: one is faster for sure, or they are
 * equal within 0.25 %. */
bool isolated_is_decided(
	struct isolated_values ours, struct isolated_values theirs, const struct isolated_rule *rule);

#ifdef __cplusplus
}
#endif

#endif
