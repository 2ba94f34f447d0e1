#include "emu/front/command/command_table.h"

#include <algorithm>

#include "absl/strings/str_split.h"
#include "emu/front/options/check_options.h"
#include "semantics/base/cat.h"

namespace palladion::command {
namespace {

// The flag of an option of a check.
Option FlagOf(std::string_view name) {
  const options::CheckOption& option = *options::FindCheckOption(name);
  return {option.flag, option.values, option.help};
}

// Options that several commands have.
constexpr Option kIn = {
    "in", "NAME=VALUE",
    "An input; once for each. NAME is the operand's name in the text or the user's own (`x` or `args[0]`). VALUE is a "
    "`.npy` file, or a text: `zeros`, `iota`, `full(1)`, `random(seed=1,lo=-1,hi=1)`, `random_bits(1)`, or a list "
    "`[1,2,3]` in row-major order. A PRNG key is u32 with a last dimension of its words.",
    0, true};
constexpr Option kKernel = {"kernel", "NAME", "Which kernel, where the text has several."};
constexpr Option kTarget = {"target", "TARGET",
                            "Another machine than the kernel's own, in [one word](python.md#targets): a chip (`h100`, "
                            "`v5p`), which takes the kernel's backend, a full name (`triton/h100`), or `generic`; a "
                            "wrong one is answered with the list."};
constexpr Option kBudget = {"budget", "N",
                            "The most iterations of all loops of one program together, [one of much work counting "
                            "several times](spec/control.md), and the most programs of the grid (default 2^27). A "
                            "kernel that does not end is an error with the loop's line, within about a minute by "
                            "default."};
constexpr Option kReplay = {
    "replay", "SCHEDULE",
    "The run of this schedule, as of `check`, and not that of program order. `--fill`, `--proxy`, `--links` and "
    "`--bounds` are those of the check that named it."};
constexpr Option kFidelity = {
    "fidelity", "", "[How faithful](reports.md#fidelity) the run is to its target, as a table behind the report."};
constexpr Option kFormat = {"format", "text|json", "For people, or for programs."};
constexpr Option kColor = {"color", "auto|always|never",
                           "Colours in the text; `auto` is on a terminal, unless `NO_COLOR` is set."};

const Option kRun[] = {
    kIn,
    {"out", "DIR",
     "Where the outputs go: `DIR/NAME.npy`, one for each output of the kernel. DIR is made if it is missing, before "
     "the kernel runs. Only with `--stats`, `--trap` or `--dump` can it be left out; then no file is written."},
    kKernel,
    kTarget,
    kBudget,
    FlagOf("bounds"),
    FlagOf("legality"),
    kReplay,
    FlagOf("fill"),
    FlagOf("proxy"),
    FlagOf("links"),
    kFidelity,
    {"format", "text|json", "The report for people, or [one line of JSON](reports.md#json)."},
    {"stats", "",
     "What the launch moved and computed, after the report: bytes of each memory space, what each operand's array was "
     "read and written, blocks fetched, kept from the last program and flushed, and a table of operations."},
    {"trap", "nan|inf",
     "Reports the first result element, in program order, that is a NaN (or an infinity) although no element that it "
     "was computed from is: program, line, element, and its operand elements. The run goes on; exit code 1. A NaN of "
     "an input does not count. The first one that is read from unwritten memory, padding or a lane masked off without "
     "`other` is reported separately: kernels mask most of these later."},
    {"dump", "REF@LINE",
     "What a ref holds each time execution has passed a line, as `DIR/dump_REF_N.npy` and a short text; without "
     "`--out` as a longer text. REF is a name of the ref, the user's or the text's. LINE is a line of the kernel "
     "text; if no instruction is on that line, it is a line of the user's Python. `FILE:LINE` names the file, too. "
     "Several with commas."},
    {"program", "I,J",
     "Only this program of the grid. What other programs would have written, or left in memory, is "
     "missing."},
};

const Option kCheck[] = {
    kIn,
    kKernel,
    kTarget,
    FlagOf("budget"),
    FlagOf("seeds"),
    {"launches", "N",
     "N launches of the kernel [in a row](spec/tpu-sessions.md#launches-in-a-row), in which a device may be ahead of "
     "the others (default 1)."},
    FlagOf("all_seeds"),
    {"part", "FIRST-LAST",
     "Only these seeds of the `--seeds`, 1 or more. Writes [a part of the report](sweeps.md#by-hand) instead of the "
     "report, for `--parts` on any machine."},
    FlagOf("parts"),
    FlagOf("exhaustive"),
    {"replay", "SCHEDULE",
     "One schedule, [as a finding names it](schedules.md#schedule-strings), or `@FILE`, which `palladion time "
     "--schedule` [wrote](time.md#a-timed-run-replays). Where it does not apply any more, the message says what has "
     "changed."},
    FlagOf("fill"),
    FlagOf("proxy"),
    FlagOf("links"),
    FlagOf("bounds"),
    FlagOf("legality"),
    kFidelity,
    {"checks", "LIST",
     "Only these checks, with commas: `bounds`, `races`, `definedness`, `contracts`. Bounds are always checked."},
    {"no-races", "", "All checks but `races`."},
    {"no-definedness", "", "All checks but `definedness`."},
    {"no-contracts", "", "All checks but `contracts`."},
    FlagOf("strict"),
    {"details", "",
     "In a text report, also how much each check examined, and how likely a rare bug would have shown in these "
     "schedules."},
    {"suppressions", "FILE",
     "Findings that were looked at and accepted: [how it is written](reports.md#suppressions)."},
    {"format", "text|json|sarif|junit", "[The formats](reports.md)."},
    {"output", "FILE",
     "The report goes to FILE in the chosen format, and to standard output as text. That FILE is writable is tested "
     "before the check starts; it is [replaced completely or not at all](#files)."},
    kColor,
    FlagOf("threads"),
};

const Option kTrace[] = {
    kIn,
    kKernel,
    kTarget,
    kBudget,
    {"out", "TRACE.json", "Chrome trace events, for Perfetto; of a schedule, the picture as JSON."},
    {"page", "PAGE.html", "One self-contained page."},
    {"svg", "FILE.svg", "The essential part of [a failing schedule](schedule-pictures.md), for slides and Markdown."},
    {"view", "auto|time|programs|schedule",
     "What is drawn: [what happened when](timeline.md) on a chip, the grid and what each program touches, or [the "
     "schedule that shows a finding](schedule-pictures.md); `auto` is the first for kernels whose chip has a model of "
     "time, and the last with `--replay`, `--svg` or `--finding`."},
    {"replay", "SCHEDULE",
     "The schedule to draw, as of `check`; without it, that of the worst finding of a check. With `--view programs` "
     "the "
     "programs of that run, whose page steps through their instructions in the order of the schedule."},
    {"finding", "CODE", "Which finding of the schedule is drawn, such as `RACE_RW`; without it, the worst."},
    {"seeds", "N", "Of a schedule, without `--replay`: how many the check tries (default 64)."},
    FlagOf("fill"),
    FlagOf("proxy"),
    FlagOf("links"),
    FlagOf("bounds"),
    {"device", "N", "As of `time`."},
    {"sm", "N", "As of `time`."},
    {"core", "N", "As of `time`."},
    {"events", "N", "At most N events, or spans."},
    {"values", "", "On the page of programs: the first elements of what each instruction computes."},
    {"no-check", "", "Leaves out the findings of a check."},
};

const Option kWhy[] = {
    kIn,
    kKernel,
    kTarget,
    kBudget,
    kReplay,
    FlagOf("fill"),
    FlagOf("proxy"),
    FlagOf("links"),
    FlagOf("bounds"),
    {"element", "OUTPUT[I,J]",
     "The element: an output by its name in the text or the user's own, and an index from 0."},
    {"depth", "N", "How many steps back (default 12)."},
};

const Option kLog[] = {
    kIn,
    kKernel,
    kTarget,
    kBudget,
    kReplay,
    FlagOf("fill"),
    FlagOf("proxy"),
    FlagOf("links"),
    FlagOf("bounds"),
    {"output", "FILE", "Where the log goes; without it, to the standard output.", 'o'},
    {"program", "I,J", "Only this program of the grid. What other programs would have left in memory is missing."},
};

constexpr Option kGolden[] = {
    kIn,
    kKernel,
    kTarget,
    kBudget,
    {"out", "DIR", "Where the [bundle](compare.md) goes: a folder that is not there yet, or is empty."},
    {"seeds", "N", "How many schedules the check of the kernel tries (default 16)."},
};

constexpr Option kCompare[] = {
    kFormat,
    {"signed-zero", "",
     "A zero of the wrong sign is a difference; without this option such zeros are counted, and "
     "pass."},
    {"hypotheses", "N", "At most N [hypotheses](compare.md#likely-cause) are run (default 400)."},
    {"no-causes", "", "Leaves out the search for a likely cause."},
    {"out", "DIR",
     "Where pictures go: `NAME.png`, the error map of each output; `compare.html`, a page with all of them; "
     "`cause_N.pkir`, the kernel with the N-th likely mistake."},
};

constexpr Option kDiff[] = {
    kFormat,
    {"dump", "REF@LINE",
     "A is a [bundle](compare.md#the-first-difference), B a folder of `dump_REF_N.npy`: what an implementation's "
     "refs held each time it had passed the line, numbered as by `run --dump`. Prints the first that differs by more "
     "than its own bound."},
};

constexpr Option kMutate[] = {
    {"out", "DIR", "Where `NAME.pkir` of each mutant goes."},
    {"per-kind", "N", "At most N of each kind, spread evenly over the text (default: all)."},
    kKernel,
};

// conformance_run, a program of its own, reads them (conformance/suite_options.h).
constexpr Option kConformance[] = {
    {"tier", "full|quick",
     "`quick`: for each rule of the specification the first case that names it, run once. `full`: every case, and our "
     "own runs also from "
     "the canonical text and with logs."},
    {"shard", "I/N",
     "Only part I of N, from 1; all parts together are the suite. The default comes from GoogleTest's variables, if "
     "they are set: `GTEST_TOTAL_SHARDS`, `GTEST_SHARD_INDEX`, `GTEST_SHARD_STATUS_FILE`."},
    {"jobs", "N",
     "How many cases run at a time, each with a backend of its own (default: one for each processor of "
     "the host)."},
    {"exec", "CMD", "The [backend](backends.md) that is tested instead of Palladion: a shell command."},
    {"timeout", "SECONDS",
     "Seconds that a backend may take for one case (default 60); for its first case this "
     "includes its start."},
    {"resume", "FILE",
     "Where the results go, a line of JSON for each case as soon as it is done. A case whose result is in FILE does "
     "not run again, unless its text has changed."},
    {"format", "text|json|junit|sarif", "For people, for programs, for CI systems, for code scanning."},
    {"output", "FILE", "Where the report goes; without it, to the standard output."},
};

const Option kReduce[] = {
    kIn,
    {"keep", "CODE@REF:LINE",
     "The finding to preserve: its code, `RACE_RW`; optionally also a ref that it names, `RACE_RW@o`, and a line of "
     "the kernel text that it points at, `RACE_RW@o:12`."},
    {"keep-exit", "CMD",
     "Instead of `--keep`, an interestingness test: a shell command that is run with the path of a kernel as its "
     "last argument, in whose folder the inputs are `NAME.npy`. Exit code 0: the kernel is still interesting. Without "
     "any `--in` all inputs are zeros."},
    {"timeout", "S",
     "Seconds that CMD may take for one kernel (default 60); a kernel for which it takes longer is "
     "not interesting."},
    {"out", "FILE.pkir",
     "Where the reduced kernel goes (default: `K.reduced.pkir`). Inputs of more than 64 elements that no text such "
     "as `iota` describes go beside it, as `FILE.NAME.npy`."},
    {"seeds", "N", "The most schedules of one check (default 64)."},
    {"budget", "N",
     "At most N candidates, or with an `s` after it (`60s`) N seconds; then the smallest kernel so far is written."},
    kKernel,
    kTarget,
    FlagOf("fill"),
    FlagOf("proxy"),
    FlagOf("links"),
    FlagOf("bounds"),
};

constexpr Option kShow[] = {kKernel, kTarget, kFormat};
constexpr Option kFormatOnly[] = {kFormat};
constexpr Option kMachines[] = {
    {"set", "NUMBER=VALUE",
     "With `show`: replaces a number, `l2.size=25MiB`. Without a unit the value is in the unit that the machine's "
     "file has; `l2.mib=25` is the one number of `l2` in MiB. What [follows](machines.md#what-if) from the number "
     "changes too.",
     0, true},
    kFormat,
    {"json", "", "Short for `--format json`."},
};
constexpr Option kTime[] = {
    kIn,
    kKernel,
    kTarget,
    kBudget,
    {"set", "NUMBER=VALUE", "Replaces a number of the chip, `l2.size=25MiB`, [as for a machine](machines.md#what-if).",
     0, true},
    {"lines", "N",
     "How many source lines the text shows, those that took most (default 12). JSON has every instruction."},
    {"page", "PAGE.html",
     "What happened when, as [one self-contained page](timeline.md): lanes of threads, engines and units, what ended "
     "each wait, and the source."},
    {"trace", "TRACE.json", "The same as Chrome trace events, for [Perfetto](timeline.md#for-perfetto)."},
    {"compare", "OTHER.html",
     "With `--page`: a page of another run, which stands [beside this one](timeline.md#two-runs) on it."},
    {"device", "N", "Of a kernel of several devices: whose SM these show; from 0, the first."},
    {"sm", "N", "Which SM of a GPU these show; from 0, the first."},
    {"core", "N",
     "Which core of a TPU these show; from 0, the first. A kernel is on both of a v4 or v5p where its grid "
     "has a parallel dimension."},
    {"every-wave", "",
     "Of a Triton kernel: times each block, also where [one wave stands for equal ones](time.md#equal-blocks)."},
    {"replay", "SCHEDULE",
     "A schedule that `--schedule` wrote: the same run, or an error. What the chip's times decide has [one "
     "order](time.md#a-timed-run-replays), so any other schedule is refused."},
    {"schedule", "FILE",
     "Writes the schedule of the timed run to FILE; `palladion check --replay @FILE` [replays "
     "it](time.md#a-timed-run-replays)."},
    kFormat,
};
constexpr Option kAdvise[] = {
    kIn,
    kKernel,
    kTarget,
    kBudget,
    {"set", "NUMBER=VALUE", "As of `time`: the kernel, and each change of it, on the chip with this number replaced.",
     0, true},
    {"seeds", "N", "How many schedules the check of each change tries (default 4)."},
    {"no-what-ifs", "", "Leaves out the runs on a chip with one rate doubled."},
    kFormat,
};
constexpr Option kFit[] = {
    {"kernel", "NAME", "Only this kernel of a text that has several."},
    kTarget,
    kFormat,
    {"json", "", "Short for `--format json`."},
};
constexpr Option kExplain[] = {
    {"pkir", "", "Shows the kernels as kernel text, not as Python."},
    kFormat,
    kColor,
};

constexpr CommandInfo kCommands[] = {
    {"run", "K.pkir", "run the kernel on its inputs and write its outputs", kRun},
    {"check", "K.pkir", "run it under the orders that hardware may choose, and report everything that is wrong",
     kCheck},
    {"trace", "K.pkir", "record one launch as a page or for Perfetto: what happened when, or what each program touched",
     kTrace},
    {"why", "K.pkir", "what produced one element of an output, followed back to the inputs", kWhy},
    {"log", "K.pkir", "one line for each instruction and program, with hashes of its results and operands", kLog},
    {"diff", "A B", "the first instruction in which two logs of one kernel differ, or dumps and a bundle", kDiff},
    {"golden", "K.pkir", "write a bundle of reference outputs for other implementations", kGolden},
    {"compare", "DIR OUTPUTS...", "compare outputs with a bundle, and say which mistake explains the differences",
     kCompare},
    {"explain", "[CODE]", "what a finding code means, with a kernel that has it and its fix; or all codes", kExplain},
    {"show", "K.pkir", "the kernels of a text: operands, types, target", kShow},
    {"print", "K.pkir", "the text in canonical form, or as JSON", kFormatOnly},
    {"mutate", "K.pkir", "write kernels with one mistake each, to grade a checker by", kMutate},
    {"reduce", "K.pkir",
     "a smaller kernel with smaller inputs that still has a finding, or that a program still fails on", kReduce},
    {"conformance", "[FILTER|FILE.case|FOLDER]...",
     "run conformance cases, by default all that came with the program, in Palladion or a backend", kConformance},
    {"machines", "[show NAME]", "the numbers of each chip with their sources, and what follows if one is replaced",
     kMachines},
    {"time", "K.pkir", "how long the kernel takes on a chip, where the time goes, and which limit it reaches", kTime},
    {"advise", "K.pkir",
     "what would make the kernel faster on a chip: each change is run in virtual time, and "
     "checked",
     kAdvise},
    {"fit", "K.pkir",
     "what the kernel allocates in each memory of its chip, whether that fits, and the largest "
     "blocks that do",
     kFit},
    {"ops", "", "every operation with its backends and status", kFormatOnly},
    {"doctor", "", "version and SIMD targets", {}},
    {"completion", "bash|zsh|fish", "a script that completes commands and options in this shell", {}},
    {"help", "[COMMAND]", "all commands, or one with its options", kFormatOnly},
};

}  // namespace

std::vector<std::string_view> Option::Choices() const {
  std::vector<std::string_view> choices;
  if (value.find('|') == std::string_view::npos) return choices;
  for (std::string_view rest = value; !rest.empty();) {
    const std::size_t bar = std::min(rest.find('|'), rest.size());
    choices.push_back(rest.substr(0, bar));
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  return choices;
}

const Option* CommandInfo::Find(std::string_view option) const {
  const auto found = std::find_if(options.begin(), options.end(), [&](const Option& o) { return o.name == option; });
  return found == options.end() ? nullptr : &*found;
}

absl::Span<const CommandInfo> AllCommands() { return kCommands; }

const CommandInfo* FindCommand(std::string_view name) {
  for (const CommandInfo& command : kCommands) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

}  // namespace palladion::command
