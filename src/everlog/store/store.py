"""What does a user hold? A knowledge base: facts and rules, updated atomically, with everything derived kept true.

>>> import everlog
>>> kb = everlog.open(engine="reference")
>>> _ = kb.add_rules("path(?x, ?y) :- edge(?x, ?y).   path(?x, ?z) :- edge(?x, ?y), path(?y, ?z).")
>>> change = kb.insert("edge", [("a", "b"), ("b", "c")])
>>> change.gained("path")
[('a', 'b'), ('a', 'c'), ('b', 'c')]
>>> kb.delete("edge", [("b", "c")]).lost("path")
[('a', 'c'), ('b', 'c')]
>>> list(kb.query("path(a, ?y)"))
[('b',)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everlog.addresses import is_remote
from everlog.errors import UsageError
from everlog.limits import Limits
from everlog.maintenance.reports import Progress
from everlog.maintenance.strategies import CHOOSE
from everlog.progress import Bar
from everlog.rules.column_names import declared_types
from everlog.store.changes import Change
from everlog.store.engines import refuse_views, rewrites_pay
from everlog.store.gathering import Gathering
from everlog.store.given_facts import FactsArgument
from everlog.store.history import HistoryLimits
from everlog.store.reading import ReadOnlyKnowledgeBase
from everlog.store.sources import Updates
from everlog.store.state import State
from everlog.store.telling import log_change, told_blocks, told_components
from everlog.store.timeline import Timeline
from everlog.store.transactions import Transaction, new_view
from everlog.store.updates import Update
from everlog.store.updating import RulesArgument, TakesUpdates
from everlog.store.views import View

if TYPE_CHECKING:
    from everlog.ontologies.ontology import Ontology
    from everlog.rules.diagnostics import Diagnostic
    from everlog.store.following import Follower
    from everlog.store.table_journal import TableJournal
    from everlog.tables.places import TablePlace


class KnowledgeBase(ReadOnlyKnowledgeBase, TakesUpdates):
    """Facts, rules, and what follows from them. Made by `everlog.open`. Any thread may ask and update it."""

    def __init__(
        self,
        *,
        engine: str = "columnar",
        limits: Limits | None = None,
        strategy: str = CHOOSE,
        rewrites: bool = True,
        history: HistoryLimits | None = None,
        coalesce: bool = False,
        strict: bool = False,
        doors: bool = True,
        progress: bool = True,
    ) -> None:
        """As `everlog.open` says; without `doors`, facts and rules have been checked before they come here."""
        self.progress = progress  # whether long work shows a bar, where somebody can see it
        rewrites = rewrites and rewrites_pay(engine)
        self._timeline = Timeline.of(engine, limits or Limits(), strategy, rewrites, history or HistoryLimits())
        self._gathering = (
            Gathering(
                lambda update, covers: self._apply(update, covers=covers),
                lambda: self.state().definitions.declared_names,
            )
            if coalesce
            else None
        )
        self._timeline.strict, self._timeline.doors = strict, doors
        self._follower: Follower | None = None  # of a knowledge base that another process writes

    def state(self) -> State:
        return self._timeline.read()

    def _timeline_or_none(self) -> Timeline:
        return self._timeline

    @property
    def version(self) -> int:
        """How many updates have led here."""
        return self._timeline.published.version

    @property
    def strict(self) -> bool:
        """Is a relation that nothing knows an error, in rules and queries, and not only warned of?"""
        return self._timeline.strict

    def check_rules(self) -> list[Diagnostic]:
        """What rules and views read and nobody has: relations, classes and properties without facts and rules."""
        from everlog.store.unknown_relations import unknown_in

        return unknown_in(self)

    @property
    def limits(self) -> Limits:
        """Bounds on each update and query."""
        return self._timeline.workings.limits

    @limits.setter
    def limits(self, limits: Limits) -> None:
        self._timeline.set_limits(limits)

    @property
    def strategy(self) -> str:
        """How updates are maintained unless they say otherwise."""
        return self._timeline.workings.strategy

    @property
    def on_progress(self) -> Progress | None:
        """What is called when a component is done."""
        return self._timeline.workings.progress

    @on_progress.setter
    def on_progress(self, progress: Progress | None) -> None:
        self._timeline.workings.progress = progress

    def open_folder(self, folder: Path) -> None:
        """Become what a folder keeps, and keep updates there from now on; `everlog.open` calls this once."""
        from everlog.store.durable import open_folder

        open_folder(self._timeline, folder)

    def open_tables(self, place: TablePlace, *, read_only: bool) -> None:
        """Become what the tables of a pipeline hold, and write updates there; `everlog.open` calls this once."""
        from everlog.store.table_folders import open_tables

        self._timeline.read_only = read_only
        open_tables(self._timeline, place)

    @property
    def tables(self) -> TableJournal | None:
        """The tables that it was opened from and writes its updates to, if that is so."""
        from everlog.store.table_journal import TableJournal

        journal = self._timeline.journal
        return journal if isinstance(journal, TableJournal) else None

    def follow_folder(self, folder: Path, *, by_itself: bool) -> None:
        """Become what a folder keeps, to be read; `everlog.open` calls this once."""
        from everlog.store.following import Follower

        self._follower = Follower(self._timeline, folder)
        if by_itself:
            self._follower.follow()

    def refresh(self) -> int:
        """Make the updates that another process has made since; gives the version. For `read_only=True`."""
        if self._follower is None:
            raise UsageError("this knowledge base follows no other", hint="everlog.open(path, read_only=True)")
        return self._follower.refresh()

    def close(self) -> None:
        """Let others open the folder of a durable knowledge base; it takes no updates from then on."""
        if self._timeline.journal is not None:
            self._timeline.journal.close()
        if self._follower is not None:
            self._follower.close()

    # --- copies -------------------------------------------------------------------------------------------------------

    def compact(self) -> Path | str:
        """Write a snapshot of a durable knowledge base now, so that opening it need not read the log before.

        Of tables, make new bases. Gives the snapshot's file, or where the tables are.
        """
        if self._timeline.journal is None:
            raise UsageError("this knowledge base is not kept in a folder", hint='open one: everlog.open("kb")')
        return self._timeline.journal.snapshot()

    def backup(self, path: str | Path) -> Path:
        """Write a copy into a new folder, which can be opened; updates may go on meanwhile."""
        from everlog.store.copies import backup
        from everlog.store.snapshots import known_of

        _check_local(path, "a backup")
        with self._timeline.paused() as state:
            known = known_of(self._timeline.workings.maintenance)
        backup(state, known, Path(path))
        return Path(path)

    def export(
        self, path: str | Path, *, format: str = "text", storage: Mapping[str, str] | None = None
    ) -> Sequence[Path | str]:
        """Write program, explicit facts and views as text files into a new folder.

        With `format="tables"`, write tables instead, derived facts too, which a pipeline goes on from; also to an
        object store, `s3://bucket/prefix`, with the options of `storage`. Gives what was written.
        """
        if format == "tables":
            from everlog.store.snapshots import known_of
            from everlog.store.table_copies import export_tables
            from everlog.tables.places import table_place

            with self._timeline.paused() as state:
                known = known_of(self._timeline.workings.maintenance)
            export_tables(state, known, table_place(path, storage))
            return [path]
        if format != "text":
            raise UsageError(f"nothing can be exported as {format!r}", hint='format="text" or format="tables"')
        from everlog.store.copies import export

        _check_local(path, "text files")
        return export(self.state(), Path(path))

    def import_from(self, path: str | Path, *, limits: Limits | None = None) -> Change:
        """Add program, facts and views of an export, as one update."""
        from everlog.store.copies import read_export

        program, facts, views = read_export(Path(path))
        with self.transaction() as transaction:
            transaction.update(insert=facts, add_rules=program, name=str(path), limits=limits)
            for name, text in views.items():
                transaction.apply(Update(), views=new_view(transaction.state(), name, text), limits=limits)
        assert transaction.change is not None
        return transaction.change

    def __enter__(self) -> KnowledgeBase:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __deepcopy__(self, memo: object = None) -> KnowledgeBase:
        raise UsageError(
            "a knowledge base cannot be copied as an object",
            hint="kb.snapshot() is a copy to read; everlog backup makes one of a folder, which can be opened",
        )

    __copy__ = __reduce__ = __deepcopy__  # type: ignore[assignment]

    # --- updates ------------------------------------------------------------------------------------------------------

    def load(
        self,
        path: str | Path,
        *,
        relation: str | None = None,
        types: Sequence[str] | None = None,
        header: bool = False,
        graph: str | None = None,
        nulls: str = "refuse",
        limits: Limits | None = None,
        progress: bool | None = None,
    ) -> Change:
        """Insert the facts of a file; the format is known by its name.

        Args:
            path: The file.
            relation: Where the rows of a table go; the file's stem by default.
            types: A type for each column of a CSV or TSV file; by default those that `@relation` declares, or else a
                value is what it looks like ("any").
            header: Whether the first row of a CSV or TSV file holds names, not values.
            graph: The named graph (an IRI) for RDF that names none.
            nulls: What becomes of rows in which a value is missing: "refuse", "skip" (`change.report.skipped` counts
                them), or read as "" ("empty").
            limits: Bounds on the update, reading included; the knowledge base's own otherwise.
            progress: Whether to show a bar if it takes long; as `everlog.open` was told otherwise.
        """
        from everlog.facts.missing import MissingValues
        from everlog.formats.compression import split_name
        from everlog.formats.reading import read_facts

        missing = MissingValues(nulls)
        stem, extension, _ = split_name(Path(path))
        if types is None and extension in (".csv", ".tsv"):
            types = declared_types(self.state().definitions.declared, relation or stem)
        facts = read_facts(path, relation=relation, types=types, header=header, graph=graph, missing=missing)
        with Bar(f"reading {path}", shown=self.progress if progress is None else progress) as bar:
            change = self.update(insert=told_blocks(facts, f"reading {path}", bar), limits=limits)
        change.report.skipped += missing.skipped
        return change

    def add_ontology(
        self, source: str | Path, *, name: str | None = None, way: str = "choose", limits: Limits | None = None
    ) -> Change:
        """Derive what follows from the axioms of an ontology in OWL 2 or RDFS.

        Its other triples are not loaded. `change.report.unused` has the axioms, or parts of them, that no rule can say.

        Args:
            source: An RDF file, or a text in Turtle.
            name: What to call the ontology; like its file by default.
            way: How axioms are held: "tables" as facts under a rule for each shape, "compiled" as a rule each, or as
                one of the two by shape and number ("choose"); "generic" as the triples they are, under all rules of
                OWL 2 RL, for axioms that data or rules conclude.
            limits: Bounds on the update; the knowledge base's own otherwise.
        """
        from everlog.store import ontologies

        ontology, called = ontologies.read_ontology(source), ontologies.ontology_name(source, name)
        return self._apply_ontology(ontology, lambda state: ontologies.arriving(state, called, ontology, way), limits)

    def replace_ontology(self, name: str, source: str | Path, *, limits: Limits | None = None) -> Change:
        """Make an ontology what another file or text says: one update by the axioms in which they differ."""
        from everlog.store import ontologies

        ontology = ontologies.read_ontology(source)
        return self._apply_ontology(ontology, lambda state: ontologies.becoming(state, name, ontology), limits)

    def remove_ontology(self, name: str, *, limits: Limits | None = None) -> Change:
        """Take away all axioms of an ontology, and what follows only from them."""
        from everlog.store import ontologies

        return self._apply_ontology(None, lambda state: ontologies.leaving(state, name), limits)

    def add_axioms(self, source: str | Path, *, ontology: str, limits: Limits | None = None) -> Change:
        """Add axioms, a file or a text in Turtle, to an ontology, which is made if it is not there."""
        from everlog.store import ontologies

        read = ontologies.read_ontology(source)
        called = ontologies.ontology_name(source, ontology)
        return self._apply_ontology(read, lambda state: ontologies.gaining(state, called, read), limits)

    def remove_axioms(self, source: str | Path, *, ontology: str, limits: Limits | None = None) -> Change:
        """Take axioms, a file or a text in Turtle, away from an ontology."""
        from everlog.store import ontologies

        read = ontologies.read_ontology(source)
        return self._apply_ontology(read, lambda state: ontologies.losing(state, ontology, read), limits)

    def _apply_ontology(
        self, ontology: Ontology | None, update: Callable[[State], Update], limits: Limits | None
    ) -> Change:
        change: Change = self._timeline.run(
            lambda transaction: transaction.only(update(transaction.state()), limits=limits)
        )
        if ontology is not None:
            change.report.unused = ontology.unused
        log_change(change)
        return change

    def apply(self, update: Update, **options: Any) -> Change:
        """Apply an update that was made before; `options` are `strategy`, `limits` and `name`, as in `update`."""
        if self._gathering is not None and not update.changes_rules and not any(options.values()):
            return self._gathering.update(update)
        return self._apply(update, **options)

    def _apply(self, update: Update, **options: Any) -> Change:
        with Bar("updating", shown=self.progress) as bar:
            if bar.is_shown and self.on_progress is None:
                options["progress"] = told_components(bar)
            change: Change = self._timeline.run(lambda transaction: transaction.only(update, **options))
        log_change(change)  # when the bar is gone: a line of a log would tear it
        return change

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Several updates, and queries that see them: all become the next version at the end of the block, or none.

        Others see nothing of it before, and updates of other threads wait for its end.
        """
        return self._timeline.transaction()

    def what_if(
        self,
        *,
        insert: FactsArgument | None = None,
        delete: FactsArgument | None = None,
        add_rules: RulesArgument | None = None,
        remove_rules: Sequence[str] = (),
        nulls: str = "refuse",
        limits: Limits | None = None,
    ) -> Change:
        """The change that an update would make; nothing is changed."""
        with self._timeline.writing() as transaction:
            return transaction.what_if(Update.of(insert, delete, add_rules, remove_rules, nulls), limits=limits)

    def sync_rules(self, rules: RulesArgument, *, name: str = "<rules>", dry_run: bool = False) -> Change:
        """Make the rules those of a text, as one update: what is there in the same words stays.

        Args:
            rules: All rules that there are to be. Facts among them are inserted; none is deleted.
            name: What the text is called in error messages.
            dry_run: Give the change that this would make, and make none; `change.report.rules` has the rules before and
                after.
        """
        if dry_run:
            with self._timeline.writing() as transaction:
                return transaction.what_if(transaction.sync_update(rules, name))
        change: Change = self._timeline.run(
            lambda transaction: transaction.only(transaction.sync_update(rules, name), name=name)
        )
        return change

    def stream(
        self,
        updates: Updates,
        *,
        strategy: str | None = None,
        marking: bool | str = False,
        coalesce: bool = False,
        limits: Limits | None = None,
    ) -> Iterator[Change]:
        """Apply updates as they arrive, and yield a change for each.

        Args:
            updates: An iterator, which a thread reads one update ahead; a queue, which None ends; or an update file,
                by its name or open.
            strategy: As in `update`.
            marking: Look at the next update, if it is there already, while working on this one; for `bf` and `dred`.
                "printed" passes marks on by rule applications alone.
            coalesce: Where several updates wait, apply their net effect at once.
            limits: Bounds on each update; the knowledge base's own otherwise.
        """
        from everlog.store.streams import stream

        return stream(self, updates, strategy=strategy, marking=marking, coalesce=coalesce, limits=limits)

    def sparql_update(
        self,
        text: str,
        *,
        base: str | None = None,
        load_from: str | Path | None = None,
        limits: Limits | None = None,
    ) -> list[Change]:
        """Apply a request in SPARQL Update as one transaction; gives a change for each of its operations.

        Args:
            text: INSERT DATA, DELETE DATA, DELETE/INSERT … WHERE, LOAD, CLEAR, DROP, CREATE, ADD, MOVE, COPY.
            base: What relative IRIs in it are relative to.
            load_from: The folder below which LOAD may read files; without one it may not read any.
            limits: Bounds on the request; the knowledge base's own otherwise.
        """
        with self.transaction() as transaction:
            return transaction.sparql_update(text, base=base, load_from=load_from, limits=limits)

    # --- views --------------------------------------------------------------------------------------------------------

    def view(self, name: str, text: str | None = None, *, limits: Limits | None = None) -> View:
        """Keep the answer to a SPARQL query true from now on; without a text, the view of that name."""
        if text is None:
            return super().view(name)
        refuse_views(self._timeline.workings.engine)

        def make(transaction: Transaction) -> Change:
            return transaction.only(Update(), views=new_view(self._timeline.newest, name, text), limits=limits)

        with Bar(f"making the view {name}", shown=self.progress):
            change = self._timeline.run(make)
        log_change(change)
        return super().view(name)

    def drop_view(self, name: str) -> None:
        """Stop keeping a view, and everything that only it needed."""

        def drop(transaction: Transaction) -> Change:
            newest = self._timeline.newest
            newest.view(name)
            remaining = {other: view for other, view in newest.views.items() if other != name}
            return transaction.only(Update(), views=remaining)

        log_change(self._timeline.run(drop))

    def subscribe(self, callback: Callable[[Any], None], *, view: str | None = None) -> Callable[[], None]:
        """Call this after every update, with its change, or with that of a view; gives a function that ends it."""
        if view is not None:
            self.view_definition(view)
        return self._timeline.subscriptions.add(callback, view)


def _check_local(path: str | Path, what: str) -> None:
    if is_remote(str(path)):
        raise UsageError(f"{path}: {what} cannot be written there", hint='a local folder, or format="tables" of export')
