/* Statistics of the isolated engine: a case's time, its uncertainty, and when to stop measuring.
 *
 * Both judges use these functions: judge.cu links native.o, judge.py calls native.so
 * (podium_statistics.py). docs/judge.md explains the method and the reasons for it.
 *
 * Functions keep nothing between calls and free their scratch memory. Arrays stay the caller's.
 * Times are ns and positive. `share` in a name means a fraction of a time. If memory runs out, the
 * process aborts. There are no other errors; an estimate of no values is NAN. */
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

/* The smallest value. On the CPU device, the constant (isolated_constant) is the smallest time of
 * the null contestant. Other load makes calls only longer, so a larger constant could make the
 * reported time too small. */
double isolated_least(struct isolated_values values);
/* The tenth percentile, interpolated between two values. On the CPU device it is the time of a
 * block: other load makes most calls longer, and the smallest value depends too much on luck. */
double isolated_tenth(struct isolated_values values);
double isolated_median(struct isolated_values values);
/* The median of the means of all pairs, including each value with itself: the estimator of Hodges
 * and Lehmann (Annals of Mathematical Statistics 34, 1963). Under normal noise its variance is two
 * thirds of the median's, under uniform noise a third. Up to a quarter of the values may be
 * arbitrary without moving it far. */
double isolated_center(struct isolated_values values);
/* The standard deviation of the sample; 0 for a single value. */
double isolated_deviation(struct isolated_values values);
/* The standard error of the center, from the center of the values' distances from it. So a quarter
 * of the values cannot move it far either. 0 for a single value. */
double isolated_standard_error(struct isolated_values values);
/* The t with P(|T| <= t) = level for Student's t with `freedom` degrees of freedom, at least 1:
 * Abramowitz and Stegun, 26.7.3 and 26.7.4, inverted by bisection. */
double isolated_t_quantile(double level, size_t freedom);
/* Half of the confidence interval of the center; INFINITY for a single value. In simulations with
 * normal noise, the 95 % interval contains the truth in 93 to 96 % of cases. */
double isolated_half_width(struct isolated_values values, double level);

/* ---- how to measure ---- */

enum {
	isolated_most_looks = 12,
	isolated_most_repeats = 6,    /* repeated blocks at first; see isolated_may_repeat */
	isolated_most_attempts = 3,   /* at a case */
	isolated_most_late = 20,      /* calls of a case for which the submission got ready late */
	isolated_most_samples = 4000, /* reported per case */
	isolated_least_calls = 3,     /* in a block */
	isolated_least_blocks = 4,    /* in a case; fewer show no interval and are not ranked */
};

/* The looks: the numbers of blocks, in ascending order, after which the judge checks whether a case
 * may end. */
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
	double enough_s;     /* after this time a case ends with any interval, once it reaches its first
	                        look */
	double most_s;       /* after this time a case ends once it has isolated_least_blocks */
	double most_pairs_s; /* the longest time for a comparison's pairs of blocks, however few */
	size_t least_warm_calls, most_warm_calls; /* calls that are verified but do not count */
	double warm_s; /* between these limits, as many warm calls as fit into this time */

	/* the order of the judge's work */
	/* How many blocks of empty kernels the judge measures before a submission is loaded. Between
	 * the limits it stops once their standard error is at most calibration_ns. */
	size_t least_calibrations, most_calibrations;
	double calibration_ns;
	double open_before_ns; /* from the opening of the gate to the usual end of an empty kernel */
	double wait_ns;        /* the longest wait after a call of the null contestant */

	/* corrections */
	double empty_ns;                  /* how long the empty kernel runs; the constant excludes it */
	double process_ns, process_share; /* standard deviation of what each process adds to a time */

	/* noise: only larger differences count; INFINITY: differences never count */
	double overrun_ns, overrun_share;             /* of the judge's own work */
	double probe_ns;                              /* of the probes of an output */
	double ready_ns;                              /* from the announcement to "ready" */
	double disturbance_ns, steady_disturbance_ns; /* of null calls: in a block; in all of a case */
	double moved_ns, moved_share;                 /* of the constant, between halves of a block */
	/* The most that half of a case's interval may be, without the process error: half_ns plus
	 * half_share of the time. */
	double half_ns, half_share;

	isolated_estimate *null_estimate;  /* turns the null contestant's calls into the constant */
	isolated_estimate *block_estimate; /* turns the charges of a block's calls into its value */
};

extern const struct isolated_rule isolated_cuda_rule;
/* The rule for a case in which making an input, the calls with it and checking the output take
 * `call_s`. From 25 ms on, the case gets fewer calls, because long calls vary little. */
struct isolated_rule isolated_rule_for(const struct isolated_rule *rule, double call_s);
/* The rule for the CPU device, which is for trying things out: a case ends within a second, because
 * podium-run runs a timed stage several times (worker/run/engine/repetition.c). The judge does not
 * notice work that continues after a call, because that runs on another core. */
extern const struct isolated_rule isolated_cpu_rule;

/* ---- blocks ---- */

/* The times of one call. They occur in the order head, elapsed, probed, touch, take, rest. */
struct isolated_timing {
	double elapsed_ns; /* from the end of the head to "done" */
	double touch_ns;   /* the smallest kernel of the judge, after the probes */
	double take_ns;    /* the judge's copy of the output, after the touch */
	double head_ns;    /* the judge's own work on the GPU before the call */
	double rest_ns;    /* after the copy, until no other process used the GPU */
	double probed_ns;  /* the probes of the output, after "done" */
	bool is_after;     /* of the null contestant: the submission had the same input before it */
};

struct isolated_timings {
	const struct isolated_timing *at;
	size_t count;
};

/* The center of a figure's values, and the center of their distances from that center. */
struct isolated_usual {
	double center_ns, spread_ns;
};

/* What the null contestant's calls took before a submission was loaded. No submission can change
 * these figures, so the judge uses them to limit later ones. `call_ns` NAN: unknown. */
struct isolated_quiet {
	double empty_ns;  /* an empty kernel without data */
	double call_ns;   /* a call with an input of the case and no output */
	double copy_ns;   /* at most, for the null contestant to copy the outputs of a call */
	double take_ns;   /* at most, for the judge to copy the outputs of a call */
	double probed_ns; /* as many probes as a call may have; 0: unknown */
	struct isolated_usual head, touch, rest;
};

/* Computes all but empty_ns, copy_ns, take_ns and probed_ns. Needs at least one call. */
struct isolated_quiet isolated_quiet_of(struct isolated_timings null);

/* Consecutive calls of one case. */
struct isolated_block {
	struct isolated_timings calls, null; /* the submission's; the null contestant's among them */
	/* head_ns of the calls that came next after the calls in `calls`, and after those in `null` */
	struct isolated_values heads, null_heads;
	struct isolated_values bells;    /* calls without work */
	struct isolated_values controls; /* the null contestant's empty kernels */
	struct isolated_quiet quiet;
	/* How much longer an empty kernel takes in this process than in the null contestant's. */
	double delta_ns;
};

struct isolated_blocks {
	const struct isolated_block *at;
	size_t count;
};

/* Limits for each block of a case, from the null contestant's best block in that case. A submission
 * that disturbs the null contestant only sometimes has probably not disturbed that block. */
struct isolated_limits {
	double constant_ns; /* the most that a block may subtract */
	/* The most that the judge accepts as the null contestant's figure for the judge's own work. The
	 * submission is charged for what its own calls take beyond this figure and noise. */
	double head_ns, take_ns, probed_ns;
};

struct isolated_limits isolated_limits_of(
	struct isolated_blocks blocks, const struct isolated_rule *rule);

/* The constant of a block: what the judge subtracts from each call. */
double isolated_constant(const struct isolated_block *block, const struct isolated_rule *rule,
	const struct isolated_limits *limits);
/* A quarter of half_share of the calls' time. Smaller errors are not worth another measurement. */
double isolated_negligible(struct isolated_blocks blocks, const struct isolated_rule *rule);
/* By how much the submission delays the null contestant's calls; 0 within noise. */
double isolated_disturbance(const struct isolated_block *block, const struct isolated_rule *rule);
/* How much longer the null contestant takes after the submission's call with the same input than
 * before it; 0 if there are too few calls to tell. */
double isolated_order_over(const struct isolated_block *block);
/* Whether the constant differs between the halves of the block. */
bool isolated_constant_moved(const struct isolated_block *block, const struct isolated_rule *rule);
/* Whether center and median differ by more than noise, for the block's calls or for the null
 * contestant's. If they do, the calls probably fall into two groups, and the block says little. */
bool isolated_is_uneven(const struct isolated_block *block, const struct isolated_rule *rule);
/* How much the judge's own work before and after a call, and the probes, took longer for the
 * submission than for the null contestant, per call; 0 within noise. */
double isolated_overrun(const struct isolated_block *block, const struct isolated_rule *rule,
	const struct isolated_limits *limits);
/* Writes the charge of each call, its time without the constant and with the overrun, into
 * `samples`, which has room for block->calls.count. */
void isolated_samples(const struct isolated_block *block, const struct isolated_rule *rule,
	const struct isolated_limits *limits, double *samples);

/* ---- the calibration ---- */

/* Whether blocks of empty kernels with these values show the difference of two processes well
 * enough. A block varies by 0.2 to 0.3 us on an H200, so most jobs need 16 to 36 blocks. */
bool isolated_is_calibrated(struct isolated_values deltas, const struct isolated_rule *rule);

/* ---- a case ---- */

/* Writes the value of each block, the estimate of its calls' charges, into `values`, which has room
 * for blocks.count. */
void isolated_values_of(
	struct isolated_blocks blocks, const struct isolated_rule *rule, double *values);
/* Whether the judge checks after this number of blocks whether the case may end. It does not check
 * after each block, because a check takes time. */
bool isolated_is_look(const struct isolated_looks *looks, size_t blocks);
/* Whether a case may end after blocks with these values. At all looks but the last, half of the
 * 99 % interval must be at most 1 %, or 0.4 us below 40 us: each look is another chance to stop too
 * early, hence 99 %. At the last look half of the 95 % interval must be within the rule's limit. If
 * it is not, the case gets as many blocks again. */
bool isolated_is_enough(struct isolated_values values, const struct isolated_rule *rule);
/* Whether one more disturbed block may be measured again instead of counting. `repeated`: how many
 * already were; `blocks`: how many count. The limit grows with `blocks`, because a machine disturbs
 * a share of all blocks. */
bool isolated_may_repeat(size_t repeated, size_t blocks);
/* Whether over a quarter of a case's blocks were disturbed, so that another attempt is worth its
 * time. */
bool isolated_are_spoiled(size_t disturbed, size_t blocks);
/* Whether a case may end with any interval, because its blocks took enough_s and reach the first
 * look. */
bool isolated_is_long_enough(size_t blocks, double took_s, const struct isolated_rule *rule);
/* The disturbance that only all blocks together show, because one block has too few calls; 0 within
 * noise. */
double isolated_steady_disturbance(struct isolated_blocks blocks, const struct isolated_rule *rule);
/* Whether the probes were late in most blocks. Then the submission probably says "done" too early
 * and keeps the copy engine busy until its output is complete. */
bool isolated_delays_probes(struct isolated_blocks blocks, const struct isolated_rule *rule);

/* The figures of a case. best_ns and worst_ns are values of blocks; `runs` counts the calls. */
struct isolated_summary {
	/* The time of the case: the center of the blocks' values, plus surcharge_ns. */
	double mean_ns;
	/* 1.96 * err_ns is half of the 95 % interval of mean_ns, by Student's t and with the process
	 * error. low_ns, at least 1, and high_ns are its ends. NAN: fewer than isolated_least_blocks.
	 */
	double err_ns, low_ns, high_ns;
	double best_ns, worst_ns;
	double median_ns, std_ns; /* of the charges of all calls */
	double constant_ns;       /* the median of the blocks' constants */
	/* Centers of the blocks' figures. disturbance_ns also has the steady disturbance. */
	double overrun_ns, disturbance_ns;
	double surcharge_ns; /* the part of mean_ns that noise adds; 0: the interval is within limits */
	double own_ns;       /* the median of what the submission measured itself; NAN: nothing */
	size_t runs, blocks;
};

/* `own`: what the submission measured itself. Writes the charge of each call into `samples`, which
 * has room for the calls of all blocks. Needs at least one block. */
struct isolated_summary isolated_summarize(struct isolated_blocks blocks,
	struct isolated_values own, const struct isolated_rule *rule, double *samples);

/* Keeps at most `most` of `count` samples, evenly spread and in order; returns how many. */
size_t isolated_thin(double *samples, size_t count, size_t most);

/* ---- comparisons ---- */

/* How much longer the submission takes than its rival. */
struct isolated_comparison {
	double ratio, low, high; /* of the times, with its 95 % interval */
	double err;              /* standard error of the ratio's logarithm */
	double rival_ns;
	bool is_apart; /* each submission was measured alone, not in turns */
};

/* Compares pairs of blocks with the same inputs, as many of ours as of theirs. */
struct isolated_comparison isolated_in_turns(
	struct isolated_values ours, struct isolated_values theirs, const struct isolated_rule *rule);
/* Compares blocks that were measured separately; the sides may differ in number. If a side's
 * interval is wider than the rule allows, half of its width is added to that side's time, as in
 * isolated_summarize. */
struct isolated_comparison isolated_apart(
	struct isolated_values ours, struct isolated_values theirs, const struct isolated_rule *rule);
/* Chooses the comparison that counts. In turns, drift affects both submissions alike, but one can
 * slow the other down. Alone, it cannot. If the intervals of both comparisons overlap, the ratio
 * nearer to 1 counts, and its interval covers both. If they do not, or if the comparison in turns
 * is the noisier one, somebody may have disturbed the turns. Then the comparison `apart` counts,
 * with an allowance of 1 % for drift in its interval. */
struct isolated_comparison isolated_compared(
	struct isolated_comparison in_turns, struct isolated_comparison apart);
/* Whether the intervals overlap. */
bool isolated_agree(struct isolated_comparison one, struct isolated_comparison other);
/* Whether a comparison may end after these pairs of blocks. At a look (struct isolated_looks) it
 * may if one submission is faster with 99 % confidence, or if half of the ratio's 99 % interval is
 * at most 0.25 %. At the last look it ends. */
bool isolated_is_decided(
	struct isolated_values ours, struct isolated_values theirs, const struct isolated_rule *rule);

#ifdef __cplusplus
}
#endif

#endif
