"""How far is work that takes long? A bar says so, on a terminal and in a notebook, once it has taken a second.

Whoever works says where it is, which costs next to nothing: a thread of its own draws, now and then, and only where
somebody looks. Work within work shares one bar, which shows what was said last.
"""

from __future__ import annotations

import sys
import threading
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

DELAY = 1.0  # seconds that work may take without a bar
EVERY = 0.2  # seconds between two drawings


class Bar:
    """Says how far some work is; to be used in a `with` block, and drawn if that takes long and anybody looks."""

    def __init__(self, what: str, *, shown: bool = True) -> None:
        self.what = what
        self.part: float | None = None  # between 0 and 1, where it is known
        self.started = self.said = 0.0  # when it began, and when something was said last
        self._drawn = shown and _place() is not None

    def __enter__(self) -> Bar:
        if self._drawn:
            self.started = time.monotonic()
            _DRAWER.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Take the bar away: results come next."""
        if self._drawn:
            self._drawn = False
            _DRAWER.remove(self)

    def __call__(self, what: str, part: float | None = None) -> None:
        """The work has come this far."""
        self.what, self.part, self.said = what, part, time.monotonic()

    @property
    def is_shown(self) -> bool:
        """Would anybody see what it says?"""
        return self._drawn


def _place() -> str | None:
    """Where a bar would be seen."""
    # Only who runs in a notebook has imported this, and only a kernel's shell has that class.
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    if type(shell).__name__ == "ZMQInteractiveShell":
        return "notebook"
    return "terminal" if sys.stderr is not None and sys.stderr.isatty() else None


class _Drawing(Protocol):
    def draw(self, what: str, part: float | None, seconds: float) -> None: ...

    def clear(self) -> None: ...


class _Terminal:
    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = SpinnerColumn(), BarColumn(bar_width=24), TimeElapsedColumn(), TextColumn("{task.description}")
        console = Console(stderr=True)
        self._rich: RichProgress = Progress(*columns, console=console, transient=True, auto_refresh=False)
        self._task: TaskID = self._rich.add_task("", total=None)
        self._rich.start()

    def draw(self, what: str, part: float | None, seconds: float) -> None:
        from rich.markup import escape

        total, done = (1.0, part) if part is not None else (None, 0.0)
        self._rich.update(self._task, description=escape(what), total=total, completed=done)
        self._rich.refresh()

    def clear(self) -> None:
        self._rich.stop()


class _Notebook:
    def __init__(self) -> None:
        self._handle: Any = None

    def draw(self, what: str, part: float | None, seconds: float) -> None:
        from html import escape

        bar = "<progress></progress>" if part is None else f'<progress value="{part:.3f}"></progress>'
        self._show(f"{bar} {seconds:.0f} s {escape(what)}")

    def _show(self, html: str) -> None:
        ipython = import_module("IPython.display")  # which is there, since this is a notebook
        if self._handle is None:
            self._handle = ipython.display(ipython.HTML(html), display_id=True)
        else:
            self._handle.update(ipython.HTML(html))

    def clear(self) -> None:
        if self._handle is not None:
            self._show("")


class _Drawer:
    """The bars there are, outermost first, and the thread that draws them while there are any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bars: list[Bar] = []
        self._drawing: _Drawing | None = None
        self._thread: threading.Thread | None = None
        self._wanted = threading.Event()

    def add(self, bar: Bar) -> None:
        with self._lock:
            self._bars.append(bar)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="everlog-progress", daemon=True)
                self._thread.start()
        self._wanted.set()

    def remove(self, bar: Bar) -> None:
        with self._lock:
            self._bars = [each for each in self._bars if each is not bar]
            if not self._bars:
                self._wanted.clear()
                if self._drawing is not None:
                    self._drawing.clear()
                    self._drawing = None

    def _run(self) -> None:
        while True:
            self._wanted.wait()
            time.sleep(EVERY)
            with self._lock:
                self._draw()

    def _draw(self) -> None:
        if not self._bars:
            return
        first, last = self._bars[0], max(self._bars, key=lambda bar: bar.said)
        seconds = time.monotonic() - first.started
        if seconds < DELAY:
            return
        if self._drawing is None:
            self._drawing = _Notebook() if _place() == "notebook" else _Terminal()
        self._drawing.draw(last.what, last.part, seconds)


_DRAWER = _Drawer()
