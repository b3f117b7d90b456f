"""The preflight of a config: what `launch.py --check` runs before any training does."""
