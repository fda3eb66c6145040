"""Hard negatives: questions that look like those shown worked out, but ask for something else.

Doubt that is learnt from strange questions alone goes by their words, and an answer to a plain question is believed as
soon as its calculation is right, though it is not what was asked for. As in `unfamiliar`, nothing here is ever shown.
"""

import random
import re
from collections.abc import Callable, Mapping

from demur_smol_lab.problems.arithmetic import ordered, people
from demur_smol_lab.problems.frames.grammar import Core
from demur_smol_lab.problems.problem import Problem

Answer = Callable[[int, int, int], int | str]
"""From the numbers {a} > {b}, of as many digits as the size says, and {c}, from 2 to 9."""

ASKED: Mapping[str, tuple[tuple[str, ...], str, Answer]] = {
    # stories
    "fewer_together": (
        ("{who} has {a} {things}, {other} has {b} fewer. How many {things} do they have together?",
         "There are {a} {things} in one box and {b} fewer in another. How many {things} are there in all?"),
        "-+", lambda a, b, c: 2 * a - b),
    "more_together": (
        ("{who} has {a} {things} and {other} has {b} more than that. How many {things} have both?",
         "{who} found {a} {things} on Monday and {b} more than that on Tuesday. How many is that in all?"),
        "++", lambda a, b, c: 2 * a + b),
    "how_many_more": (
        ("{who} has {a} {things}, {other} has {b}. How many more does {who} have?",
         "{who} has {b} {things}. How many must be found to have {a}?"),
        "-", lambda a, b, c: a - b),
    "times_as_many": (
        ("{who} has {a} {things}, {other} has {c} times as many. How many {things} does {other} have?",),
        "*", lambda a, b, c: a * c),
    "times_together": (
        ("{who} has {a} {things}, {other} has {c} times as many. How many {things} do both have?",),
        "*+", lambda a, b, c: a * (c + 1)),
    "before_gift": (
        ("{who} gets {b} {things} and then has {a}. How many were there before?",
         "After finding {b} {things}, {who} has {a}. How many {things} did {who} have at first?"),
        "-", lambda a, b, c: a - b),
    "before_loss": (
        ("{who} loses {b} {things} and then has {a} left. How many were there before?",
         "After giving {b} {things} away, {who} has {a}. How many {things} did {who} have at first?"),
        "+", lambda a, b, c: a + b),
    "queue": (
        ("{who} stands in a queue, {a} people in front and {b} behind. How many people are in the queue?",),
        "++1", lambda a, b, c: a + b + 1),
    "pages": (
        ("{who} reads a book from the start of page {b} to the end of page {a}. How many pages is that?",
         "The tickets from number {b} to number {a} are sold. How many tickets are sold?"),
        "-+1", lambda a, b, c: a - b + 1),
    "bags_broken": (
        ("There are {c} bags with {a} {things} in each, but {b} {things} are broken. How many are not broken?",
         "{who} buys {c} boxes of {a} {things} and gives {b} {things} away. How many are left?"),
        "*-", lambda a, b, c: a * c - b),
    "two_kinds": (
        ("{who} buys {c} boxes of {a} {things} and {c} boxes of {b}. How many {things} is that in all?",
         "There are {c} shelves with {a} {things} and {c} shelves with {b}. How many {things} are there?"),
        "+*", lambda a, b, c: (a + b) * c),
    "boxes_apart": (
        ("{c} boxes hold {a} {things} each, {c} other boxes hold {b} each. How many more are in the first boxes?",),
        "-*", lambda a, b, c: (a - b) * c),
    "bag_gone": (
        ("There were {c} bags with {a} {things} in each. {who} took one bag away. How many {things} are left?",),
        "*-1", lambda a, b, c: a * (c - 1)),
    "legs": (
        ("How many legs do {a} dogs and {b} hens have?", "How many wheels are on {a} cars and {b} bicycles?"),
        "4*+2*", lambda a, b, c: 4 * a + 2 * b),
    "warmer": (
        ("It was {b} degrees in the morning and {a} at noon. By how many degrees did it get warmer?",
         "{who} was {b} cm tall and is {a} cm tall now. How many centimetres is that more?"),
        "-", lambda a, b, c: a - b),
    "trees": (
        ("{a} trees stand in a row, {c} metres from each to the next. How far is it from the first to the last?",),
        "-1*", lambda a, b, c: (a - 1) * c),
    "cuts": (
        ("A rope is cut in {a} places. How many pieces is that?",
         "{who} breaks a bar of chocolate {a} times, always one piece into two. How many pieces are there?"),
        "+1", lambda a, b, c: a + 1),
    "up_and_down": (
        ("{who} climbs {c} floors of {a} steps each and comes down again. How many steps is that?",),
        "*2*", lambda a, b, c: 2 * a * c),
    "one_of_each": (
        ("A ticket costs {a} euros, for a child {b} euros less. What do {who} and one child pay together?",),
        "-+", lambda a, b, c: 2 * a - b),
    "kept_each_day": (
        ("{who} buys {a} {things} a day and gives {b} of them away. How many {things} are there after {c} days?",),
        "-*", lambda a, b, c: (a - b) * c),
    "not_asked": (
        ("{who} has {a} {things} and {b} brothers. How many {things} does {who} have?",
         "There are {a} {things} in a box that weighs {b} grams. How many {things} are in the box?"),
        "=", lambda a, b, c: a),
    # plain
    "more_than_twice": (("What is {b} more than twice {a}?", "Double {a} and add {b}."),
        "2*+", lambda a, b, c: 2 * a + b),
    "less_than_twice": (("What is {b} less than twice {a}?", "Double {a} and subtract {b}."),
        "2*-", lambda a, b, c: 2 * a - b),
    "short_of_product": (("By how much is {a} times {c} more than {b}?", "Multiply {a} by {c}, then subtract {b}."),
        "*-", lambda a, b, c: a * c - b),
    "before": (("Which number comes right before {a}?", "Count one down from {a}."), "-1", lambda a, b, c: a - 1),
    "two_after": (("Which number comes two places after {a}?", "Count two up from {a}."),
        "+2", lambda a, b, c: a + 2),
    "difference": (("What is the difference between {b} and {a}?", "How far apart are {b} and {a}?"),
        "-", lambda a, b, c: a - b),
    "below_zero": (("What is {b} - {a}?", "Subtract {a} from {b}.", "Calculate {b} - {a}."),
        "-", lambda a, b, c: b - a),
    "order": (("What is {a} + {b} * {c}?", "Calculate {a} + {b} * {c}."), "*+", lambda a, b, c: a + b * c),
    "order_minus": (("What is {a} * {c} - {b} * {c}?",), "-*", lambda a, b, c: (a - b) * c),
    "brackets_minus": (("What is {a}0 - ({b} + {c})?", "Subtract the sum of {b} and {c} from {a}0."),
        "0+-", lambda a, b, c: 10 * a - b - c),
    "minus_times": (("What is ({a} - {b}) * {c}?", "Subtract {b} from {a}, then multiply by {c}."),
        "-*", lambda a, b, c: (a - b) * c),
    "three_added": (("Find the sum of {a}, {b} and {c}.", "What do {a}, {b} and {c} make together?"),
        "++", lambda a, b, c: a + b + c),
    "three_multiplied": (("Find the product of {a}, {b} and {c}.", "What is {a} * {b} * {c}?"),
        "**", lambda a, b, c: a * b * c),
    "minus_unknown": (("Solve {a} - x = {b} for x.", "{a} minus which number makes {b}?"), "-", lambda a, b, c: a - b),
    "unknown_minus": (("Solve x - {b} = {a} for x.", "I subtract {b} from my number and get {a}. What is my number?"),
        "+", lambda a, b, c: a + b),
    "plain_decimals": (("What is {a}.5 + {b}.5?", "Add {a}.5 and {b}.5."), ".5+", lambda a, b, c: a + b + 1),
    "fractions_apart": (("What is {a}/1009 - {b}/1009?", "Subtract {b}/1009 from {a}/1009."),
        "/-", lambda a, b, c: f"{a - b}/1009"),
    "tenfold": (("What is ten times {a}?", "Write a zero behind {a}."), "*10", lambda a, b, c: 10 * a),
    "days_more": (("How many days are {a} weeks and {c} days?",), "*7+", lambda a, b, c: 7 * a + c),
    "minutes_more": (("How many minutes are {c} hours and {a} minutes?",), "*60+", lambda a, b, c: 60 * c + a),
    "grams_more": (("How many grams are {c} kilograms and {a} grams?",), "*1000+", lambda a, b, c: 1000 * c + a),
    "centimetres_less": (("How many centimetres are {c} metres less {a} centimetres?",),
        "*100-", lambda a, b, c: 100 * c - a),
    "place_value": (("Which number has {c} hundreds, {c} tens and {c} ones?",), "111", lambda a, b, c: 111 * c),
    "how_long": (("How many digits does the number {a}{b}{c} have?",), "digits", lambda a, b, c: len(f"{a}{b}{c}")),
    "parity": (("Is {a} even or odd?", "Even or odd: {a}?"), "parity", lambda a, b, c: "odd" if a % 2 else "even"),
    "smaller": (("Which is smaller, {a} or {b}?", "Name the smaller one of {b} and {a}."), "<", lambda a, b, c: b),
    "last_digit": (("What is the last digit of {a} + {b}?",), "+%", lambda a, b, c: (a + b) % 10),
}  # fmt: skip
"""Each family's wordings, its calculation and its answer. `splits` hashes the operations and numbers of a calculation,
unnamed ones too (`+1` for one more than {a}), so that it is in one split with other wordings of it. A number that is
used twice counts once: 2a - b is not in one split with a + a - b asked in figures."""


def _asked(family: str) -> Callable[[random.Random, int], Problem]:
    wordings, operations, answer = ASKED[family]

    def drawn(rng: random.Random, size: int) -> Problem:
        a, b = ordered(rng, size)
        numbers = {"a": a, "b": b, "c": rng.randint(2, 9)}
        named = [value for name, value in numbers.items() if f"{{{name}}}" in wordings[0]]
        facts = re.sub(r"\d", "", operations), *map(str, sorted([*named, *map(int, re.findall(r"\d+", operations))]))
        places = tuple((name, str(value)) for name, value in numbers.items())
        return Problem(family, size, facts, "", str(answer(*numbers.values())), asked=(*places, *people(rng)))

    return drawn


FAMILIES: Mapping[str, Callable[[random.Random, int], Problem]] = {family: _asked(family) for family in ASKED}
CORES: Mapping[str, Core] = {family: Core(wholes=wordings, split=False) for family, (wordings, *_) in ASKED.items()}
HARD_NEGATIVES: Mapping[str, float] = {f"{family}/{size}": 1 for family in FAMILIES for size in (1, 2)}
"""The mix: every family alike, in two sizes."""
