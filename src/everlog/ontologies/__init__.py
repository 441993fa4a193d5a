"""How do ontologies in OWL 2 and RDFS become rules?"""
