"""An operator's own words for labels reach what is served."""

from pathlib import Path

from demur.engine.scripted import ScriptedEngine

SWEDISH = "Två och två.\nSvar: 4\nSäkerhet: 90%"


def test_served_outputs_are_read_with_the_operators_words(make, tmp_path: Path) -> None:
    file = tmp_path / "labels.toml"
    file.write_text('answer = ["svar"]\nconfidence = ["säkerhet"]', encoding="utf-8")
    reply = make(ScriptedEngine({"q": SWEDISH}), labels=file).ask("q", risk_threshold=0.5).json()
    assert (reply["decision"], reply["answer"], reply["confidence"]) == ("answer", "4", 0.9)


def test_without_them_such_an_output_is_declined(make) -> None:
    reply = make(ScriptedEngine({"q": SWEDISH})).ask("q", risk_threshold=0.5).json()
    assert (reply["decision"], reply["reason"]) == ("abstain", "answer_missing")
