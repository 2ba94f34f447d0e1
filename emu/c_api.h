/* The C ABI: what other languages load. Texts that it returns are owned by the caller and freed with
 * palladion_free_string. Programs and reports are immutable: one may be used on many threads at once.
 * Arrays are dense, row-major, one storage element each; dtype is a name of kernel text ("bf16"). PRNG keys are u32
 * words with a last dimension of their own. `data` may be NULL only where a dimension is 0. An output's memory must not
 * overlap an input's, unless the kernel aliases the two and they are the same memory. */
#ifndef PALLADION_EMU_C_API_H_
#define PALLADION_EMU_C_API_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PALLADION_API __attribute__((visibility("default")))

typedef struct palladion_program palladion_program;

typedef struct palladion_array {
  void* data;
  const int64_t* shape;
  int rank;
  const char* dtype;
} palladion_array;

/* Why something failed, or what was found: the exit codes of the command. */
typedef enum palladion_code {
  PALLADION_CLEAN = 0,
  PALLADION_DEFECT = 1,         /* found in the kernel */
  PALLADION_OUTPUTS_DIFFER = 2, /* between schedules */
  PALLADION_UNSUPPORTED = 3,    /* Palladion does not have it */
  PALLADION_MALFORMED = 4,      /* a text, an array or an option is wrong */
  PALLADION_INTERNAL = 5,       /* a mistake of Palladion's */
  PALLADION_BUDGET = 6          /* a budget or a limit is spent, or it was interrupted */
} palladion_code;

/* Filled where a function fails, whose result says that it did; untouched where it does not. `error` may be NULL in any
 * call: the error is not wanted. */
typedef struct palladion_error {
  palladion_code code;
  int interrupted;   /* by a signal or the caller */
  int out_of_memory; /* of this host: another one may have more */
  char* message;     /* for people, printable; palladion_free_string */
} palladion_error;

/* What a run or a check found; palladion_free_report. */
typedef struct palladion_report palladion_report;

/* NULL on an error. `kernel` may be NULL where the text has one; `target` may be NULL for what the kernel says. */
PALLADION_API palladion_program* palladion_prepare(const char* text, size_t size, const char* kernel,
                                                   const char* target, palladion_error* error);

/* The same of several launches in a row, in which a device may be ahead of the others (emu/session.h): for checks. */
PALLADION_API palladion_program* palladion_prepare_launches(const char* text, size_t size, const char* kernel,
                                                            const char* target, int64_t launches,
                                                            palladion_error* error);

/* What the target refuses of a kernel that cannot be prepared, which is said whether or not it runs here. NULL where it
 * refuses nothing of it, where the kernel can be prepared, and on an error. */
PALLADION_API palladion_report* palladion_refusal(const char* text, size_t size, const char* kernel, const char* target,
                                                  palladion_error* error);

/* Runs the kernel. The result is the code of its report, which goes to *report (NULL: not wanted), or of the error;
 * then *report is NULL. A run that was cut short has a report, too. */
PALLADION_API palladion_code palladion_run(const palladion_program* program, const palladion_array* inputs,
                                           size_t n_inputs, palladion_array* outputs, size_t n_outputs,
                                           palladion_report** report, palladion_error* error);

/* The same with options: texts "name=value", "budget=1000", with NULL behind the last; NULL: none. Names and values are
 * the rows of emu/front/options/check_options.cc that a run has: budget, legality, bounds, and replay, which runs that
 * schedule; with it fill, proxy and links. */
PALLADION_API palladion_code palladion_run_with(const palladion_program* program, const palladion_array* inputs,
                                                size_t n_inputs, palladion_array* outputs, size_t n_outputs,
                                                const char* const* options, palladion_report** report,
                                                palladion_error* error);

/* Runs the kernel under the orders that hardware may choose. Options are as for palladion_run_with, of all rows of the
 * table; `parts` is a JSON list of what palladion_check_seeds gave for seeds of this check. The result, the report and
 * the error are those of palladion_run. The outputs are those of the first schedule, or of the replayed one; n_outputs
 * may be 0 where they are not wanted. */
PALLADION_API palladion_code palladion_check(const palladion_program* program, const palladion_array* inputs,
                                             size_t n_inputs, palladion_array* outputs, size_t n_outputs,
                                             const char* const* options, palladion_report** report,
                                             palladion_error* error);

/* Some seeds of a check, first .. last - 1, 1 or more, for the `parts` of another call with these options, on any
 * machine: docs/guides/sweeps.md. As JSON; NULL on an error. */
PALLADION_API char* palladion_check_seeds(const palladion_program* program, const palladion_array* inputs,
                                          size_t n_inputs, const char* const* options, int64_t first, int64_t last,
                                          palladion_error* error);

/* The report as JSON: docs/reference/report.schema.json. */
PALLADION_API char* palladion_report_json(const palladion_report* report);

/* A report that another process has written as JSON; NULL on an error. */
PALLADION_API palladion_report* palladion_report_read(const char* json, size_t size, palladion_error* error);

/* These findings of it alone, by their numbers from 0 in the JSON, and nothing else that it says. NULL on an error. */
PALLADION_API palladion_report* palladion_report_of_findings(const palladion_report* report, const size_t* numbers,
                                                             size_t n, palladion_error* error);

/* Reports as people read them, in the words and the shape of the command, for a reader who calls from Python. */
typedef enum palladion_form {
  PALLADION_FORM_TEXT = 0,     /* all of it */
  PALLADION_FORM_FINDINGS = 1, /* what is found alone */
  PALLADION_FORM_END = 2,      /* the rest: the verdict, and what it is worth */
  PALLADION_FORM_PARTS = 3     /* the parts as JSON (emu/front/reports/report_view.h), for another layout */
} palladion_form;

/* A report, and the calls that are like it. */
typedef struct palladion_rendered_call {
  const palladion_report* report;
  int64_t count;
  const char *replay_before, *replay_after; /* what a schedule is put between to see it again; NULL or "": it is bare */
} palladion_rendered_call;

/* A line of a file that is on no disk, as the cell of a notebook. */
typedef struct palladion_source_line {
  const char* file;
  int line;
  const char* text;
} palladion_source_line;

/* Texts may be NULL for "", and lists where there are none. */
typedef struct palladion_render_request {
  palladion_form form;
  const palladion_rendered_call* calls;
  size_t n_calls;
  int64_t dropped;            /* calls without a report */
  const char* difference;     /* of the results from a reference */
  const char* const* allowed; /* codes that this reader lets pass */
  size_t n_allowed;
  int color, details;
  const char *path, *text; /* of the kernel, where the reader has that and no Python */
  const palladion_source_line* lines;
  size_t n_lines;
} palladion_render_request;
PALLADION_API char* palladion_render(const palladion_render_request* request, palladion_error* error);

/* The calls of a test, for a log of several. */
typedef struct palladion_sarif_test {
  const char *name, *path;
  const char* const* allowed; /* codes that the test's marker lets pass */
  size_t n_allowed;
  const palladion_rendered_call* calls;
  size_t n_calls;
  int64_t dropped;
} palladion_sarif_test;

/* A SARIF log; files below `root` are named from there. */
PALLADION_API char* palladion_sarif(const palladion_sarif_test* tests, size_t n, const char* root,
                                    palladion_error* error);

/* The mutants of a kernel, as JSON: a list of objects with name, mutation, line, what, text, refused
 * (emu/tools/mutation/mutants.h). At most per_kind of each kind, 0: all. `kernel` as for palladion_prepare. NULL on an
 * error. */
PALLADION_API char* palladion_mutants(const char* text, size_t size, const char* kernel, size_t per_kind,
                                      palladion_error* error);

/* Runs and checks a kernel of which palladion.record wrote the inputs to a folder (in_NAME.npy), and writes a golden
 * bundle (emu/tools/golden/bundle.h). The result is the code of the error. */
PALLADION_API palladion_code palladion_golden(const char* text, size_t size, const char* target, const char* recorded,
                                              const char* directory, palladion_error* error);

/* Holds outputs against a bundle. `names` are those of the kernel's outputs. The result is the JSON of
 * docs/reference/compare.md, *text (NULL: not wanted) the report for people; NULL on an error. */
typedef struct palladion_compare_request {
  const char* directory; /* the bundle */
  const char* const* names;
  const palladion_array* outputs;
  size_t n_outputs;
  int signed_zero;    /* a zero of the other sign differs */
  int causes;         /* look for a likely cause */
  int64_t hypotheses; /* at most so many are run; 0: the default */
  const char* out;    /* where pictures, a page and rewritten kernels go; NULL or empty: nowhere */
} palladion_compare_request;
PALLADION_API char* palladion_compare(const palladion_compare_request* request, char** text, palladion_error* error);

/* Is the kernel still of interest? 1: yes; 0: no; -1: the reduction is to end with an error. */
typedef int (*palladion_keeps)(void* context, const char* text, const palladion_array* inputs, size_t n_inputs);

typedef struct palladion_reduce_request {
  const char* text;
  size_t size;
  const char* kernel;       /* as for palladion_prepare */
  const char* target;       /* as for palladion_prepare */
  const char* keep;         /* the finding that stays, as `palladion reduce --keep` has it; or NULL: */
  palladion_keeps keeps;    /* what says so */
  void* context;            /* of keeps */
  const char* const* check; /* options of the check that has the finding, as for palladion_check */
  int64_t candidates;       /* at most so many; 0: no limit */
  double seconds;           /* at most so long; 0: no limit */
} palladion_reduce_request;

/* A smaller kernel with smaller inputs (docs/guides/reduce.md), as JSON: text, ended ("smallest", "budget",
 * "interrupted"), tried, replay (of the finding), and inputs: a list of objects with name, words (as `--in` takes them,
 * or ""), dtype, shape, bytes (hex, row-major). NULL on an error; also where nothing is there to keep. */
PALLADION_API char* palladion_reduce(const palladion_reduce_request* request, const palladion_array* inputs,
                                     size_t n_inputs, palladion_error* error);

/* What happened when, on one SM or core (docs/guides/timeline.md). */
typedef struct palladion_timeline {
  int64_t unit;        /* which of them is wanted, from 0 */
  int64_t device;      /* of those that run the kernel together, from 0 */
  const char* compare; /* a page of another run, shown beside; NULL: none */
  char* page;          /* filled: a page of HTML; palladion_free_string */
  char* trace;         /* filled: Chrome trace events as JSON; palladion_free_string */
} palladion_timeline;

typedef struct palladion_time_request {
  const char* text;
  size_t size;
  const char* kernel;         /* as for palladion_prepare */
  const char* target;         /* as for palladion_prepare */
  const char* const* changes; /* of the chip's numbers, as `palladion time --set` has them */
  size_t n_changes;
  int64_t budget;               /* loop iterations of a program; 0: the default */
  palladion_timeline* timeline; /* filled where there is no error; NULL: not wanted */
  const char* replay;           /* the schedule of a timed run, which is to be this one; NULL: any */
} palladion_time_request;

/* How long the kernel takes on the chip of its target (docs/explanation/time.md), as JSON; *text (NULL: not wanted) is
 * the same for people. NULL on an error. */
PALLADION_API char* palladion_time(const palladion_time_request* request, const palladion_array* inputs,
                                   size_t n_inputs, char** text, palladion_error* error);

typedef struct palladion_draw_request {
  const char* text;
  size_t size;
  const char* kernel; /* as for palladion_prepare */
  const char* target; /* as for palladion_prepare */
  int64_t budget;     /* loop iterations of a program; 0: the default */
  int values;         /* the first elements of what each instruction computes */
  int check;          /* mark what a check of one schedule finds */
  const palladion_source_line* lines;
  size_t n_lines;
  const char* const* options; /* as for palladion_run_with: with `replay` that run is drawn; NULL: none */
} palladion_draw_request;

/* The grid, the operands, and what each program reads, computes and writes (docs/guides/trace.md), as JSON; *page
 * (NULL: not wanted) is a page of HTML that shows it. NULL on an error. */
PALLADION_API char* palladion_draw(const palladion_draw_request* request, const palladion_array* inputs,
                                   size_t n_inputs, char** page, palladion_error* error);

/* Texts may be NULL for "". */
typedef struct palladion_layout_request {
  const char* layout; /* "smem", "vmem", "tmem", or one of registers, as JAX prints it: "WGMMA" */
  const char* dtype;
  const int64_t* shape;
  int rank;
  const char* chip;    /* vmem: whose tiles */
  const int64_t* tile; /* smem, of the same rank; NULL: none */
  int64_t swizzle;     /* smem, bytes; 0: none */
  const char* access;  /* smem: the layout of registers in which it is read */
  int packed;          /* tmem: as many elements in a cell as fit */
} palladion_layout_request;

/* Where each element of an array of one or two dimensions lies, as JSON (emu/chip/layouts/layout_tables.h). NULL on an
 * error. */
PALLADION_API char* palladion_layout(const palladion_layout_request* request, palladion_error* error);

/* What each kernel of the text, or the one named, holds in the memories of its chip and whether that fits, as the JSON
 * of docs/reference/fit.md; *report (NULL: not wanted) is the same for people. Nothing runs. `kernel` NULL: all of
 * them; `target` as for palladion_prepare. NULL on an error. */
PALLADION_API char* palladion_fit(const char* text, size_t size, const char* kernel, const char* target, char** report,
                                  palladion_error* error);

typedef struct palladion_advise_request {
  palladion_time_request time;
  int64_t seeds; /* schedules of the check of each change; 0: the default */
  int what_ifs;  /* run it on a chip with one rate doubled, too */
} palladion_advise_request;

/* What would make the kernel faster (docs/reference/advice.md), as palladion_time has it: the JSON and the text of
 * `palladion advise`. */
PALLADION_API char* palladion_advise(const palladion_advise_request* request, const palladion_array* inputs,
                                     size_t n_inputs, char** text, palladion_error* error);

typedef struct palladion_schedule_request {
  const char* text;
  size_t size;
  const char* kernel;       /* as for palladion_prepare */
  const char* target;       /* as for palladion_prepare */
  int64_t launches;         /* as for palladion_prepare_launches */
  const char* const* check; /* options of the check that has the finding, with its replay, as for palladion_check */
  const char* code;         /* of the finding; NULL or "": the worst */
  int text_line, first_line, second_line; /* of the kernel text: the finding's and its sides'; 0: any */
  const palladion_source_line* lines;
  size_t n_lines;
} palladion_schedule_request;

/* The schedule that shows a finding, drawn (docs/guides/schedule-pictures.md), as JSON: svg, page, text. NULL on an
 * error; also where there is no such finding. */
PALLADION_API char* palladion_draw_schedule(const palladion_schedule_request* request, const palladion_array* inputs,
                                            size_t n_inputs, palladion_error* error);

/* The names of the kernels of a text, one a line; NULL on an error. */
PALLADION_API char* palladion_kernels(const char* text, size_t size, palladion_error* error);

/* The text in canonical form; NULL on an error. */
PALLADION_API char* palladion_canonical(const char* text, size_t size, palladion_error* error);

/* The same as JSON (docs/guides/to-jax.md); NULL on an error. */
PALLADION_API char* palladion_text_json(const char* text, size_t size, palladion_error* error);

/* Every operation as JSON: a list of objects with dialect, name, spec, backends, effect, unit, status, reason. */
PALLADION_API char* palladion_operations(void);

/* Every finding code as JSON: a list of objects with code, severity (unless a finding itself says otherwise), rule. */
PALLADION_API char* palladion_finding_codes(void);

/* What a finding code means, or a limit (`copy.strides`), as JSON: `name`, and `text` as `palladion explain` prints it.
 * Of a code also severity, rule, link, why (paragraphs), limits (a text, of those that have a list of them), and
 * kernels: two objects with wrong, right and fix, of Python and of kernel text. Of a limit kernels is null. NULL on an
 * error, which says which names are near. */
PALLADION_API char* palladion_explain(const char* name, palladion_error* error);

/* Calls from inside compiled programs, XLA's above all: docs/guides/jax.md. Kernels are found by their text and kept,
 * bounded in number, and reports wait in the session named until they are taken. `options` is a list of name=value,
 * parted by semicolons: emu/front/bridge/bridge.h. Texts may be NULL for "". */
typedef struct palladion_call_request {
  const char* text;
  size_t size;
  const char* kernel;
  const char* target;
  const char* options;
  int64_t session; /* 0: none; its reports wait all the same */
} palladion_call_request;

/* Says what is wrong with the kernel, target or options without running; keeps the prepared kernel. The result is the
 * code of the error. */
PALLADION_API palladion_code palladion_call_prepare(const palladion_call_request* request, palladion_error* error);

/* Runs or checks. Not 0 where nothing could run, or where `options` says that the findings are to be raised; *error
 * then says what. The report is in the session either way. */
PALLADION_API palladion_code palladion_call(const palladion_call_request* request, const palladion_array* inputs,
                                            size_t n_inputs, palladion_array* outputs, size_t n_outputs,
                                            palladion_error* error);

/* What calls left in a session; palladion_free_taken. */
typedef struct palladion_taken palladion_taken;

/* A session is where calls leave their reports. take: the calls since the last time, equal ones folded; NULL where the
 * session is not open. taken_json: {"calls": [{"count": 2, "call": {"grid": [4, 2], "report": {...}}}], "dropped": 0}.
 * Beside "call" there is "launched" where a schedule shows a finding of it: text, kernel, target, options and launches,
 * which with taken_inputs, its inputs before it ran, replay it; *n_inputs is 0 where it has none. They live as long as
 * `taken`, and those of one session are at most 256 MiB. taken_report: that of a call, by its number from 0; NULL where
 * there are fewer. pending: calls under way. wait: 0 where some still are when the time is over. close: what waits is
 * dropped. */
PALLADION_API int64_t palladion_session_open(void);
PALLADION_API palladion_taken* palladion_session_take(int64_t session);
PALLADION_API char* palladion_taken_json(const palladion_taken* taken);
PALLADION_API palladion_report* palladion_taken_report(const palladion_taken* taken, size_t call);
PALLADION_API const palladion_array* palladion_taken_inputs(const palladion_taken* taken, size_t call,
                                                            size_t* n_inputs);
PALLADION_API int64_t palladion_session_pending(int64_t session);
PALLADION_API int palladion_session_wait(int64_t session, int64_t milliseconds);
PALLADION_API void palladion_session_close(int64_t session);
/* No call of the session follows for now: semaphores that its kernels gave and that are not zero, and copies that
 * have no wait, are left as reports of these kernels, and dropped. */
PALLADION_API void palladion_session_end_semaphores(int64_t session);
/* From here on runs and checks (palladion_run, palladion_check) of this thread are launches of the session, which may
 * hand semaphores on; -1: of none, each by itself. */
PALLADION_API void palladion_session_use(int64_t session);

/* Calls of the session that are under way, or begin later, end as interrupted: the caller does not wait for them. */
PALLADION_API void palladion_session_cancel(int64_t session);

/* Every run, check and call ends early at SIGINT or SIGTERM, where somebody listens for them, who then gets the signal
 * as always; its report is marked as interrupted. Between these two that costs each of them nothing. May be nested. */
PALLADION_API void palladion_interrupts_listen(void);
PALLADION_API void palladion_interrupts_ignore(void);
PALLADION_API int64_t palladion_interrupt_count(void); /* so far, in this process; never less than before */

/* Runs, checks and calls under way, as JSON: a list of objects with kernel, session, seconds (so far), unit
 * ("schedules", "programs", or "budget" of a run of one program), done, total (0: not known), rate (a second),
 * seconds_left (-1: not known; of a budget at most so many), text (all of it, for people). */
PALLADION_API char* palladion_progress(void);

/* The names of all targets, one a line. */
PALLADION_API char* palladion_targets(void);

/* The full name of the target that `name` means for a kernel that says `backend`: a chip takes that backend. NULL, and
 * in *error what is accepted, for any other name. Both may be NULL: what a kernel says that says nothing. */
PALLADION_API char* palladion_resolve_target(const char* name, const char* backend, palladion_error* error);

/* Every chip that a target may name, as JSON: a list of objects with name, device_kind, tpu, generation (the major
 * compute capability of a GPU), cores, hbm_bytes (emu/chip/machines/chip.h). */
PALLADION_API char* palladion_chips(void);

/* The description of one machine, as JSON (docs/reference/machines.md), after the n changes, texts as `l2.size=25MiB`;
 * of all machines where name is NULL. NULL, and in *error what is wrong, for a name or a change that cannot be. */
PALLADION_API char* palladion_machines(const char* name, const char* const* changes, size_t n, palladion_error* error);

PALLADION_API void palladion_free_program(palladion_program* program);
PALLADION_API void palladion_free_report(palladion_report* report);
PALLADION_API void palladion_free_taken(palladion_taken* taken);
PALLADION_API void palladion_free_string(char* text);

#ifdef __cplusplus
}
#endif

#endif /* PALLADION_EMU_C_API_H_ */
