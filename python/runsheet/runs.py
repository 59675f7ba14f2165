"""The runs of a program that `runsheet run sheet.csv --program 'python generate.py' --stays` keeps on a GPU:

    import runsheet

    pipe = load_the_model()
    for run in runsheet.runs():
        run.save(pipe(run.inputs["prompt"]))

An exception is the error of its run. In the body of the loop it also ends the program, which is then started
again; inside of `with run:` the model stays loaded. A line of JSON for each run comes from standard input, and
answers are lines of the file $RUNSHEET_ANSWERS, so the program may print whatever it likes.

Needs Python 3.9 and nothing else.
"""

import atexit
import json
import os
import sys
import traceback
from typing import Any, Dict, Iterator, List, Optional, TextIO, Union

__all__ = ["Run", "runs"]

_MAX_REASON = 2_000


class Run:
    """One row: its inputs, and the folder that takes its files, which is also the working directory."""

    def __init__(self, id: str, inputs: Dict[str, Any], dir: str) -> None:
        self.id = id
        self.inputs = inputs
        self.dir = dir
        self._is_answered = False

    def save(self, result: Any, name: Optional[str] = None) -> Any:
        """Writes a file of the run, which has its name only once it is whole. Returns its path.

        `result`: an object with a `save` method, such as a picture; bytes or a text; whatever else `json` can
        write; or an object with `images`, such as the result of a pipeline, or a list of pictures, each of which
        becomes a file. The default name is picture.png, file.bin, text.txt or data.json; the next file is
        picture-2.png.
        """
        several = _several(result)
        if several is not None:
            names = [name] if name is None or len(several) == 1 else _numbered(name, len(several))
            return [self.save(each, names[at % len(names)]) for at, each in enumerate(several)]
        if name is not None and os.path.basename(name) != name:
            raise ValueError(f"{name!r} is no name of a file: it leads to a folder")
        path = os.path.join(self.dir, name) if name else self._free(_name_of(result))
        # A picture takes its format from the ending, and nothing hidden is an output.
        parts = os.path.join(self.dir, ".part")
        os.makedirs(parts, exist_ok=True)
        part = os.path.join(parts, os.path.basename(path))
        _write(result, part)
        os.replace(part, path)
        return path

    def progress(self, share: float) -> None:
        """Shows how much of the run is done, from 0 to 1."""
        _append({"id": self.id, "progress": min(1.0, max(0.0, float(share)))})

    def fail(self, reason: Union[str, BaseException]) -> None:
        """Ends the run with this reason."""
        self._answer({"error": _reason(reason)})

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, kind: Any, error: Optional[BaseException], trace: Any) -> bool:
        if not isinstance(error, Exception):
            return False
        traceback.print_exception(kind, error, trace)
        self.fail(error)
        return True

    def _answer(self, answer: Dict[str, Any]) -> None:
        if not self._is_answered:
            self._is_answered = True
            # Whatever was printed so far belongs to this run.
            sys.stdout.flush()
            sys.stderr.flush()
            _append({"id": self.id, **answer})

    def _free(self, name: str) -> str:
        stem, ending = os.path.splitext(name)
        path, number = os.path.join(self.dir, name), 1
        while os.path.exists(path):
            number += 1
            path = os.path.join(self.dir, f"{stem}-{number}{ending}")
        return path


def runs() -> Iterator[Run]:
    """Says that the model is loaded, then yields each run. Ends when runsheet needs the program no more."""
    if "RUNSHEET_ANSWERS" not in os.environ:
        raise RuntimeError(
            "runsheet.runs() works in a program that runsheet keeps: "
            "runsheet run sheet.csv --program 'python generate.py' --stays"
        )
    return _runs(_lines())


def _runs(lines: TextIO) -> Iterator[Run]:
    home = os.getcwd()
    _watch_the_end()
    _append({"ready": True})
    for line in lines:
        if not line.strip():
            continue
        run = Run(**json.loads(line))
        os.chdir(run.dir)
        _current.append(run)
        yield run
        # The loop has come back, so the run is done.
        run._answer({"ok": True})
        _current.clear()
        os.chdir(home)


# The run that the program has in hand.
_current: List[Run] = []


def _lines() -> TextIO:
    """Takes standard input away, so that a child such as ffmpeg does not read the next run."""
    lines = os.fdopen(os.dup(0), "r", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return lines


def _watch_the_end() -> None:
    before = sys.excepthook

    def fail(kind: Any, error: BaseException, trace: Any) -> None:
        before(kind, error, trace)
        _append({"ready": False})
        for run in _current:
            run.fail(error)

    def left() -> None:
        # The exit takes a while, in which no other run is to come.
        _append({"ready": False})
        for run in _current:
            run.fail("the program ended before this run was done")

    sys.excepthook = fail
    atexit.register(left)


def _append(answer: Dict[str, Any]) -> None:
    line = json.dumps(answer).encode() + b"\n"
    file = os.open(os.environ["RUNSHEET_ANSWERS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        # One write, so that two threads do not mix their lines.
        os.write(file, line)
    finally:
        os.close(file)


def _reason(reason: Union[str, BaseException]) -> str:
    if isinstance(reason, BaseException):
        reason = traceback.format_exception_only(type(reason), reason)[-1]
    return reason.strip()[-_MAX_REASON:]


def _several(result: Any) -> Optional[List[Any]]:
    images = getattr(result, "images", None)
    if isinstance(images, (list, tuple)):
        return list(images)
    if isinstance(result, (list, tuple)) and result and all(_saves(each) for each in result):
        return list(result)
    return None


def _saves(result: Any) -> bool:
    return callable(getattr(result, "save", None))


def _numbered(name: str, count: int) -> List[Optional[str]]:
    stem, ending = os.path.splitext(name)
    return [name if at == 0 else f"{stem}-{at + 1}{ending}" for at in range(count)]


def _name_of(result: Any) -> str:
    if _saves(result):
        return "picture.png"
    if isinstance(result, (bytes, bytearray, memoryview)):
        return "file.bin"
    return "text.txt" if isinstance(result, str) else "data.json"


def _write(result: Any, path: str) -> None:
    if _saves(result):
        result.save(path)
        return
    if isinstance(result, (bytes, bytearray, memoryview)):
        data = bytes(result)
    else:
        text = result if isinstance(result, str) else json.dumps(result, indent=2)
        data = text.encode()
    with open(path, "wb") as file:
        file.write(data)
