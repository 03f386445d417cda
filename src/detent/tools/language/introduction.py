"""What we tell a server of ourselves when we meet."""

import os
from collections.abc import Mapping
from typing import Any

from detent.tools.language.positions import ENCODINGS
from detent.tools.language.uris import folder, uri_of
from detent.types.version import VERSION


def introduction(root: str, options: Mapping[str, Any]) -> dict[str, Any]:
    links = {"linkSupport": True}
    return {
        "processId": os.getpid(),
        "clientInfo": {"name": "detent", "version": VERSION},
        "rootUri": uri_of(root),
        "rootPath": root,
        "workspaceFolders": [folder(root)],
        "initializationOptions": dict(options),
        "capabilities": {
            "general": {"positionEncodings": list(ENCODINGS)},
            "window": {"workDoneProgress": True},
            "workspace": {
                "configuration": True,
                "workspaceFolders": True,
                "symbol": {},
            },
            "textDocument": {
                "synchronization": {"didSave": False},
                "publishDiagnostics": {"versionSupport": True},
                "diagnostic": {},
                "definition": links,
                "implementation": links,
                "typeDefinition": links,
                "references": {},
                "hover": {"contentFormat": ["markdown", "plaintext"]},
                "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
            },
            "experimental": {"serverStatusNotification": True},
        },
    }
