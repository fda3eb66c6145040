"""Questions without a calculation: a few the model may know, some beyond it, and many that nobody could answer."""

import random
from collections.abc import Iterable, Mapping
from math import gcd

from demur_smol_lab.problems.frames.grammar import Core
from demur_smol_lab.problems.problem import Problem

UNKNOWN = "unknown"
"""What the warm start says where nothing can be known. It counts as wrong: the true confidence is 0."""

_CAPITALS = """France Paris|Germany Berlin|Italy Rome|Spain Madrid|Portugal Lisbon|Austria Vienna|Poland Warsaw
Greece Athens|Egypt Cairo|Kenya Nairobi|Ghana Accra|Japan Tokyo|China Beijing|India New_Delhi|Nepal Kathmandu
Thailand Bangkok|Vietnam Hanoi|Indonesia Jakarta|Australia Canberra|Canada Ottawa|Mexico Mexico_City|Cuba Havana
Peru Lima|Chile Santiago|Argentina Buenos_Aires|Brazil Brasilia|Uruguay Montevideo|Ecuador Quito|Norway Oslo
Sweden Stockholm|Finland Helsinki|Denmark Copenhagen|Iceland Reykjavik|Ireland Dublin|Belgium Brussels
Hungary Budapest|Romania Bucharest|Bulgaria Sofia|Serbia Belgrade|Croatia Zagreb|Ukraine Kyiv|Turkey Ankara
Iran Tehran|Iraq Baghdad|Jordan Amman|Lebanon Beirut|Qatar Doha|Oman Muscat|Morocco Rabat|Tunisia Tunis
Algeria Algiers|Senegal Dakar|Mali Bamako|Niger Niamey|Chad N'Djamena|Uganda Kampala|Rwanda Kigali|Zambia Lusaka
Angola Luanda|Namibia Windhoek|Mongolia Ulaanbaatar|Laos Vientiane|Bhutan Thimphu|Latvia Riga|Estonia Tallinn
Lithuania Vilnius|Slovenia Ljubljana|Slovakia Bratislava|Albania Tirana|Malta Valletta|Cyprus Nicosia
Armenia Yerevan|Georgia Tbilisi|Azerbaijan Baku|Kazakhstan Astana|Suriname Paramaribo|Guyana Georgetown
Bolivia Sucre|Paraguay Asuncion|Venezuela Caracas|Colombia Bogota|Panama Panama_City|Honduras Tegucigalpa
Nicaragua Managua|Jamaica Kingston|Fiji Suva|Samoa Apia|Togo Lome|Gabon Libreville|Eritrea Asmara"""
CAPITALS: Mapping[str, str] = {
    country: capital.replace("_", " ")
    for country, capital in (pair.strip().split(" ") for pair in _CAPITALS.replace("\n", "|").split("|"))
}

_ELEMENTS = """hydrogen H helium He lithium Li carbon C nitrogen N oxygen O fluorine F neon Ne sodium Na magnesium Mg
aluminium Al silicon Si phosphorus P sulfur S chlorine Cl argon Ar potassium K calcium Ca titanium Ti chromium Cr
manganese Mn iron Fe cobalt Co nickel Ni copper Cu zinc Zn arsenic As bromine Br krypton Kr silver Ag tin Sn iodine I
xenon Xe barium Ba tungsten W platinum Pt gold Au mercury Hg lead Pb bismuth Bi radon Rn radium Ra uranium U"""
ELEMENTS: Mapping[str, str] = dict(zip(_ELEMENTS.split()[::2], _ELEMENTS.split()[1::2], strict=True))

_UNKNOWABLE = (
    "What did my {kin} {name} eat on {day} morning?",
    "How many coins are in the left pocket of {name} {surname}?",
    "What number between 1 and {n} am I thinking of?",
    "What is the password of {name} {surname}?",
    "In which year was the {colour} {thing} of {place} built?",
    "Who won the {n}th {colour} {thing} cup in {place}?",
    "What is the middle name of {name} {surname} of {place}?",
    "How many {thing}s will be sold in {place} on {day} in the year {year}?",
    "What is the phone number of the {colour} {thing} shop in {place}?",
    "Which {thing} did {name} {surname} lose in {year}?",
    "Who painted the {colour} {thing} in the hall of {place}?",
    "What was the name of the {kin} of king {name} the {n}th of {place}?",
    "How many {colour} {thing}s fit into a {day}?",
    "What does {place} weigh when a {thing} is {colour}?",
    "Which river flows through the town of {place}?",
    "What will {name} {surname} say to the {thing} in {year}?",
)
CORES: Mapping[str, Core] = {
    "capital": Core(
        ("the capital of {x}", "the capital city of {x}"),
        (
            "Name the capital city of {x}.",
            "Which city is the capital of {x}?",
            "{x} has which capital?",
            "In which city does the government of {x} sit?",
        ),
    ),
    "element": Core(
        ("the chemical symbol for {x}", "the symbol of the element {x}"),
        ("Which symbol stands for the element {x}?",),
    ),
    "larger": Core(
        ("the larger of {a} and {b}", "the greater number of {a} and {b}"),
        (
            "Which is larger, {a} or {b}?",
            "Of {a} and {b}, which number is greater?",
            "{a} or {b}: which is more?",
            "Which is bigger: {b} or {a}?",
            "Is {a} or {b} the larger one?",
        ),
    ),
    "divisor": Core(
        ("the greatest common divisor of {a} and {b}", "gcd({a}, {b})"),
        ("Which is the largest number that divides both {a} and {b}?",),
    ),
    "letters": Core(
        ("the number of letters in {x}",),
        ("How many letters has the word {x}?", "Count the letters of {x}.", "How long is the word {x}, in letters?"),
    ),
    "backwards": Core(
        ("{x} backwards", "{x} spelled in reverse"), ("Write {x} backwards.", "Spell the word {x} in reverse.")
    ),
    "weekday": Core(
        ("the day {n} days after {x}",),
        (
            "Which day of the week is it {n} days after {x}?",
            "Today is {x}. What day will it be in {n} days?",
            "It is {x}. Which weekday comes {n} days later?",
        ),
    ),
    "roman": Core(
        ("the Roman numeral {x} as a number", "{x} in ordinary digits"),
        ("Write the Roman numeral {x} as a number.", "Which number is {x} in Roman numerals?"),
    ),
    "unknowable": Core(wholes=_UNKNOWABLE),
}
_WORDS: Mapping[str, tuple[str, ...]] = {
    "kin": ("uncle", "aunt", "cousin", "neighbour", "teacher", "sister", "friend", "grandfather"),
    "name": ("Tomas", "Elin", "Rafe", "Mirka", "Joss", "Odile", "Bram", "Tilda", "Perrin", "Saskia", "Ivo", "Nell"),
    "surname": ("Quillmar", "Drosten", "Vayle", "Ombrecht", "Tarrick", "Fennwood", "Lisgar", "Brusk", "Hallowin"),
    "day": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "colour": ("green", "blue", "red", "yellow", "purple", "silver", "orange", "grey"),
    "thing": ("lantern", "bridge", "violin", "kite", "tower", "teapot", "ladder", "clock", "boat", "mirror"),
    "place": ("Vornholm", "Eskarra", "Tullimere", "Brandowa", "Quessel", "Ostermoor", "Pellavin", "Drinwater", "Zelby"),
}


def capital(rng: random.Random, size: int) -> Problem:
    return _fact(rng, "capital", size, CAPITALS)


def element(rng: random.Random, size: int) -> Problem:
    return _fact(rng, "element", size, ELEMENTS)


def unknowable(rng: random.Random, size: int) -> Problem:
    """Private matters, invented places and people, nonsense: no answer is right."""
    words = {kind: rng.choice(choices) for kind, choices in _WORDS.items()}
    words |= {"n": str(rng.randint(3, 999)), "year": str(rng.randint(1650, 2090))}
    return Problem("unknowable", size, tuple(words.values()), "", None, asked=tuple(words.items()))


def larger(rng: random.Random, size: int) -> Problem:
    a, b = map(str, rng.sample(range(10 ** (size - 1), 10**size), 2))
    return _asked("larger", size, sorted((a, b), key=int), str(max(int(a), int(b))), a=a, b=b)


def divisor(rng: random.Random, size: int) -> Problem:
    """The greatest common divisor, larger than 1."""
    common = rng.randint(2, 9 if size == 1 else 30)
    a, b = (common * k for k in rng.sample(range(2, 10 if size == 1 else 30), 2))
    return _asked("divisor", size, map(str, sorted((a, b))), str(gcd(a, b)), a=str(a), b=str(b))


def letters(rng: random.Random, size: int) -> Problem:
    word = rng.choice(sorted(CAPITALS))
    return _asked("letters", size, (word,), str(len(word)), x=word)


def backwards(rng: random.Random, size: int) -> Problem:
    word = rng.choice(sorted(CAPITALS)).lower()
    return _asked("backwards", size, (word,), word[::-1], x=word)


def weekday(rng: random.Random, size: int) -> Problem:
    days, start, later = _WORDS["day"], rng.randrange(7), rng.randint(2, 10**size)
    return _asked("weekday", size, (str(later), days[start]), days[(start + later) % 7], n=str(later), x=days[start])


def roman(rng: random.Random, size: int) -> Problem:
    value = rng.randint(2, 10**size * 4)
    return _asked("roman", size, (str(value),), str(value), x=roman_numeral(value))


FAMILIES = {
    "capital": capital,
    "element": element,
    "unknowable": unknowable,
    "larger": larger,
    "divisor": divisor,
    "letters": letters,
    "backwards": backwards,
    "weekday": weekday,
    "roman": roman,
}
"""None of them has steps."""


def roman_numeral(value: int) -> str:
    """Below 500, as the Romans wrote it."""
    numerals = (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV")
    written = ""
    for worth, letters in (*numerals, (1, "I")):
        written += letters * (value // worth)
        value %= worth
    return written


def _fact(rng: random.Random, family: str, size: int, facts: Mapping[str, str]) -> Problem:
    x = rng.choice(sorted(facts))
    return Problem(family, size, (x,), "", facts[x], asked=(("x", x),))


def _asked(family: str, size: int, facts: Iterable[str], answer: str, **places: str) -> Problem:
    return Problem(family, size, (family, *facts), "", answer, asked=tuple(places.items()))
