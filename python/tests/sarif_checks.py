"""SARIF logs against the specification (sarif_schema.json) and the object model generated from the official schema
(sarif-om).
"""

import json
import pathlib

import attr
import jsonschema
import sarif_om

SARIF = jsonschema.Draft202012Validator(
    json.loads((pathlib.Path(__file__).parent / "sarif_schema.json").read_text(encoding="utf-8"))
)

# The class of each object of the log, by the property that holds it.
_CLASSES = {
    "runs": sarif_om.Run,
    "tool": sarif_om.Tool,
    "driver": sarif_om.ToolComponent,
    "rules": sarif_om.ReportingDescriptor,
    "shortDescription": sarif_om.MultiformatMessageString,
    "help": sarif_om.MultiformatMessageString,
    "message": sarif_om.Message,
    "defaultConfiguration": sarif_om.ReportingConfiguration,
    "invocations": sarif_om.Invocation,
    "toolExecutionNotifications": sarif_om.Notification,
    "results": sarif_om.Result,
    "locations": sarif_om.Location,
    "relatedLocations": sarif_om.Location,
    "physicalLocation": sarif_om.PhysicalLocation,
    "region": sarif_om.Region,
    "codeFlows": sarif_om.CodeFlow,
    "threadFlows": sarif_om.ThreadFlow,
    "location": sarif_om.Location,
    "description": sarif_om.Message,
    "fixes": sarif_om.Fix,
    "artifactChanges": sarif_om.ArtifactChange,
    "replacements": sarif_om.Replacement,
    "deletedRegion": sarif_om.Region,
    "insertedContent": sarif_om.ArtifactContent,
    "artifactLocation": sarif_om.ArtifactLocation,
    "logicalLocations": sarif_om.LogicalLocation,
    "suppressions": sarif_om.Suppression,
}
_BAGS = {"properties", "partialFingerprints"}


def hold_against_model(node, kind=sarif_om.SarifLog):
    """Every property is one of the model's, and none that it requires is missing."""
    fields = {f.metadata["schema_property_name"]: f.default is attr.NOTHING for f in attr.fields(kind)}
    assert set(node) <= set(fields), (kind, set(node) - set(fields))
    assert {name for name, required in fields.items() if required} <= set(node), kind
    for key, value in node.items():
        if key == "originalUriBaseIds":  # by any name
            hold_against_model(value["%SRCROOT%"], sarif_om.ArtifactLocation)
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, dict) and key not in _BAGS:
                hold_against_model(
                    child,
                    sarif_om.ThreadFlowLocation
                    if kind is sarif_om.ThreadFlow and key == "locations"
                    else _CLASSES[key],
                )
