"""Pictures of the rules of a program: the graph, where its boxes go, and SVG, HTML, DOT and text of it."""
