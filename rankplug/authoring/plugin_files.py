"""Plugins of a file that is in no package, or in one that is not installed."""

from __future__ import annotations

import importlib
import sys
import warnings
from importlib import metadata
from pathlib import Path

from rankplug.errors import BrokenPluginError
from rankplug.losses import SessionPluginWarning
from rankplug.registry import GROUP, SESSION, Plugin, Registry, registry


def plugins_of_file(path: str | Path) -> list[Plugin]:
    """Load the plugins of a file into this process, in place of installed ones of the same names.

    A file offers plugins by hooks, as a package's plugin module does, or by functions marked ``@rankplug.loss``.
    """
    file = Path(path).resolve()
    if not file.is_file():
        raise BrokenPluginError(f"there is no file {path}")
    root, name = _module_of(file)
    loaded = sys.modules.get(name)
    if name in sys.stdlib_module_names or (loaded and Path(loaded.__file__ or "").resolve() != file):
        raise BrokenPluginError(f"{path} has the name of another module, {name}; rename it")
    if sys.path[:1] != [str(root)]:
        sys.path.insert(0, str(root))
    importlib.invalidate_caches()
    # What was changed since it was read the last time is read again.
    sys.modules.pop(name, None)
    before = _of_session()
    with warnings.catch_warnings():
        # That a loss of a session is lost with it is no news to those who wrote it into a file.
        warnings.simplefilter("ignore", SessionPluginWarning)
        plugins = Registry([metadata.EntryPoint(name=file.stem, value=name, group=GROUP)])
    if plugins.broken:
        raise BrokenPluginError(f"{path} cannot be used: {plugins.broken[0].reason}")
    for plugin in plugins.plugins():
        registry().add(plugin.specification, version=plugin.version, instead=True)
    offered = [plugin for plugin in _of_session() if not any(plugin is other for other in before)]
    if not offered:
        raise BrokenPluginError(
            f"{path} offers no plugin: it has neither a hook, such as rankplug_losses marked @rankplug.hookimpl, nor a"
            " function marked @rankplug.loss"
        )
    return offered


def _module_of(file: Path) -> tuple[Path, str]:
    """Return the folder from which a file can be imported as a module, and the module's name."""
    root, parts = file.parent, [file.stem]
    while (root / "__init__.py").is_file():
        root, parts = root.parent, [root.name, *parts]
    return root, ".".join(parts)


def _of_session() -> list[Plugin]:
    return [plugin for plugin in registry().plugins() if plugin.distribution == SESSION]
