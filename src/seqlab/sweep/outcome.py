"""What became of the points of a sweep."""

from dataclasses import dataclass, field

INTERRUPTED = 130  # exit status after Ctrl-C, as shells have it


@dataclass
class Outcome:
    """Ids of the points by what became of them."""

    trained: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)  # trained by another process meanwhile
    untouched: list[str] = field(default_factory=list)

    @property
    def exit_status(self) -> int:
        """1 when a point failed, else 0."""
        return 1 if self.failed else 0

    def add(self, kind: str, identity: str) -> None:
        """Note one point under the name of a field."""
        getattr(self, kind).append(identity)

    def summary(self) -> str:
        """One line of counts, or "all points done" where there was nothing to do."""
        total = sum(map(len, vars(self).values()))
        if len(self.skipped) == total:
            return f"all points done ({total})"
        words = {
            "trained": self.trained,
            "already done": self.skipped,
            "failed": self.failed,
            "trained by another process": self.elsewhere,
            "not started": self.untouched,
        }
        counts = [f"{len(found)} {word}" for word, found in words.items() if found]
        return f"{total} points: {', '.join(counts)}"
