"""The ways in which a problem is asked. `{a}`, `{b}`, `{c}` are its numbers in the order they are used."""

from collections.abc import Mapping

PLAIN: Mapping[str, tuple[str, ...]] = {
    "add": (
        "What is {a} + {b}?",
        "{a} + {b} = ?",
        "Add {a} and {b}.",
        "Calculate {a} + {b}.",
        "How much is {a} plus {b}?",
        "Find the sum of {a} and {b}.",
        "What do {a} and {b} make together?",
    ),
    "subtract": (
        "What is {a} - {b}?",
        "{a} - {b} = ?",
        "Subtract {b} from {a}.",
        "Calculate {a} - {b}.",
        "How much is {a} minus {b}?",
        "Take {b} away from {a}. What is left?",
    ),
    "multiply": (
        "What is {a} * {b}?",
        "{a} * {b} = ?",
        "Multiply {a} by {b}.",
        "Calculate {a} * {b}.",
        "How much is {a} times {b}?",
        "Find the product of {a} and {b}.",
    ),
    "divide": (
        "What is {a} / {b}?",
        "{a} / {b} = ?",
        "Divide {a} by {b}.",
        "Calculate {a} divided by {b}.",
        "How many times does {b} go into {a}?",
    ),
    "remainder": (
        "What is {a} mod {b}?",
        "What is the remainder when {a} is divided by {b}?",
        "Divide {a} by {b}. What remains?",
        "Find the remainder of {a} divided by {b}.",
    ),
    "next": (
        "Which number comes right after {a}?",
        "What is the next whole number after {a}?",
        "Count one up from {a}.",
        "Add 1 to {a}.",
    ),
    "double": ("What is twice {a}?", "Double {a}.", "What is {a} doubled?", "How much is two times {a}?"),
    "half": ("What is half of {a}?", "Halve {a}.", "Find one half of {a}."),
    "equation": (
        "Solve x + {b} = {a} for x.",
        "If x + {b} = {a}, what is x?",
        "{b} plus which number makes {a}?",
        "I add {b} to my number and get {a}. What is my number?",
    ),
    "fraction": (
        "What is {a}/{c} + {b}/{c}?",
        "Add {a}/{c} and {b}/{c}.",
        "Find the sum of {a}/{c} and {b}/{c}.",
    ),
    "square": ("What is {a} squared?", "Find the square of {a}.", "What is {a} times itself?", "What is {a}^2?"),
    "cube": ("What is {a} cubed?", "Find the cube of {a}.", "What is {a}^3?"),
    "percent": ("What is {b}% of {a}?", "Find {b} percent of {a}.", "How much is {b} per cent of {a}?"),
    "sequence": (
        "What comes next: {a}, {b}, {c}, {d}?",
        "Continue the sequence {a}, {b}, {c}, {d} by one number.",
        "{a}, {b}, {c}, {d}: which number follows?",
    ),
    "average": (
        "What is the average of {a} and {b}?",
        "Find the mean of {a} and {b}.",
        "Which number lies half way between {a} and {b}?",
    ),
    "perimeter": (
        "A rectangle is {a} cm long and {b} cm wide. What is its perimeter in cm?",
        "How long is the edge around a rectangle of {a} by {b} metres, in metres?",
    ),
    "sum_times": (
        "What is ({a} + {b}) * {c}?",
        "Add {a} and {b}, then multiply by {c}.",
        "Calculate ({a} + {b}) * {c}.",
        "Take the sum of {a} and {b}. What is {c} times that?",
    ),
    "times_plus": (
        "What is {a} * {b} + {c}?",
        "Multiply {a} by {b}, then add {c}.",
        "Calculate {a} * {b} + {c}.",
        "Take the product of {a} and {b}. How much is that plus {c}?",
    ),
    "plus_minus": (
        "What is {a} + {b} - {c}?",
        "Add {a} and {b}, then subtract {c}.",
        "Calculate {a} + {b} - {c}.",
    ),
    "three_step": (
        "What is {a} * {b} + {c} - {d}?",
        "Multiply {a} by {b}, add {c}, then subtract {d}.",
        "Calculate {a} * {b} + {c} - {d}.",
    ),
}

STORIES: Mapping[str, tuple[str, ...]] = {
    "word_add": (
        "{who} has {a} {things} and gets {b} more. How many {things} does {who} have now?",
        "There are {a} {things} in one box and {b} in another. How many {things} are there in all?",
        "{who} found {a} {things} on Monday and {b} on Tuesday. How many were found altogether?",
    ),
    "word_subtract": (
        "{who} has {a} {things} and gives {b} away. How many {things} are left?",
        "Of {a} {things}, {b} are broken. How many are not broken?",
        "{who} needs {a} {things} and already has {b}. How many are missing?",
    ),
    "word_multiply": (
        "There are {a} bags with {b} {things} in each. How many {things} are there?",
        "{who} buys {b} {things} every day for {a} days. How many {things} is that?",
        "One box holds {b} {things}. How many do {a} boxes hold?",
    ),
    "word_divide": (
        "{who} shares {a} {things} equally among {b} friends. How many does each friend get?",
        "{a} {things} are packed in bags of {b}. How many bags are needed?",
    ),
    "word_times_plus": (
        "{who} buys {a} boxes of {b} {things} and finds {c} more. How many {things} is that in all?",
        "There are {a} shelves with {b} {things} each, and {c} {things} on the floor. How many {things} are there?",
    ),
    "word_plus_minus": (
        "{who} has {a} {things}, gets {b} more and loses {c}. How many {things} are left?",
        "A shop has {a} {things}, receives {b} and sells {c}. How many {things} does it have then?",
    ),
}

UNITS = (
    ("weeks", "days", 7),
    ("dozens", "pieces", 12),
    ("years", "months", 12),
    ("days", "hours", 24),
    ("hours", "minutes", 60),
    ("minutes", "seconds", 60),
    ("feet", "inches", 12),
    ("metres", "centimetres", 100),
    ("kilograms", "grams", 1000),
)
CONVERSIONS = (
    "How many {small} are in {a} {large}?",
    "{a} {large} are how many {small}?",
    "Convert {a} {large} to {small}.",
)

NAMES = (
    "Anna",
    "Ben",
    "Carla",
    "David",
    "Ella",
    "Femi",
    "Grace",
    "Hugo",
    "Ines",
    "Jun",
    "Kofi",
    "Lena",
    "Mara",
    "Omar",
)
THINGS = ("apples", "books", "coins", "pencils", "stamps", "cards", "shells", "eggs", "marbles", "stickers", "tickets")
