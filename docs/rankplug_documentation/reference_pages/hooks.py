"""The page of every hook a plugin may implement, from the hook specifications."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from rankplug import hookspecs

HEAD = """# Hooks

Made by `make docs` from `rankplug/hookspecs.py`. A plugin is a module with functions of these names, marked
`@rankplug.hookimpl`, that an entry point in the group `rankplug` names. It imports nothing heavy: implementations are
named as `"package.module:object"` and imported at first use. Every hook is optional.

```python
import rankplug as rp


@rp.hookimpl
def rankplug_losses():
    return [rp.LossSpecification(name="my_loss", summary="one line", implementation="my_package.my_loss:my_loss")]
```

"""


def hooks() -> Iterator[Callable[..., Any]]:
    """Yield every hook specification."""
    for name, function in vars(hookspecs).items():
        if name.startswith("rankplug_"):
            yield function


def hooks_page() -> str:
    """Return the text of the page."""
    return HEAD + "\n".join(_section(hook) for hook in hooks())


def _section(hook: Callable[..., Any]) -> str:
    signature = inspect.signature(hook)
    parameters = ", ".join(str(parameter) for parameter in signature.parameters.values()).replace("'", "")
    answer = str(signature.return_annotation).replace("registry.", "").strip("'")
    lines = [f"## {hook.__name__}", "", "```text", f"def {hook.__name__}({parameters}) -> {answer}", "```", ""]
    lines += [inspect.cleandoc(hook.__doc__ or ""), ""]
    if "Specification" in answer:
        name = answer.removeprefix("Iterable[").removesuffix("]")
        lines += [f"What a specification may say: [`{name}`](python.md#rankplug.registry.specifications.{name}).", ""]
    return "\n".join(lines)
