"""Which airports can be reached from which? A materialised view of a declarative pipeline, by rules.

Inside of the definition of a view Spark lets nobody look at a schema, so the rules are applied outside of it; and since
this file is loaded whenever somebody looks at the pipeline, no job may run there: `lazy=True`.
"""

from pathlib import Path

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

from everlog.pipeline import derive

RULES = """
reachable(?origin, ?destination) :- flight(?origin, ?destination).
reachable(?origin, ?destination) :- reachable(?origin, ?stop), flight(?stop, ?destination).
"""

spark = SparkSession.active()
file = Path(__file__).parents[1] / "flights.csv"
flights = spark.read.schema("origin string, destination string").option("header", True).csv(file.as_uri())
derived = derive(spark, RULES, {"flight": flights}, lazy=True)


@dp.materialized_view
def reachable() -> DataFrame:
    """What follows from the flights."""
    return derived["reachable"]
