"""What was measured, a JSON object a line, appended as it comes, so that nothing is lost and a bench can go on."""
import json
from pathlib import Path

KEY = ("kind", "data", "problem", "threads", "solver", "target", "round")


class Results:
    """The records of OUT/results.jsonl."""

    def __init__(self, path, keep):
        self.path, self.records = Path(path), []
        if keep and self.path.exists():
            # A line that was cut off when the bench was killed is measured again.
            whole = [line for line in self.path.read_text().splitlines(keepends=True) if line.endswith("\n")]
            self.records = [json.loads(line) for line in whole]
            self.path.write_text("".join(whole))
        elif not keep:
            self.path.write_text("")
        self.known = {self.key(record): record for record in self.records}

    @staticmethod
    def key(record):
        """What tells records apart."""
        return tuple(record.get(name) for name in KEY)

    def get(self, **fields):
        """The record of these fields, or None."""
        return self.known.get(self.key(fields))

    def add(self, **record):
        """Appends a record and returns it."""
        with self.path.open("a") as stream:
            stream.write(json.dumps(record) + "\n")
        self.records.append(record)
        self.known[self.key(record)] = record
        return record

    def of(self, kind, **fields):
        """All records of a kind with these fields."""
        return [r for r in self.known.values() if r["kind"] == kind and all(r.get(k) == v for k, v in fields.items())]
