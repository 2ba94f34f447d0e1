"""How the kernels of a program are emulated, as one value that JAX keeps in its traces and in the key of its caches."""

import dataclasses
import json
import re

from palladion.base.check_options import DEFAULTS, OPTIONS, choice, whole
from palladion.report.reports import call_around

ON_DEFECT = ("raise", "warn", "collect")
ON_UNSUPPORTED = ("raise", "jax", "skip")
OF_CHECKS = ("fill", "proxy", "links", "races", "definedness", "contracts")  # which a plain run does not have


@dataclasses.dataclass(frozen=True)
class Params:
    """Passed as `interpret=palladion.Params(...)`, or made by `palladion.emulate(...)`.

    target: "mosaic_tpu/v5p", a chip ("h100", "v5p"), or None for what the kernel says.
    seeds: None runs each kernel in program order, with the checks that are always on;
        a number checks it under so many schedules.
    on_defect: "raise" makes the kernel call fail; "warn" and "collect" let the program go on.
    on_unsupported: of a kernel that Palladion does not have all of: "raise" an error of the call; "jax" has JAX's own
        interpreter run it; "skip" leaves it out, and its results are poison.
    bounds: on a TPU, "padded" has accesses in bounds that stay in the tiles of an array,
        "logical" only those that stay in its shape.
    legality: "off" leaves out what the target refuses and what its chip has no room for (docs/spec/contracts.md), which
        is else found before a kernel runs, with `seeds` or without;
        "compiler" makes a defect of what its compiler may refuse, which is else a warning.
    engines_late: without `seeds`, copies run when an agent waits for them, not when they are started.
    time: the report says how long each kernel takes on the chip of its target (palladion.time,
        docs/explanation/time.md).
    strict: warnings count as defects.
    launches: kernels that several devices run together are checked once more, so many launches in a row, in which a
        device may be ahead of the others (docs/spec/tpu-sessions.md#launches-in-a-row). Where a kernel takes what its
        launch before made, as in f(f(x)), two are checked in any case.
    raise_codes: with "warn" or "collect", findings that make the call fail all the same.
    session: which report the calls go to (channels.py); set by `emulate`.

    The other fields are those of `palladion.check`, and need `seeds`.
    """

    target: str | None = None
    seeds: int | None = None
    on_defect: str = "raise"
    on_unsupported: str = "raise"
    strict: bool = False
    fill: str = "nan"
    proxy: str = "pallas"
    links: str = "unordered"
    exhaustive: bool = False
    all_seeds: bool = False
    replay: str | None = None
    races: bool = True
    definedness: bool = True
    contracts: bool = True
    budget: int | None = None
    bounds: str = "logical"
    legality: str = "on"
    engines_late: bool = False
    time: bool = False
    launches: int = 1
    raise_codes: tuple = ()
    session: int = 0

    def __post_init__(self):
        if self.on_defect not in ON_DEFECT:
            raise ValueError(f"on_defect must be one of {', '.join(ON_DEFECT)}; found {self.on_defect!r}")
        if self.on_unsupported not in ON_UNSUPPORTED:
            raise ValueError(
                f"on_unsupported must be one of {', '.join(ON_UNSUPPORTED)}; found {self.on_unsupported!r}"
            )
        for name in ("seeds", "budget"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise ValueError(f"{name} must be a whole number of at least 1, or None; found {value!r}")
        if whole("launches", self.launches) != 1 and not self.checks:
            raise ValueError("launches is an option of a check; give seeds as well")
        for name in ("target", "replay"):
            if getattr(self, name) is not None and not isinstance(getattr(self, name), str):
                raise TypeError(f"{name} must be a text or None; found {getattr(self, name)!r}")
        if not re.fullmatch(r"nan|zero|intmax|random:\d+", str(self.fill)):
            raise ValueError(f"fill must be nan, zero, intmax or random:SEED; found {self.fill!r}")
        for name in ("proxy", "links", "bounds", "legality"):
            choice(name, getattr(self, name))
        if self.engines_late and self.checks:
            raise ValueError(
                "engines_late is for kernels that run once; a check, with seeds, tries copies both late and early"
            )
        object.__setattr__(self, "raise_codes", tuple(self.raise_codes))
        if not self.checks and any(getattr(self, name) != DEFAULTS[name] for name in OF_CHECKS):
            raise ValueError(
                f"{', '.join(OF_CHECKS[:-1])} and {OF_CHECKS[-1]} say how a kernel is checked; give seeds as well"
            )

    @property
    def checks(self) -> bool:
        """Kernels are checked under several schedules, not only run."""
        return self.seeds is not None or self.exhaustive or self.replay is not None

    def replay_call(self, callee: str = "palladion.emulate") -> tuple:
        """What a schedule is put between to see a finding again: the same target and checks."""
        defaults = {field.name: field.default for field in dataclasses.fields(self)}
        kept = {name: getattr(self, name) for name, option in OPTIONS.items() if option.replays}
        arguments = [] if self.target is None else [json.dumps(self.target)]
        return call_around(callee, arguments, {name: value for name, value in kept.items() if value != defaults[name]})

    def options_text(self, may_fail: bool = True) -> str:
        """The options of a kernel call (emu/front/bridge/bridge.h).
        A call that may not fail only reports its error.
        """
        given = {
            "strict": self.strict,
            "bounds": self.bounds,
            "engines_late": self.engines_late,
            "time": self.time,
        }
        if self.launches != 1:
            given["launches"] = self.launches
        if self.legality != "on":
            given["legality"] = self.legality
        if self.checks:
            given |= {"check": True} | {name: getattr(self, name) for name in ("exhaustive", "all_seeds", *OF_CHECKS)}
            given |= {name: getattr(self, name) for name in ("seeds", "replay") if getattr(self, name) is not None}
        if self.budget is not None:
            given["budget"] = self.budget
        given["raise"] = (
            "never" if not may_fail else "all" if self.on_defect == "raise" else ",".join(self.raise_codes) or "none"
        )
        return ";".join(f"{name}={int(value) if isinstance(value, bool) else value}" for name, value in given.items())
