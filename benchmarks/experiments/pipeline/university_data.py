"""What is in the benchmark's universities? The people, courses and papers of LUBM, in its proportions.

Not the Lehigh University Benchmark itself: its classes and properties, about as many of each as it has, drawn
from NumPy's generator, and as much of it as asked for. The part of its ontology that rules need stands before the first
university, as triples.

    Y. Guo, Z. Pan, J. Heflin. LUBM: A Benchmark for OWL Knowledge Base Systems. Journal of Web Semantics 3, 2005.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.datasets.ntriples import joined, lines
from everlog.facts.terms import RDF

UB = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"
RDFS, OWL = "http://www.w3.org/2000/01/rdf-schema#", "http://www.w3.org/2002/07/owl#"

RULES = f"""\
PREFIX rdf: <{RDF}>
PREFIX rdfs: <{RDFS}>
PREFIX owl: <{OWL}>
PREFIX ub: <{UB}>
[?x, rdf:type, ?d] :- [?x, rdf:type, ?c], [?c, rdfs:subClassOf, ?d].
[?x, ?q, ?y] :- [?x, ?p, ?y], [?p, rdfs:subPropertyOf, ?q].
[?y, ?q, ?x] :- [?x, ?p, ?y], [?p, owl:inverseOf, ?q].
[?x, ?p, ?z] :- [?p, rdf:type, owl:TransitiveProperty], [?x, ?p, ?y], [?y, ?p, ?z].
ub:Chair[?x] :- ub:headOf[?x, ?y], ub:Department[?y].
"""
OUTPUTS = {"triple": "triple.nt"}

_SUBCLASSES = """
    FullProfessor Professor  AssociateProfessor Professor  AssistantProfessor Professor  Professor Faculty
    Lecturer Faculty  Faculty Employee  Employee Person  Chair Professor
    UndergraduateStudent Student  GraduateStudent Student  Student Person
    University Organization  Department Organization  ResearchGroup Organization
""".split()
_SUBPROPERTIES = """
    headOf worksFor  worksFor memberOf
    undergraduateDegreeFrom degreeFrom  mastersDegreeFrom degreeFrom  doctoralDegreeFrom degreeFrom
""".split()
# The least and the most of each kind in a department.
_FACULTY = {"FullProfessor": (7, 10), "AssociateProfessor": (10, 14), "AssistantProfessor": (8, 11), "Lecturer": (5, 7)}
_TRIPLES_OF_A_UNIVERSITY = 120_000  # about


def university_lines(triples: int, seed: int) -> Iterator[pa.Array]:
    """The ontology, then one university after the other, without end."""
    random = np.random.RandomState(seed)
    universities = 1 + triples // _TRIPLES_OF_A_UNIVERSITY
    yield pa.array([f"{line} .\n" for line in _ontology()])
    for number in itertools.count():
        yield from _University(number, universities, random).lines()


def _ontology() -> Iterator[str]:
    for word, names in ((f"<{RDFS}subClassOf>", _SUBCLASSES), (f"<{RDFS}subPropertyOf>", _SUBPROPERTIES)):
        for below, above in zip(names[::2], names[1::2], strict=True):
            yield f"{_ub(below)} {word} {_ub(above)}"
    yield f"{_ub('degreeFrom')} <{OWL}inverseOf> {_ub('hasAlumnus')}"
    yield f"{_ub('subOrganizationOf')} <{RDF}type> <{OWL}TransitiveProperty>"


@dataclass(frozen=True)
class _Things:
    """Things of one kind, each of them part of another one: a department's professors, a professor's papers."""

    kind: str
    stem: pa.Array  # an IRI without its closing bracket

    def __len__(self) -> int:
        return len(self.stem)

    @property
    def term(self) -> pa.Array:
        return joined(self.stem, ">")

    @property
    def owner_term(self) -> pa.Array:
        return pc.replace_substring_regex(self.stem, "/[^/]*$", ">")


class _University:
    def __init__(self, number: int, universities: int, random: np.random.RandomState) -> None:
        self._iri = f"<http://www.university{number}.edu"
        self._universities, self._random = universities, random

    def lines(self) -> Iterator[pa.Array]:
        university = _Things("University", pa.array([self._iri]))
        yield from self._named(university)
        departments = self._parts(university, "Department", 15, 25)
        yield from self._named(departments)
        yield lines(departments.term, _ub("subOrganizationOf"), departments.owner_term)
        groups = self._parts(departments, "ResearchGroup", 10, 20)
        yield from self._named(groups)
        yield lines(groups.term, _ub("subOrganizationOf"), groups.owner_term)
        yield lines(joined(departments.stem, "/FullProfessor0>"), _ub("headOf"), departments.term)
        for kind, (least, most) in _FACULTY.items():
            faculty = self._parts(departments, kind, least, most)
            yield from self._person(faculty)
            yield lines(faculty.term, _ub("worksFor"), faculty.owner_term)
            yield from self._work(faculty)

    def _work(self, faculty: _Things) -> Iterator[pa.Array]:
        """What comes with teachers: degrees, courses, papers, students."""
        for degree in ("undergraduateDegreeFrom", "mastersDegreeFrom", "doctoralDegreeFrom"):
            yield lines(faculty.term, _ub(degree), self._any_university(len(faculty)))
        courses = self._parts(faculty, "Course", 1, 2)
        yield from self._named(courses)
        yield lines(courses.owner_term, _ub("teacherOf"), courses.term)
        papers = self._parts(faculty, "Publication", 5, 15)
        yield from self._named(papers)
        yield lines(papers.term, _ub("publicationAuthor"), papers.owner_term)
        undergraduates = self._parts(faculty, "UndergraduateStudent", 8, 14)
        yield from self._students(undergraduates, courses, taken=3)
        graduates = self._parts(faculty, "GraduateStudent", 3, 4)
        yield from self._students(graduates, courses, taken=2)
        yield lines(graduates.term, _ub("advisor"), graduates.owner_term)
        yield lines(graduates.term, _ub("undergraduateDegreeFrom"), self._any_university(len(graduates)))

    def _students(self, students: _Things, courses: _Things, taken: int) -> Iterator[pa.Array]:
        yield from self._person(students)
        department = pc.replace_substring_regex(students.stem, "/[^/]*/[^/]*$", ">")
        yield lines(students.term, _ub("memberOf"), department)
        first = self._random.randint(0, len(courses), len(students))
        for next_one in range(taken):
            course = courses.term.take(pa.array((first + next_one) % len(courses)))
            yield lines(students.term, _ub("takesCourse"), course)

    def _person(self, people: _Things) -> Iterator[pa.Array]:
        yield from self._named(people)
        number = np.arange(len(people))
        mailbox = pc.replace_substring(people.stem, "<http://www.", "")
        yield lines(people.term, _ub("emailAddress"), joined('"', number, "@", mailbox, '"'))
        yield lines(people.term, _ub("telephone"), joined('"555-', self._random.randint(1000, 10000, len(people)), '"'))

    def _named(self, things: _Things) -> Iterator[pa.Array]:
        yield lines(things.term, f"<{RDF}type>", _ub(things.kind))
        yield lines(things.term, _ub("name"), joined(f'"{things.kind}', np.arange(len(things)), '"'))

    def _parts(self, owners: _Things, kind: str, least: int, most: int) -> _Things:
        """Between `least` and `most` things for each owner, numbered from 0."""
        counts = self._random.randint(least, most + 1, len(owners))
        owner = np.repeat(np.arange(len(owners)), counts)
        number = np.arange(len(owner)) - np.repeat(counts.cumsum() - counts, counts)
        return _Things(kind, joined(owners.stem.take(pa.array(owner)), f"/{kind}", number))

    def _any_university(self, rows: int) -> pa.Array:
        return joined("<http://www.university", self._random.randint(0, self._universities, rows), ".edu>")


def _ub(name: str) -> str:
    return f"<{UB}{name}>"
