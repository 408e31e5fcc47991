"""How the tables of a study's database came to be, one step a file under `versions`."""
