"""Where are facts kept between runs of a pipeline, for Spark, for us and for others to read? In Delta Lake tables."""
