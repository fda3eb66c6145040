"""Question files of any kind -> the parquet files that verl trains on."""
