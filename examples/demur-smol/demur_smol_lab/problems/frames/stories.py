"""Cores of the stories: scenes, each ended by one of several questions. `{who}`, `{other}`, `{things}`, `{place}` and
`{day}` come from large lists."""

from collections.abc import Mapping

from demur_smol_lab.problems.frames.grammar import Core

_TOGETHER = (
    "How many {things} is that altogether?",
    "How many {things} are there in all?",
    "What is the total number of {things}?",
    "How many {things} in total?",
    "How many are there now?",
    "How many {things} does that make?",
    "How many {things} do we count?",
)
_LEFT = (
    "How many {things} are left?",
    "How many {things} remain?",
    "How many are still there?",
    "What is the number of {things} now?",
    "How many {things} are there then?",
    "How many does that leave?",
)

STORIES: Mapping[str, Core] = {
    "word_add": Core(
        stories=(
            (
                (
                    "{who} has {a} {things} and gets {b} more.",
                    "There are {a} {things} in one {place} and {b} in another.",
                    "{who} found {a} {things} on {day} and {b} the day after.",
                    "{who} owns {a} {things}. {other} gives {who} {b} more.",
                    "{who} has {a} {things}, {other} has {b}. They put them together.",
                    "A {place} holds {a} {things}. {who} adds {b}.",
                    "{a} {things} were on the table, then {b} others came along.",
                    "On {day} {who} bought {a} {things}, later another {b}.",
                    "{who} counts {a} red {things} and {b} blue {things}.",
                    "We start with {a} {things}. {b} are brought in.",
                    "{a} of the {things} are new and {b} are old.",
                    "{who} made {a} {things} in the morning and {b} in the evening.",
                    "First {who} picks up {a} {things}, then {b} more {things}.",
                    "{b} {things} join the {a} {things} in the {place}.",
                ),
                _TOGETHER,
            ),
        ),
    ),
    "word_subtract": Core(
        stories=(
            (
                (
                    "{who} has {a} {things} and gives {b} away.",
                    "There are {a} {things} in the {place}. {who} takes {b} out.",
                    "{who} had {a} {things} but lost {b}.",
                    "Out of {a} {things} {b} were sold on {day}.",
                    "{who} bakes {a} {things}, and {other} eats {b} of them.",
                    "A {place} held {a} {things}; {b} fell out.",
                    "{b} of {who}'s {a} {things} are stolen.",
                    "From {a} {things} {who} throws {b} away.",
                    "{who} lends {b} of {a} {things} to {other}.",
                    "{a} {things} stood in the {place} until {b} were removed.",
                    "{who} starts with {a} {things} and uses up {b}.",
                ),
                _LEFT,
            ),
            (
                (
                    "Of {a} {things}, {b} are broken.",
                    "{b} of the {a} {things} in the {place} are wet.",
                    "We have {a} {things}. {b} are bad.",
                ),
                ("How many are fine?", "How many {things} are still good?", "How many are not?"),
            ),
            (
                ("{who} needs {a} {things} and already has {b}.", "{who} wants {a} {things} but has only {b}."),
                (
                    "How many are missing?",
                    "How many more {things} does {who} need?",
                    "How many {things} must {who} still get?",
                ),
            ),
        ),
    ),
    "word_multiply": Core(
        stories=(
            (
                (
                    "There are {a} bags with {b} {things} in each.",
                    "{who} buys {b} {things} every day for {a} days.",
                    "One {place} holds {b} {things}. There are {a} of them.",
                    "{a} children bring {b} {things} each.",
                    "Each of {a} rows has {b} {things}.",
                    "{who} fills {a} boxes with {b} {things} each.",
                    "Every one of {a} friends has {b} {things}.",
                    "{who} packs {b} {things} per {place} and has {a} such.",
                    "A pack contains {b} {things}. {who} has {a} packs.",
                    "On {a} shelves there are {b} {things} apiece.",
                    "{b} {things} lie on each of {a} tables.",
                    "{a} times {who} carried {b} {things} home.",
                ),
                _TOGETHER,
            ),
        ),
    ),
    "word_divide": Core(
        stories=(
            (
                (
                    "{who} shares {a} {things} equally among {b} friends.",
                    "{a} {things} are dealt out evenly to {b} people.",
                    "{b} children split {a} {things} fairly.",
                ),
                ("How many does each get?", "How many {things} has each of them then?"),
            ),
            (
                ("{a} {things} are packed in bags of {b}.", "{who} puts {a} {things} into rows of {b}."),
                ("How many of these are there?", "How many does that make?"),
            ),
        ),
    ),
    "word_times_plus": Core(
        stories=(
            (
                (
                    "{who} buys {a} boxes of {b} {things} and finds {c} more.",
                    "There are {a} shelves with {b} {things} each, and {c} {things} on the floor.",
                    "{a} bags hold {b} {things} each. {other} brings another {c}.",
                    "{who} has {c} {things}. {other} adds {a} packs of {b}.",
                    "Each of {a} children has {b} {things}, and the teacher has {c}.",
                    "{who} picks {b} {things} on each of {a} days, and {c} on {day}.",
                    "{a} rows of {b} {things} stand there, with {c} more in the {place}.",
                ),
                _TOGETHER,
            ),
        ),
    ),
    "word_plus_minus": Core(
        stories=(
            (
                (
                    "{who} has {a} {things}, gets {b} more and loses {c}.",
                    "A shop has {a} {things}, receives {b} and sells {c}.",
                    "{a} {things} are in the {place}. {who} puts {b} in and takes {c} out.",
                    "{who} had {a} {things}. {other} gave {who} {b}, then {c} broke.",
                    "On {day} {who} has {a} {things}, buys {b} and gives {c} to {other}.",
                    "We count {a} {things} and {b} more. Then {c} disappear.",
                ),
                _LEFT,
            ),
        ),
    ),
}  # fmt: skip
