"""Cores of the families of one calculation or several. `{a}`, `{b}`, `{c}`, `{d}` are the numbers as they are used."""

from collections.abc import Mapping

from demur_smol_lab.problems.frames.grammar import Core

CALCULATIONS: Mapping[str, Core] = {
    "add": Core(
        (
            "{a} + {b}",
            "{a} plus {b}",
            "the sum of {a} and {b}",
            "{a} and {b} together",
            "{b} more than {a}",
            "{a} increased by {b}",
            "{b} added to {a}",
            "the total of {a} and {b}",
        ),
        (
            "Add {a} and {b}.",
            "Add {b} to {a}.",
            "What do {a} and {b} make together?",
            "Put {a} and {b} together. How much is it?",
            "Start at {a} and count {b} further. Where do you end?",
            "Sum up these two numbers: {a}, {b}",
        ),
    ),
    "subtract": Core(
        (
            "{a} - {b}",
            "{a} minus {b}",
            "the difference between {a} and {b}",
            "{a} less {b}",
            "{b} less than {a}",
            "{a} decreased by {b}",
            "{a} take away {b}",
            "{b} subtracted from {a}",
        ),
        (
            "Subtract {b} from {a}.",
            "Take {b} away from {a}. What is left?",
            "Start at {a} and count back {b}. Where do you end?",
            "What remains of {a} once {b} is gone?",
            "By how much is {a} larger than {b}?",
        ),
    ),
    "multiply": Core(
        (
            "{a} * {b}",
            "{a} times {b}",
            "the product of {a} and {b}",
            "{a} multiplied by {b}",
            "{a} lots of {b}",
            "{a} groups of {b}",
            "({a})({b})",
        ),
        ("Multiply {a} by {b}.", "Multiply {a} and {b}.", "Add up {b}, {a} times over. What do you get?"),
    ),
    "divide": Core(
        (
            "{a} / {b}",
            "{a} divided by {b}",
            "the quotient of {a} and {b}",
            "{a} over {b}",
            "one {b}th of {a}",
        ),
        (
            "Divide {a} by {b}.",
            "How many times does {b} go into {a}?",
            "How often does {b} fit into {a}?",
            "Split {a} into {b} equal parts. How large is each?",
        ),
    ),
    "remainder": Core(
        (
            "{a} mod {b}",
            "the remainder of {a} divided by {b}",
            "{a} modulo {b}",
            "the remainder when {a} is divided by {b}",
            "what is left over of {a} / {b}",
            "{a} % {b}",
        ),
        (
            "Divide {a} by {b}. What remains?",
            "What does {a} leave over when divided by {b}?",
            "Which remainder does {a} have with {b}?",
        ),
    ),
    "next": Core(
        ("{a} + 1", "one more than {a}", "the number after {a}", "the successor of {a}", "the whole number after {a}"),
        (
            "Which number comes right after {a}?",
            "Count one up from {a}.",
            "Add 1 to {a}.",
            "What follows {a} when you count?",
            "I am counting and just said {a}. What do I say now?",
        ),
    ),
    "double": Core(
        ("2 * {a}", "twice {a}", "{a} doubled", "two times {a}", "the double of {a}", "{a} * 2", "{a} + {a}"),
        ("Double {a}.", "Make {a} twice as large.", "What do you get when you double {a}?"),
    ),
    "equation": Core(
        ("x if x + {b} = {a}", "the number that gives {a} when {b} is added", "the solution of x + {b} = {a}"),
        (
            "Solve x + {b} = {a} for x.",
            "If x + {b} = {a}, what is x?",
            "{b} plus which number makes {a}?",
            "I add {b} to my number and get {a}. What is my number?",
            "x + {b} = {a}. x = ?",
            "{b} + _ = {a}. What goes into the gap?",
            "What must be added to {b} to get {a}?",
        ),
    ),
    "fraction": Core(
        (
            "{a}/{c} + {b}/{c}",
            "{a}/{c} plus {b}/{c}",
            "the sum of {a}/{c} and {b}/{c}",
            "{a} over {c} plus {b} over {c}",
            "{b}/{c} added to {a}/{c}",
        ),
        ("Add {a}/{c} and {b}/{c}.", "Add the fractions {a}/{c} and {b}/{c}."),
    ),
    "square": Core(
        ("{a} * {a}", "{a} squared", "the square of {a}", "{a} times itself", "{a}^2", "{a} to the power of 2", "{a}²"),
        ("Square {a}.", "A square has sides of {a} cm. What is its area in square cm?"),
    ),
    "cube": Core(("{a}^3", "{a} cubed", "the cube of {a}", "{a} * {a} * {a}", "{a} to the power of 3"), ("Cube {a}.",)),
    "percent": Core(
        ("{b}% of {a}", "{b} percent of {a}", "{b} per cent of {a}", "{b} % of {a}"),
        ("Take {b}% of {a}.", "{a} people came, {b}% of them by bus. How many came by bus?"),
    ),
    "sequence": Core(
        (
            "the next number in {a}, {b}, {c}, {d}",
            "the number that continues {a}, {b}, {c}, {d}",
            "the fifth term of {a}, {b}, {c}, {d}",
        ),
        (
            "What comes next: {a}, {b}, {c}, {d}?",
            "Continue the sequence {a}, {b}, {c}, {d} by one number.",
            "{a}, {b}, {c}, {d}: which number follows?",
            "{a}, {b}, {c}, {d}, ?",
        ),
    ),
    "sum_times": Core(
        (
            "({a} + {b}) * {c}",
            "{c} * ({a} + {b})",
            "{c} times the sum of {a} and {b}",
            "the sum of {a} and {b} multiplied by {c}",
        ),
        (
            "Add {a} and {b}, then multiply by {c}.",
            "Take the sum of {a} and {b}. What is {c} times that?",
            "First add {b} to {a}. Then take it {c} times.",
        ),
    ),
    "times_plus": Core(
        (
            "{a} * {b} + {c}",
            "{a} times {b} plus {c}",
            "{c} more than {a} times {b}",
            "the product of {a} and {b} plus {c}",
            "({a} * {b}) + {c}",
        ),
        (
            "Multiply {a} by {b}, then add {c}.",
            "Take the product of {a} and {b}. How much is that plus {c}?",
            "First multiply {a} and {b}. Then add {c} to it.",
        ),
    ),
    "plus_minus": Core(
        ("{a} + {b} - {c}", "{a} plus {b} minus {c}", "the sum of {a} and {b}, less {c}", "({a} + {b}) - {c}"),
        ("Add {a} and {b}, then subtract {c}.", "Take {a}, add {b} and take away {c}."),
    ),
    "three_step": Core(
        ("{a} * {b} + {c} - {d}", "{a} times {b} plus {c} minus {d}", "({a} * {b}) + {c} - {d}"),
        ("Multiply {a} by {b}, add {c}, then subtract {d}.",),
    ),
    "half": Core(
        ("half of {a}", "one half of {a}", "{a} halved", "0.5 of {a}"),
        ("Halve {a}.", "Cut {a} in half. How much is one part?"),
    ),
    "average": Core(
        ("the average of {a} and {b}", "the mean of {a} and {b}", "the number half way between {a} and {b}"),
        ("Which number lies in the middle between {a} and {b}?",),
    ),
    "perimeter": Core(
        ("the perimeter of a rectangle of {a} by {b}",),
        (
            "A rectangle is {a} cm long and {b} cm wide. What is its perimeter in cm?",
            "How long is the edge around a rectangle of {a} by {b} metres, in metres?",
        ),
    ),
    "unit": Core(
        ("the number of {small} in {a} {large}", "{a} {large} in {small}"),
        (
            "How many {small} are in {a} {large}?",
            "{a} {large} are how many {small}?",
            "Convert {a} {large} to {small}.",
            "{a} {large} = ? {small}",
            "How many {small} do {a} {large} have?",
            "Express {a} {large} in {small}.",
            "A trip takes {a} {large}, or how many {small}?",
        ),
    ),
}  # fmt: skip

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
