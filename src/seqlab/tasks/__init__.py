"""What is learnt: data -> examples -> metrics."""
