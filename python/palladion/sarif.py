"""One SARIF 2.1.0 log of the kernel calls of many tests. For one kernel, the library writes it (emu/reports/report_sarif.cc): what is said here
is said as there. A finding that several tests have is one result, which names them.

Input: reports as JSON (docs/report.schema.json), because those of parallel workers come that way.
"""

import os
import urllib.parse

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"defect": "error", "warning": "warning", "note": "note"}


def log_of(tests: list, codes: tuple, version: str, root: str) -> dict:
    """`tests`: objects with test (its name), path (its file), allow (codes), calls (reports), dropped.

    `codes`: `_library.finding_codes()`. Files below `root` are named from there.
    """
    numbers = {row["code"]: number for number, row in enumerate(codes)}
    results, notifications = {}, []
    for test in tests:
        for call in test["calls"]:
            notifications += _notifications(test, call)
            for finding in call["findings"]:
                _add(results, _result(test, call, finding, numbers, root), finding["fingerprint"], test["test"])
        if test["dropped"]:
            notifications.append(_notification("warning", f"{test['test']}: {test['dropped']} kernel calls had no room for their reports"))
    driver = {"name": "palladion", "version": version, "rules": [_rule(row) for row in codes]}
    invocation = {"executionSuccessful": all(call["error"] is None for test in tests for call in test["calls"]),
                  "toolExecutionNotifications": notifications}
    run = {"tool": {"driver": driver}, "columnKind": "utf16CodeUnits", "invocations": [invocation], "results": list(results.values())}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(row: dict) -> dict:
    return {"id": row["code"], "shortDescription": {"text": row["rule"]}, "help": {"text": f"palladion explain {row['code']}"},
            "defaultConfiguration": {"level": _LEVELS[row["severity"]]}}


def _notification(level: str, text: str) -> dict:
    return {"level": level, "message": {"text": text}}


def _notifications(test: dict, call: dict) -> list:
    found = []
    if call["error"] is not None:
        found.append(_notification("error", f"{test['test']}: kernel @{call['kernel']}: {call['error']['kind']}: {call['error']['message']}"))
    if call["interrupted"]:
        found.append(_notification("warning", f"{test['test']}: kernel @{call['kernel']}: stopped before the schedules were through"))
    return found


def _add(results: dict, result: dict, fingerprint: str, test: str) -> None:
    """Equal but for the test: the same finding."""
    place = result["locations"][0]["physicalLocation"]
    key = (fingerprint, place["artifactLocation"]["uri"], place.get("region", {}).get("startLine"), "suppressions" in result)
    seen = results.setdefault(key, result)
    if seen is not result:
        seen["occurrenceCount"] += result["occurrenceCount"]
        if test not in seen["properties"]["tests"]:
            seen["properties"]["tests"].append(test)


def _result(test: dict, call: dict, finding: dict, numbers: dict, root: str) -> dict:
    text = finding["message"] + "".join(f"\n{word}: {finding[name]}" for word, name in (("Why", "why"), ("Fix", "fix")) if finding[name])
    result = {
        "ruleId": finding["code"], "ruleIndex": numbers[finding["code"]], "level": _LEVELS[finding["severity"]],
        "message": {"text": text}, "locations": [_location(finding["frames"], test["path"], root)],
        "relatedLocations": _related(test, finding, root), "occurrenceCount": finding["count"] * call["count"],
        "partialFingerprints": {"palladion/v1": finding["fingerprint"]}}
    if finding["suppressed"]:
        result["suppressions"] = [{"kind": "external", "justification": finding["suppressed"]}]
    elif finding["code"] in test["allow"]:
        result["suppressions"] = [{"kind": "inSource", "justification": f"the marker palladion of {test['test']} allows it"}]
    result["properties"] = {"confidence": finding["confidence"], "replay": finding["replay"], "kernel": call["kernel"],
                            "target": call["target"], "tests": [test["test"]]}
    return result


def _related(test: dict, finding: dict, root: str) -> list:
    places = []
    for number, access in enumerate((finding["first"], finding["second"]), 1):
        if access is not None:
            what = f" of {access['object']}{access['box']}" if access["object"] else ""
            who = f" by {access['agent']}" if access["agent"] else ""
            places.append(_location(access["frames"], test["path"], root, number, f"({number}) {access['kind']}{what}{who}"))
    for number, caller in enumerate(finding["frames"][1:], 3):
        places.append(_location([caller], test["path"], root, number, "called from here"))
    return places


def _location(frames: list, fallback: str, root: str, number=None, message="") -> dict:
    """The innermost frame; the file of the test where the kernel has no lines."""
    physical = {"artifactLocation": {"uri": uri_of(frames[0]["file"] if frames else fallback, root)}}
    if frames and frames[0]["line"] > 0:
        physical["region"] = {"startLine": frames[0]["line"]}
        if frames[0]["column"] > 0:
            physical["region"]["startColumn"] = frames[0]["column"]
    location = {} if number is None else {"id": number}
    location["physicalLocation"] = physical
    if frames and frames[0]["function"]:
        location["logicalLocations"] = [{"name": frames[0]["function"], "kind": "function"}]
    if message:
        location["message"] = {"text": message}
    return location


def uri_of(path: str, root: str) -> str:
    """A path as a URI reference (RFC 3986)."""
    if os.path.isabs(path):
        inside = os.path.relpath(path, root)
        if inside.split(os.sep)[0] == os.pardir:
            return "file://" + urllib.parse.quote(path, safe="-._~/")
        path = inside
    return urllib.parse.quote(path, safe="-._~/")
