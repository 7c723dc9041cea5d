"""How recall grows with the number of training videos per task, with and without related tasks, and tasks without any."""
