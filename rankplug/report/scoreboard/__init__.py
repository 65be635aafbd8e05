"""The page of the scoreboard: its text, its pictures, and the script that sorts and filters its tables."""
