"""From finished runs to an answer: table, statistics, verdict, figures, README."""
