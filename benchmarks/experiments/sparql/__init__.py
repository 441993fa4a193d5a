"""What does it cost to keep the answer to a SPARQL query true?"""
