"""Writes every generated page into a folder."""

from __future__ import annotations

import sys
from pathlib import Path

from rankplug.documentation.losses import write_loss_pages

write_loss_pages(Path(sys.argv[1] if len(sys.argv) > 1 else "docs"))
