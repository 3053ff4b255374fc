# SPDX-License-Identifier: Apache-2.0
# spark_shards.py N STORE PART: STORE to lzvolt in N tasks, which write PART.0001 to PART.N
import subprocess
import sys

from pyspark.sql import SparkSession

shards, store, part = int(sys.argv[1]), sys.argv[2], sys.argv[3]


def convert(i):
    subprocess.run(["vconvert", "--to=lzvolt", "-T1", f"--shard={i}/{shards}",
                    "-f", "-o", f"{part}.{i:04}", store], check=True)


spark = SparkSession.builder.appName("vconvert").getOrCreate()
spark.sparkContext.parallelize(range(1, shards + 1), shards).foreach(convert)
spark.stop()
