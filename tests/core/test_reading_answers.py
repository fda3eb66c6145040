"""Where an answer ends, what is its dress and what is part of it, and in which words it is announced."""

import pytest

from demur.core.parsing.labels import _BY_LANGUAGE
from demur.core.reader import read


@pytest.mark.parametrize(
    ("written", "answer"),
    [
        ("\n\\[\nx = 2\n\\]", "x = 2"),
        ("\\[ x = 2 \\]", "x = 2"),
        ("\n$$\nx = 2\n$$", "x = 2"),
        ("\\boxed{\n\\frac{1}{2}\n}", "\\frac{1}{2}"),
        ("\n```\n42\n```", "42"),
        ("\n```python\nreturn 1\n```", "return 1"),
        ("\n~~~\n42\n~~~", "42"),
        (
            "\\begin{pmatrix} 1 & 2 \\\\\n3 & 4 \\end{pmatrix}",
            "\\begin{pmatrix} 1 & 2 \\\\\n3 & 4 \\end{pmatrix}",
        ),
        ("\\[ never closed\nmore", "\\[ never closed"),
        ("A*", "A*"),
        ("**A***", "A*"),
        ("**42**", "42"),
        ("*42*", "42"),
        ("`x_1`", "x_1"),
        ("__init__", "__init__"),
        ("__Paris__", "Paris"),
        ("_x_1", "_x_1"),
        ("5*", "5*"),
        ("C#", "C#"),
        ("f(*args)", "f(*args)"),
        ("2*3*4", "2*3*4"),
        ("U.S.", "U.S."),
        ("Washington D.C.", "Washington D.C."),
        ("7 p.m.", "7 p.m."),
        ("Warner Bros.", "Warner Bros."),
        ("42.", "42"),
        ("Paris.", "Paris"),
        ("**Paris.**", "Paris"),
        ("\\boxed{3}, \\boxed{4}", "3, 4"),
        ("$\\boxed{42}$.", "42"),
        ("\\(\\boxed{42}\\)", "42"),
        ("The total cost of the trip is \\(\\boxed{42}\\).", "42"),
        ("Die Summe beträgt **\\boxed{42}**", "42"),
        ("Time needed: $\\boxed{42}$", "42"),
        ("the first is \\boxed{4} and the second \\boxed{2}", "the first is \\boxed{4} and the second \\boxed{2}"),
        ("it is not \\boxed{42}", "it is not \\boxed{42}"),
        ("\\boxed{\\text{Nile River}}", "Nile River"),
        ("\\text{Nile} \\text{River}", "\\text{Nile} \\text{River}"),
        ("5 \\text{ m}", "5 \\text{ m}"),
        ("London and \\boxed{Rome}", "London and \\boxed{Rome}"),
        ("2 + \\boxed{40}", "2 + \\boxed{40}"),
        ("2x = \\boxed{42}", "2x = \\boxed{42}"),
        ("it is \\boxed{42} or more", "it is \\boxed{42} or more"),
        ("0.5%", "0.5%"),
        ("and so on...", "and so on..."),
    ],
)
def test_an_answer_keeps_what_belongs_to_it(written: str, answer: str) -> None:
    found = read(f"Answer: {written}\nConfidence: 0.9", "response")
    assert (found.answer, found.confidence) == (answer, 0.9)


@pytest.mark.parametrize(
    "text",
    [
        "**Answer: 42**\n**Confidence: 0.9**",
        "**Answer:** 42\n**Confidence:** 90%",
        "**Answer:** **42**\n**Confidence:** **0.9**",
        "*Answer:* 42\n*Confidence:* 0.9",
        "## Answer\n42\n\n## Confidence\n0.9",
        "## Answer\n\n42\n\n## Confidence\n\n90%",
        "**Answer**\n42\n\n**Confidence**\n90%",
        '{\n  "answer": "42",\n  "confidence": 0.9\n}',
        '```json\n{\n  "answer": "42",\n  "confidence": 0.9\n}\n```',
        "Answer: 42 | Confidence: 0.9",
        "Answer: 42 (confidence: 90%)",
        "Answer: 42\nConfidence (0-100): 90",
        "Answer: 42\nConfidence (1-10): 9",
        "Answer: 42\nConfidence [0-1]: 0.9",
        "Answer: 42\nConfidence score (%): 90",
        "Final Answer (short): 42\nConfidence: 0.9",
        "P(True): 0.9\nAnswer: 42",
        "Certainty: 90%\nAnswer: 42",
        "42, probability: 0.9",
        "Confidence: 0.9 | Answer: 42",
        "Answer and Confidence: 42, 90%",
        "Answer & Confidence: 42 (0.9)",
        'So:\n{"answer": "42", "confidence": 0.9}',
        'So:\n{"final_answer": 42, "confidence_score": "90%"}',
        "{'answer': '42', 'confidence': 0.9}",
        '```json\n{"confidence": 0.9, "answer": "42"}\n```',
        "| Answer | Confidence |\n|---|---|\n| 42 | 0.9 |",
        "| Question | Answer | Confidence (0-1) |\n|:--|--:|---|\n| 6 x 7 | **42** | 90% |",
        "| Answer | 42 |\n|---|---|\n| Confidence | 0.9 |",
        "6 times 7.\n#### 42\nConfidence: 0.9",
        "So the answer is 42.\nConfidence: 0.9",
        "Hence, the final answer is **42**, because 6 x 7 = 42.\nConfidence: 0.9",
        "Answer\u00a0: 42\nConfidence\u202f: 90\u202f%",
    ],
)
def test_forms_of_labels(text: str) -> None:
    found = read(text, "response")
    assert (found.answer, found.confidence) == ("42", 0.9)


@pytest.mark.parametrize("language", _BY_LANGUAGE)
def test_labels_in_every_language(language: str) -> None:
    words = _BY_LANGUAGE[language]
    for answer in words["answer"].split(","):
        for confidence in words["confidence"].split(","):
            for colon in (":", " :", "："):
                text = f"{answer.strip().capitalize()}{colon} 42\n**{confidence.strip()}{colon}** 90%"
                found = read(text, "response")
                assert (found.answer, found.confidence) == ("42", 0.9), text


@pytest.mark.parametrize(
    "text",
    [
        "The answer is not clear to me.",
        "The answer is unknown.",
        "#### Step 1: add\nThen stop.",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        '{"question": "q", "confidence": 0.4}',
        "x = {1, 2}",
        "{" * 50,
    ],
)
def test_what_names_no_answer(text: str) -> None:
    assert read(f"Let us see.\n{text}", "response").answer is None


@pytest.mark.parametrize("text", ["Answers: 4", "The answering: 4", "Confidence interval: 0.9", "Unsicherheit: 0.9"])
def test_longer_words_are_no_labels(text: str) -> None:
    found = read(f"Well.\n{text}", "response")
    assert (found.answer, found.confidence) == (None, None)


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("<b>Answer:</b> Rome<br>", "Rome"),
        ("<b>Answer: Rome</b>", "Rome"),
        ("<p>Answer: <i>Rome</i></p>", "Rome"),
        ("Answer: <b>Rome</b>", "Rome"),
        ("Answer: x <b>and</b> y", "x <b>and</b> y"),
        ("Answer: <br>", "<br>"),
        ("Answer: </b>", "</b>"),
        ("Answer: `<b>Rome</b>`", "<b>Rome</b>"),
        ("Answer: a < b", "a < b"),
    ],
)
def test_html_around_an_answer_goes_and_html_in_it_stays(line: str, answer: str) -> None:
    assert read(f"{line}\nConfidence: 0.9", "response").answer == answer


@pytest.mark.parametrize(
    ("written", "answer", "confidence"),
    [
        (
            "\\[\\boxed{\\text{Answer: 42 pens}}\\]\n\\[\\boxed{\\text{Confidence: high}}\\]\nConfidence: 0.9",
            "42 pens",
            0.9,
        ),
        ("It costs \\(\\boxed{54}\\).\nThus, the confidence is \\(\\boxed{1}\\).\nConfidence: 0.8", "54", 0.8),
        ("\\boxed{7}\nMy certainty that this holds is $\\boxed{0.4}$.\nConfidence: 0.4", "7", 0.4),
        ("\\boxed{sieben}\nDie Zuversicht ist \\boxed{0.7}\nConfidence: 0.7", "sieben", 0.7),
        ("\\boxed{Final answer: Rome}\nConfidence: 0.7", "Rome", 0.7),
        ("The probability is \\boxed{1/3}\nConfidence: 0.7", "1/3", 0.7),
        ("The 95% confidence interval is \\boxed{(2, 4)}\nConfidence: 0.7", "(2, 4)", 0.7),
        ("With full confidence the total is \\boxed{5}\nConfidence: 0.7", "5", 0.7),
        ("\\boxed{Confidence: 0.7}", None, 0.7),
        ("Final answer and confidence:\n\\boxed{28}\nConfidence: 0.7", "28", 0.7),
        ("Answer and confidence: \\boxed{28}, 0.7\nConfidence: 0.7", "28", 0.7),
    ],
)
def test_a_box_that_holds_a_confidence_is_no_answer(written, answer, confidence):
    found = read(written, "response")
    assert (found.answer, found.confidence) == (answer, confidence)
