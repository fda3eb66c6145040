"""What everybody knows, and words: questions that are no arithmetic and have an answer."""

import random
from collections.abc import Mapping

from demur_smol_lab.problems.adjacent.family import DOUBTED, HELD_OUT, VALIDATED, Drawn, Family, Kind, answered, family

_KNOWN: Mapping[str, tuple[Kind, tuple[str, ...], str]] = {
    "legs_of": (
        DOUBTED,
        ("How many legs does a {x} have?", "A {x} has how many legs?"),
        "spider:8 dog:4 cat:4 ant:6 hen:2 cow:4 bee:6 horse:4 person:2 crab:10 frog:4 duck:2 beetle:6 goat:4 fly:6",
    ),
    "colour_of": (
        DOUBTED,
        ("What colour is {x}?", "Which colour does {x} have?"),
        "grass:green snow:white coal:black blood:red milk:white a_ripe_banana:yellow a_carrot:orange "
        "the_clear_sky:blue an_emerald:green a_ruby:red soot:black a_lemon:yellow",
    ),
    "counted": (
        DOUBTED,
        ("How many {x}?", "Tell me how many {x}."),
        "days_are_in_a_week:7 months_are_in_a_year:12 hours_are_in_a_day:24 minutes_are_in_an_hour:60 "
        "letters_are_in_the_English_alphabet:26 continents_are_there:7 sides_has_a_triangle:3 wheels_has_a_tricycle:3 "
        "players_are_in_a_football_team:11 strings_has_a_violin:4 planets_go_around_the_sun:8 "
        "cents_are_in_a_dollar:100 years_are_in_a_century:100 degrees_has_a_right_angle:90 "
        "sides_has_a_hexagon:6 eggs_are_in_a_dozen:12",
    ),
    "animal_sound": (
        VALIDATED,
        ("Which animal says {x}?", "What animal makes the sound {x}?"),
        "moo:cow meow:cat woof:dog oink:pig quack:duck baa:sheep neigh:horse hoot:owl",
    ),
    "largest_thing": (
        HELD_OUT,
        ("What is the {x}?", "Name the {x}."),
        "largest_planet:Jupiter highest_mountain:Everest largest_ocean:Pacific fastest_land_animal:cheetah "
        "hottest_planet:Venus smallest_prime_number:2 largest_animal:blue_whale tallest_animal:giraffe",
    ),
    "rhyme": (
        DOUBTED,
        ("Which letter comes after {x} in the alphabet?", "What follows the letter {x}?"),
        " ".join(f"{a}:{b}" for a, b in zip("ABCDEFGHIJKLMNOPQRSTUVWXY", "BCDEFGHIJKLMNOPQRSTUVWXYZ", strict=True)),
    ),
    "first_letter": (
        VALIDATED,
        ("What is the first letter of the word {x}?",),
        "apple:a house:h river:r green:g window:w bread:b music:m",
    ),
}


def _known(pairs: str) -> Mapping[str, str]:
    split = (pair.rpartition(":") for pair in pairs.split())
    return {asked.replace("_", " "): answer.replace("_", " ") for asked, _, answer in split}


def _drawer(pairs: str):
    known = _known(pairs)

    def drawn(rng: random.Random, size: int) -> Drawn:
        asked = rng.choice(sorted(known))
        return answered(known[asked], x=asked)

    return drawn


GENERAL: Mapping[str, Family] = {
    name: family(kind, _drawer(pairs), wholes=wholes) for name, (kind, wholes, pairs) in _KNOWN.items()
}
