"""Random ontologies of OWL 2 RL, small enough that everything meets everything."""

from __future__ import annotations

from hypothesis import strategies as st

PREFIXES = """\
@prefix : <http://e/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
"""

CLASSES, PROPERTIES, THINGS = [":A", ":B", ":C", ":D"], [":p", ":q", ":r"], [":a", ":b", ":c"]

_class, _property, _thing = st.sampled_from(CLASSES), st.sampled_from(PROPERTIES), st.sampled_from(THINGS)
_path = st.one_of(_property, _property.map(lambda p: f"[ owl:inverseOf {p} ]"))


def _list(members: list[str]) -> str:
    return f"( {' '.join(members)} )"


def _restriction(word: str, filler: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(_property, filler).map(
        lambda pair: f"[ a owl:Restriction ; owl:onProperty {pair[0]} ; owl:{word} {pair[1]} ]"
    )


# What may stand on the left of a subclass axiom, and what on the right.
_sub = st.recursive(
    _class,
    lambda inner: st.one_of(
        _restriction("someValuesFrom", inner),
        _restriction("someValuesFrom", st.just("owl:Thing")),
        _restriction("hasValue", _thing),
        st.lists(inner, min_size=2, max_size=3).map(lambda of: f"[ owl:intersectionOf {_list(of)} ]"),
        st.lists(inner, min_size=2, max_size=2).map(lambda of: f"[ owl:unionOf {_list(of)} ]"),
        st.lists(_thing, min_size=1, max_size=2, unique=True).map(lambda of: f"[ owl:oneOf {_list(of)} ]"),
    ),
    max_leaves=3,
)
_super = st.recursive(
    _class,
    lambda inner: st.one_of(
        _restriction("allValuesFrom", inner),
        _restriction("hasValue", _thing),
        st.lists(inner, min_size=2, max_size=2).map(lambda of: f"[ owl:intersectionOf {_list(of)} ]"),
        _class.map(lambda of: f"[ owl:complementOf {of} ]"),
        _restriction("maxCardinality", st.just('"0"^^<http://www.w3.org/2001/XMLSchema#nonNegativeInteger>')),
    ),
    max_leaves=3,
)


def _pair(word: str, one: st.SearchStrategy[str], other: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(one, other).map(lambda pair: f"{pair[0]} {word} {pair[1]} .")


_plain = st.one_of(
    _pair("rdfs:subClassOf", _sub, _super),
    _pair("rdfs:subClassOf", _class, _class),
    _pair("owl:equivalentClass", _class, _class),
    _pair("owl:disjointWith", _class, _class),
    _pair("rdfs:subPropertyOf", _property, _property),
    _pair("owl:equivalentProperty", _property, _property),
    _pair("rdfs:domain", _property, _super),
    _pair("rdfs:range", _property, _super),
    _pair("owl:inverseOf", _property, _property),
    _pair("owl:propertyDisjointWith", _property, _property),
    _pair("owl:propertyChainAxiom", _property, st.lists(_property, min_size=2, max_size=3).map(_list)),
    _property.map(lambda p: f"{p} a owl:TransitiveProperty ."),
    _property.map(lambda p: f"{p} a owl:SymmetricProperty ."),
    _property.map(lambda p: f"{p} a owl:AsymmetricProperty ."),
    _property.map(lambda p: f"{p} a owl:IrreflexiveProperty ."),
    st.tuples(_thing, _property, _thing).map(
        lambda t: (
            f"[] a owl:NegativePropertyAssertion ; owl:sourceIndividual {t[0]} ; "
            f"owl:assertionProperty {t[1]} ; owl:targetIndividual {t[2]} ."
        )
    ),
)
_identifying = st.one_of(
    _property.map(lambda p: f"{p} a owl:FunctionalProperty ."),
    _property.map(lambda p: f"{p} a owl:InverseFunctionalProperty ."),
    st.tuples(_class, st.lists(_property, min_size=1, max_size=2, unique=True)).map(
        lambda pair: f"{pair[0]} owl:hasKey {_list(pair[1])} ."
    ),
)

axioms = st.lists(_plain, min_size=1, max_size=6, unique=True)
identifying_axioms = st.tuples(axioms, st.lists(_identifying, min_size=1, max_size=2)).map(
    lambda pair: pair[0] + pair[1]
)

Triple = tuple[str, str, str]
_assertion = st.one_of(
    st.tuples(_thing, st.just("rdf:type"), _class),
    st.tuples(_thing, _property, _thing),
)
assertions = st.lists(_assertion, max_size=6, unique=True)
