"""What is in the benchmark's shop? Products, offers and reviews in the proportions of the Berlin SPARQL Benchmark.

Not its generator: its classes and properties, about as many of each for a product as it has, drawn from NumPy's
generator. A product has its type and all types above it, as with forward chaining. Texts are shorter than the
original's, as many of them different.

    Christian Bizer, Andreas Schultz. The Berlin SPARQL Benchmark. International Journal on Semantic Web and Information
    Systems 5(2), 2009.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.datasets.ntriples import joined
from benchmarks.experiments.sparql.triples import block
from everlog.facts.blocks import FactBlock
from everlog.facts.terms import RDF_TYPE

Numbers = npt.NDArray[np.int64]
_Column = Callable[[int], pa.Array]  # so many values

INSTANCES = "http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/instances/"
BSBM = "http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/vocabulary/"
RDFS, DC, FOAF = (
    "http://www.w3.org/2000/01/rdf-schema#",
    "http://purl.org/dc/elements/1.1/",
    "http://xmlns.com/foaf/0.1/",
)
REV = "http://purl.org/stuff/rev#"
COUNTRIES = "http://downlode.org/rdf/iso-3166/countries#"

OFFERS, REVIEWS = 20, 10  # for each product
_PRODUCTS_OF_A_PRODUCER, _OFFERS_OF_A_VENDOR = 33, 2_000
_REVIEWS_OF_A_REVIEWER, _REVIEWS_OF_A_SITE = 20, 10_000
_OF_A_TYPES_FEATURES = 0.29  # each feature of a product's types is its own with this probability
_RATED = 0.7
# How likely a product has each of its six numeric, and each of its six textual properties.
_HAS = (1.0, 1.0, 1.0, 0.47, 0.53, 0.17)
_COUNTRY = ("US", "GB", "JP", "CN", "DE", "FR", "ES", "RU", "KR", "AT")
_WORDS = """reformable whines regarded batteries mushroomed occupied delayers gloving conformism oozed granularly
    bistros laminating outlives bounteousness fillets tenderer spaceship sheathers courtyards welcomed sentiments
    coachers learnings demagoguery bobbed hauberks gravestones mantelet trolled davenports fringed resigning""".split()


@dataclass(frozen=True)
class Shop:
    """The triples, and what queries are instantiated with."""

    blocks: tuple[FactBlock, ...]
    products: list[str]  # their keys, like those below
    leaf: Numbers  # the type of each product, as a number
    features: list[Numbers]  # of each product, as numbers


def shop(products: int, seed: int = 1) -> Shop:
    """A shop with so many products."""
    return _Maker(products, seed).shop()


def type_key(number: int) -> str:
    return f"<{INSTANCES}ProductType{number}"


def feature_key(number: int) -> str:
    return f"<{INSTANCES}ProductFeature{number}"


def _levels(products: int) -> list[int]:
    """How many types lie below each of a level: the benchmark's own formula."""
    scale = max(2, round(math.log10(products)))
    return [2 * scale, *([4 if scale < 3 else 8] * (scale // 2))]


class _Maker:
    def __init__(self, products: int, seed: int) -> None:
        self._products = products
        self._random = np.random.RandomState(seed)
        self._blocks: list[FactBlock] = []

    def shop(self) -> Shop:
        parents, depths = _type_tree(_levels(self._products))
        self._types(parents)
        features_of = self._features(depths)
        leaf = self._random.choice(np.flatnonzero(depths == depths.max()), self._products)
        producer, keys = self._producers()
        self._products_of(keys, producer, leaf, parents)
        features = self._product_features(leaf, parents, features_of)
        self._add(_repeated(keys, features), BSBM + "productFeature", _featured(np.concatenate(features)))
        self._offers(keys)
        self._reviews(keys)
        return Shop(tuple(self._blocks), keys.to_pylist(), leaf + 1, features)

    # --- what there is for sale -----------------------------------------------------------------------------------

    def _types(self, parents: Numbers) -> None:
        number = np.arange(1, len(parents) + 1)
        types = joined(f"<{INSTANCES}ProductType", number)
        self._described(types, BSBM + "ProductType", words=12)
        below = parents >= 0
        above = joined(f"<{INSTANCES}ProductType", parents[below] + 1)
        self._add(types.filter(pa.array(below)), RDFS + "subClassOf", above)
        self._published(types, _constant(f"<{INSTANCES}StandardizationInstitution1", len(types)))

    def _features(self, depths: Numbers) -> list[Numbers]:
        """The features of each type, as numbers; deeper types have more. The root has none."""
        levels = int(depths.max())
        share = levels * (levels + 1) / 2 - 1
        found, first = [], 1
        for depth in depths.tolist():
            low, high = int(35 * depth / share), int(75 * depth / share)
            count = int(self._random.randint(low, high + 1)) if depth else 0
            found.append(np.arange(first, first + count))
            first += count
        features = joined(f"<{INSTANCES}ProductFeature", np.arange(1, first))
        self._described(features, BSBM + "ProductFeature", words=12)
        self._published(features, _constant(f"<{INSTANCES}StandardizationInstitution1", len(features)))
        return found

    def _producers(self) -> tuple[pa.Array, pa.Array]:
        """The producer of each product, and the products."""
        count = max(2, round(self._products / _PRODUCTS_OF_A_PRODUCER))
        number = np.arange(1, count + 1)
        producers = joined(f"<{INSTANCES}dataFromProducer", number, "/Producer", number)
        self._described(producers, BSBM + "Producer", words=12)
        self._add(producers, FOAF + "homepage", joined("<http://www.Producer", number, ".com/"))
        self._add(producers, BSBM + "country", self._countries(count))
        self._published(producers, producers)
        made_by = np.sort(self._random.randint(0, count, self._products))
        keys = joined(f"<{INSTANCES}dataFromProducer", made_by + 1, "/Product", np.arange(1, self._products + 1))
        return producers.take(pa.array(made_by)), keys

    def _products_of(self, keys: pa.Array, producer: pa.Array, leaf: Numbers, parents: Numbers) -> None:
        self._described(keys, BSBM + "Product", words=20)
        for types in _upwards(leaf, parents):
            self._add(keys, RDF_TYPE, joined(f"<{INSTANCES}ProductType", types + 1))
        self._add(keys, BSBM + "producer", producer)
        self._published(keys, producer)
        for number, likely in enumerate(_HAS, 1):
            self._add_some(keys, likely, f"productPropertyNumeric{number}", self._integers(1, 2_001))
            self._add_some(keys, likely, f"productPropertyTextual{number}", self._texts(6))

    def _product_features(self, leaf: Numbers, parents: Numbers, features_of: list[Numbers]) -> list[Numbers]:
        lines: dict[int, Numbers] = {}
        for number in np.unique(leaf).tolist():
            above = [int(types[0]) for types in _upwards(np.array([number]), parents)]
            lines[number] = np.concatenate([features_of[each] for each in above])
        chosen = []
        for number in leaf.tolist():
            own = lines[number]
            chosen.append(own[self._random.random_sample(len(own)) < _OF_A_TYPES_FEATURES])
        return chosen

    # --- who sells it, and what others say ------------------------------------------------------------------------

    def _offers(self, keys: pa.Array) -> None:
        count = OFFERS * self._products
        vendors = max(1, count // _OFFERS_OF_A_VENDOR)
        number = np.arange(1, vendors + 1)
        vendor = joined(f"<{INSTANCES}dataFromVendor", number, "/Vendor", number)
        self._described(vendor, BSBM + "Vendor", words=12)
        self._add(vendor, FOAF + "homepage", joined("<http://www.vendor", number, ".com/"))
        self._add(vendor, BSBM + "country", self._countries(vendors))
        self._published(vendor, vendor)
        by = np.sort(self._random.randint(0, vendors, count))
        offers = joined(f"<{INSTANCES}dataFromVendor", by + 1, "/Offer", np.arange(1, count + 1))
        self._typed(offers, BSBM + "Offer")
        self._add(offers, BSBM + "product", keys.take(pa.array(self._random.randint(0, self._products, count))))
        self._add(offers, BSBM + "vendor", vendor.take(pa.array(by)))
        cents = self._random.randint(500, 1_000_000, count)
        price = joined(f"^{BSBM}USD ", cents // 100, ".", cents % 100)
        self._add(offers, BSBM + "price", price)
        self._add(offers, BSBM + "validFrom", self._dates("dateTime", count))
        self._add(offers, BSBM + "validTo", self._dates("dateTime", count))
        self._add(offers, BSBM + "deliveryDays", self._integers(1, 8)(count))
        self._add(offers, BSBM + "offerWebpage", joined(offers, "/"))
        self._published(offers, vendor.take(pa.array(by)))

    def _reviews(self, keys: pa.Array) -> None:
        count = REVIEWS * self._products
        people = max(1, count // _REVIEWS_OF_A_REVIEWER)
        site_of = np.arange(people) * _REVIEWS_OF_A_REVIEWER // _REVIEWS_OF_A_SITE + 1
        reviewers = joined(f"<{INSTANCES}dataFromRatingSite", site_of, "/Reviewer", np.arange(1, people + 1))
        sites = joined(f"<{INSTANCES}dataFromRatingSite", site_of, "/RatingSite", site_of)
        self._typed(reviewers, FOAF + "Person")
        self._add(reviewers, FOAF + "name", self._texts(2)(people))
        self._add(reviewers, FOAF + "mbox_sha1sum", joined('"', self._random.randint(0, 1 << 40, people), "e73473e"))
        self._add(reviewers, BSBM + "country", self._countries(people))
        self._published(reviewers, sites)
        by = np.sort(self._random.randint(0, people, count))
        reviews = joined(f"<{INSTANCES}dataFromRatingSite", site_of[by], "/Review", np.arange(1, count + 1))
        self._typed(reviews, REV + "Review")
        self._add(reviews, BSBM + "reviewFor", keys.take(pa.array(self._random.randint(0, self._products, count))))
        self._add(reviews, REV + "reviewer", reviewers.take(pa.array(by)))
        self._add(reviews, BSBM + "reviewDate", self._dates("dateTime", count))
        self._add(reviews, DC + "title", self._texts(6)(count))
        self._add(reviews, REV + "text", self._texts(20, "@en ")(count))
        for number in (1, 2, 3, 4):
            self._add_some(reviews, _RATED, f"rating{number}", self._integers(1, 11))
        self._published(reviews, sites.take(pa.array(by)))

    # --- triples --------------------------------------------------------------------------------------------------

    def _add(self, subjects: pa.Array, predicate: str, objects: pa.Array) -> None:
        self._blocks.append(block(subjects, predicate, objects))

    def _add_some(self, subjects: pa.Array, likely: float, name: str, objects: _Column) -> None:
        if likely < 1:
            subjects = subjects.filter(pa.array(self._random.random_sample(len(subjects)) < likely))
        self._add(subjects, BSBM + name, objects(len(subjects)))

    def _typed(self, subjects: pa.Array, kind: str) -> None:
        self._add(subjects, RDF_TYPE, _constant(f"<{kind}", len(subjects)))

    def _described(self, subjects: pa.Array, kind: str, words: int) -> None:
        self._typed(subjects, kind)
        self._add(subjects, RDFS + "label", self._texts(2)(len(subjects)))
        self._add(subjects, RDFS + "comment", self._texts(words)(len(subjects)))

    def _published(self, subjects: pa.Array, publishers: pa.Array) -> None:
        self._add(subjects, DC + "publisher", publishers)
        self._add(subjects, DC + "date", self._dates("date", len(subjects)))

    # --- objects --------------------------------------------------------------------------------------------------

    def _integers(self, least: int, end: int) -> _Column:
        return lambda rows: joined("^integer ", self._random.randint(least, end, rows))

    def _texts(self, words: int, kind: str = '"') -> _Column:
        """Phrases of so many words, or of a few words and a number that makes them differ."""
        phrases = pa.array([" ".join(self._random.choice(_WORDS, max(1, words - 1))) for _ in range(500)])
        return lambda rows: joined(
            kind, phrases.take(pa.array(self._random.randint(0, 500, rows))), " ", self._random.randint(0, 10**6, rows)
        )

    def _dates(self, kind: str, rows: int) -> pa.Array:
        days = np.datetime64("2007-01-01") + self._random.randint(0, 700, rows)
        texts = pa.array(np.datetime_as_string(days))
        return joined(f"^{kind} ", texts, "T00:00:00" if kind == "dateTime" else "")

    def _countries(self, rows: int) -> pa.Array:
        names = pa.array([f"<{COUNTRIES}{name}" for name in _COUNTRY])
        return names.take(pa.array(self._random.randint(0, len(_COUNTRY), rows)))


def _type_tree(below: Sequence[int]) -> tuple[Numbers, Numbers]:
    """The parent of each type, -1 for the root's, and how deep it lies."""
    parents, depths = [np.array([-1])], [np.array([0])]
    first = 0
    for depth, count in enumerate(below, 1):
        level = np.arange(first, first + len(parents[-1]))
        first += len(level)
        parents.append(np.repeat(level, count))
        depths.append(np.full(len(parents[-1]), depth))
    return np.concatenate(parents), np.concatenate(depths)


def _upwards(types: Numbers, parents: Numbers) -> Iterator[Numbers]:
    while types[0] >= 0:  # all lie equally deep
        yield types
        types = parents[types]


def _constant(key: str, rows: int) -> pa.Array:
    return pa.array([key]).take(pa.nulls(rows, pa.int32()).fill_null(0))


def _repeated(keys: pa.Array, groups: list[Numbers]) -> pa.Array:
    return keys.take(pa.array(np.repeat(np.arange(len(groups)), [len(group) for group in groups])))


def _featured(numbers: Numbers) -> pa.Array:
    return joined(f"<{INSTANCES}ProductFeature", numbers)
