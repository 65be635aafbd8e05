"""``rankplug completion``: lets a shell complete commands, options, plugins and their parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer

from rankplug.system import hand_over

BASH = r"""_rankplug() {
    local IFS=$'\n'
    COMPREPLY=($(rankplug completion bash --words -- "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null))
    compopt -o nospace 2>/dev/null
}
complete -o default -F _rankplug rankplug"""
ZSH = r"""#compdef rankplug
_rankplug() {
    local -a found
    found=("${(@f)$(rankplug completion zsh --words -- "${(@Q)words[1,CURRENT]}" 2>/dev/null)}")
    found=(${found:#})
    (( $#found )) || { _files; return }
    local -a whole=(${${(M)found:#* }% })
    compadd -S '' -- ${found:#* }
    compadd -- $whole
}
compdef _rankplug rankplug"""
FISH = r"""function _rankplug
    set -l word (commandline -ct)
    set -l found (rankplug completion fish --words -- (commandline -opc) $word 2>/dev/null)
    if set -q found[1]
        string trim --right -- $found
    else if not string match -q '*[[]*' -- $word
        __fish_complete_path $word
    end
end
complete -c rankplug -f -a '(_rankplug)'"""


Complete = Callable[[str], list[str]]


class Shell(StrEnum):
    """A shell that can complete."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


SCRIPTS = {Shell.BASH: BASH, Shell.ZSH: ZSH, Shell.FISH: FISH}


def register(app: typer.Typer) -> None:
    """Add the command."""

    def completion(
        shell: Annotated[Shell, typer.Argument(help="bash, zsh or fish.")],
        words: Annotated[list[str] | None, typer.Argument(hidden=True, help="Words that a shell hands over.")] = None,
        of_words: Annotated[bool, typer.Option("--words", hidden=True, help="Complete the last of the words.")] = False,
    ) -> None:
        """Print what makes a shell complete commands, options, plugins and parameters.

        For bash add eval "$(rankplug completion bash)" to ~/.bashrc, for zsh the same with zsh to ~/.zshrc, and for
        fish write it to ~/.config/fish/completions/rankplug.fish.
        """
        if not of_words:
            hand_over(SCRIPTS[shell])
            return
        typed, shown_from = _split(*(words or ["", ""])[:2]) if shell is Shell.BASH else (words or [""], 0)
        # A quotation mark that is not closed yet is still there in other shells.
        typed[-1] = typed[-1].lstrip("'\"")
        for candidate in candidates(typer.main.get_command(app), typed[1:]):
            hand_over(candidate[shown_from:])

    app.command("completion")(completion)


def _plugins(*kinds: str) -> Complete:
    """Return what completes the reference of a plugin of some kinds, or of any."""

    def complete(text: str) -> list[str]:
        from rankplug.registry import KINDS, complete_reference

        return [completion for kind in kinds or KINDS for completion in complete_reference(kind, text)]

    return complete


def _kinds(text: str) -> list[str]:
    from rankplug.registry import KINDS

    return [kind for kind in KINDS if kind.startswith(text)]


def _profiles(text: str) -> list[str]:
    from rankplug.studies import PROFILES

    return [profile for profile in PROFILES if profile.startswith(text)]


def _parts_of_a_grid(text: str) -> list[str]:
    """Complete ``part=value`` of a grid, or the name of a study."""
    from rankplug.registry import complete_reference
    from rankplug.store import PLUGIN_PARTS, Combination

    part, equals, value = text.partition("=")
    if not equals:
        parts = [f"{name}=" for name in Combination.model_fields if name.startswith(part)]
        return [*parts, *(complete_reference("study", part) if part else [])]
    kind = PLUGIN_PARTS.get(part)
    return [f"{part}={rest}" for rest in complete_reference(kind, value)] if kind else []


COMPLETED: dict[str, Complete] = {
    "backend": _plugins("backend"),
    "dataset": _plugins("dataset"),
    "data": _plugins("dataset"),
    "kind": _kinds,
    "loss": _plugins("loss"),
    "metric": _plugins("metric"),
    "data name": _plugins("dataset"),
    "name": _plugins(),
    "names": _plugins("study"),
    "plugin": _plugins(),
    "profile": _profiles,
    "sampler": _plugins("sampler"),
    "scorer": _plugins("scorer"),
    "transform": _plugins("transform"),
    "words": _parts_of_a_grid,
}
"""Functions that complete an argument or option, by its name, or by that of its group and its own."""


def candidates(command: Any, words: Sequence[str]) -> list[str]:
    """Return what the last of the words after a command's name may become; nothing where it is a file's name.

    Args:
        command: as Click has it.
        words: that were typed, the last perhaps empty.
    """
    *before, current = words
    position, waiting, group = 0, None, ""
    for word in before:
        if waiting is not None:
            waiting = None
        elif word.startswith("-"):
            waiting = next(
                (parameter for parameter in command.params if word in parameter.opts and _takes_value(parameter)), None
            )
        elif word in getattr(command, "commands", {}):
            command, position, group = command.commands[word], 0, command.name
        else:
            position += 1
    if waiting is None and current.startswith("-"):
        named = [
            opt for parameter in command.params if not getattr(parameter, "hidden", False) for opt in parameter.opts
        ]
        return [f"{opt} " for opt in named if opt.startswith(current) and opt.startswith("--")]
    arguments = [parameter for parameter in command.params if not parameter.opts[0].startswith("-")]
    if waiting is None and getattr(command, "commands", None) and not arguments:
        return [f"{name} " for name in command.commands if name.startswith(current)]
    asked = waiting or (arguments[min(position, len(arguments) - 1)] if arguments else None)
    if asked is None:
        return []
    complete = COMPLETED.get(f"{group} {asked.name}") or COMPLETED.get(asked.name)
    if complete is not None:
        return complete(current)
    context = command.make_context("rankplug", [], resilient_parsing=True)
    return [completion.value for completion in asked.shell_complete(context, current) if completion.type == "plain"]


def _takes_value(parameter: Any) -> bool:
    return not getattr(parameter, "is_flag", False)


def _split(line: str, breaks: str) -> tuple[list[str], int]:
    """Return the words of an unfinished line of bash, and where in the last of them bash lets a completion begin."""
    words: list[str] = []
    word: str | None = None
    quote, cut, spelled = "", 0, False
    for letter in line:
        if letter.isspace() and not quote and not spelled:
            words += [word] if word is not None else []
            word, cut = None, 0
            continue
        word = word or ""
        if spelled or not (letter == quote or letter in "\\" or (letter in "'\"" and not quote)):
            word += letter
            cut = len(word) if letter in breaks and not quote else cut
            spelled = False
        elif letter == "\\":
            spelled = True
        else:
            quote = "" if quote else letter
            cut = len(word)
    return [*words, word or ""], cut
