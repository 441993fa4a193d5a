"""Which words do OWL 2 and RDFS have? As term keys, the way triples are read."""

from __future__ import annotations

from everlog.facts.terms import RDF

RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"


def _rdf(name: str) -> str:
    return f"<{RDF}{name}"


def _rdfs(name: str) -> str:
    return f"<{RDFS}{name}"


def owl(name: str) -> str:
    """The key of a word of OWL."""
    return f"<{OWL}{name}"


TYPE, FIRST, REST, NIL = _rdf("type"), _rdf("first"), _rdf("rest"), _rdf("nil")
SUB_CLASS, SUB_PROPERTY = _rdfs("subClassOf"), _rdfs("subPropertyOf")
DOMAIN, RANGE = _rdfs("domain"), _rdfs("range")
LITERAL, RDFS_DATATYPE, RESOURCE = _rdfs("Literal"), _rdfs("Datatype"), _rdfs("Resource")
SAME_AS, DIFFERENT_FROM = owl("sameAs"), owl("differentFrom")
THING, NOTHING = owl("Thing"), owl("Nothing")

# Triples with these predicates speak of classes, properties and axioms, not of data.
PREDICATES = frozenset(
    [
        *(SUB_CLASS, SUB_PROPERTY, DOMAIN, RANGE, FIRST, REST),
        *map(
            owl,
            """
            equivalentClass equivalentProperty disjointWith complementOf intersectionOf unionOf oneOf disjointUnionOf
            inverseOf propertyChainAxiom propertyDisjointWith hasKey members distinctMembers
            onProperty onProperties someValuesFrom allValuesFrom hasValue hasSelf onClass onDataRange
            cardinality minCardinality maxCardinality
            qualifiedCardinality minQualifiedCardinality maxQualifiedCardinality
            sourceIndividual assertionProperty targetIndividual targetValue
            onDatatype withRestrictions datatypeComplementOf imports
            """.split(),
        ),
    ]
)

# Types that say what a property is, or that a blank node is an axiom; and those that only declare.
CHARACTERISTICS = {
    owl(f"{name}Property"): name
    for name in (
        *("Transitive", "Symmetric", "Asymmetric", "Reflexive", "Irreflexive", "Functional", "InverseFunctional"),
    )
}
AXIOM_TYPES = frozenset(
    map(owl, ("AllDisjointClasses", "AllDisjointProperties", "AllDifferent", "NegativePropertyAssertion"))
)
DECLARATIONS = frozenset(
    [
        *map(
            owl,
            """
            Class Restriction ObjectProperty DatatypeProperty AnnotationProperty OntologyProperty Ontology Axiom
            Annotation NamedIndividual DataRange DeprecatedClass DeprecatedProperty
            """.split(),
        ),
        *(_rdfs("Class"), RDFS_DATATYPE, _rdf("Property"), _rdf("List")),
    ]
)
TYPES = frozenset(CHARACTERISTICS) | AXIOM_TYPES | DECLARATIONS
