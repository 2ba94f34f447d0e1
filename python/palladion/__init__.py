"""Palladion: runs Pallas kernels on a machine with no GPU or TPU, and says what they compute."""

from palladion._library import PalladionError
from palladion.checking import check
from palladion.exporter.errors import ExportError
from palladion.interception import export
from palladion.report import DefectError
from palladion.running import PalladionWarning, record, run
from palladion.version import VERSION as __version__

__all__ = ["DefectError", "ExportError", "PalladionError", "PalladionWarning", "__version__", "check", "export", "record", "run"]
