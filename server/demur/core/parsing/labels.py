"""The words that stand before an answer, a confidence or a solution, by language. One table, for all contracts."""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_BY_LANGUAGE: Mapping[str, Mapping[str, str]] = {
    "English": {
        "answer": "answer, final answer, the answer, the final answer, my answer, my final answer, best answer, guess,"
        " my guess, best guess, my best guess, final guess, answer and confidence, answer & confidence,"
        " answer/confidence, correct answer, the correct answer, selected answer, chosen answer,"
        " correction, corrected answer, revised answer, updated answer",
        "confidence": "confidence, my confidence, overall confidence, final confidence, stated confidence,"
        " confidence score, confidence level, confidence rating, confidence value, overall confidence score,"
        " confidence percentage, confidence estimate, level of confidence, certainty, certainty level,"
        " certainty score, my certainty, probability, my probability, probability correct,"
        " probability of being correct, probability of correctness, probability that the answer is correct, p(true),"
        " p(correct), confidence is, my confidence is, confidence in this answer, confidence in my answer,"
        " confidence in the answer",
        "solution": "solution, final solution, the solution, my solution",
        "said": "the answer is, my answer is, the final answer is, my final answer is, the correct answer is,"
        " the best answer is",
    },
    "German": {
        "answer": "antwort, endgültige antwort, finale antwort, die antwort, meine antwort, endantwort",
        "confidence": "konfidenz, konfidenzwert, konfidenzniveau, zuversicht, sicherheit, gewissheit, vertrauen,"
        " wahrscheinlichkeit, meine sicherheit",
        "said": "die antwort ist, die antwort lautet, die richtige antwort ist, die richtige antwort lautet,"
        " die endgültige antwort ist, die endgültige antwort lautet",
    },
    "French": {
        "answer": "réponse, réponse finale, la réponse, ma réponse",
        "confidence": "confiance, niveau de confiance, degré de confiance, indice de confiance, score de confiance,"
        " ma confiance, certitude, probabilité",
        "said": "la réponse est, la bonne réponse est, la réponse correcte est, la réponse finale est, ma réponse est",
    },
    "Spanish": {
        "answer": "respuesta, respuesta final, la respuesta, mi respuesta",
        "confidence": "confianza, nivel de confianza, grado de confianza, mi confianza, certeza, probabilidad",
        "said": "la respuesta es, la respuesta correcta es, la respuesta final es, mi respuesta es",
    },
    "Italian": {
        "answer": "risposta, risposta finale, la risposta, la mia risposta",
        "confidence": "confidenza, fiducia, livello di confidenza, livello di fiducia, grado di fiducia, certezza,"
        " sicurezza, probabilità",
        "said": "la risposta è, la risposta corretta è, la risposta giusta è, la risposta finale è, la mia risposta è",
    },
    "Portuguese": {
        "answer": "resposta, resposta final, a resposta, minha resposta",
        "confidence": "confiança, nível de confiança, grau de confiança, minha confiança, certeza, probabilidade",
        "said": "a resposta é, a resposta correta é, a resposta certa é, a resposta final é, minha resposta é",
    },
    "Dutch": {
        "answer": "antwoord, eindantwoord, definitief antwoord, het antwoord, mijn antwoord",
        "confidence": "vertrouwen, zekerheid, mate van vertrouwen, mate van zekerheid, betrouwbaarheid,"
        " waarschijnlijkheid",
        "said": "het antwoord is, het juiste antwoord is, het goede antwoord is, mijn antwoord is",
    },
    "Polish": {
        "answer": "odpowiedź, ostateczna odpowiedź, odpowiedź końcowa, moja odpowiedź",
        "confidence": "pewność, poziom pewności, stopień pewności, ufność, prawdopodobieństwo",
        "said": "odpowiedź to, poprawna odpowiedź to, prawidłowa odpowiedź to, moja odpowiedź to",
    },
    "Turkish": {
        "answer": "cevap, nihai cevap, son cevap, yanıt, nihai yanıt",
        "confidence": "güven, güven düzeyi, güven seviyesi, güven oranı, güven skoru, olasılık",
        "said": "doğru cevap, doğru yanıt",
    },
    "Russian": {
        "answer": "ответ, окончательный ответ, итоговый ответ, финальный ответ, мой ответ",
        "confidence": "уверенность, степень уверенности, уровень уверенности, моя уверенность, вероятность",
        "said": "ответ —, правильный ответ —, правильный ответ, верный ответ, верный ответ —",
    },
    "Chinese": {
        "answer": "答案, 正确答案, 正確答案, 最终答案, 最終答案, 最后答案, 我的答案, 回答, 最终回答, 答",
        "confidence": "置信度, 信心, 信心度, 信心水平, 信心程度, 信心指数, 信心分數, 可信度, 自信度, 自信程度, 把握,"
        " 确定性, 概率, 機率, 置信水平",
        "said": "答案是, 答案为, 答案為, 答案应为, 答案应该是, 正确答案是, 正确答案为, 正確答案是, 正确选项是,"
        " 正确选项为, 最终答案是, 最终答案为, 我的答案是, 故答案为, 故选, 故选择, 因此选, 因此选择, 所以选, 所以选择,"
        " 应选, 应选择, 我选择",
    },
    "Japanese": {
        "answer": "答え, 最終的な答え, 最終回答, 解答",
        "confidence": "確信度, 信頼度, 自信度, 自信, 確信, 確率",
        "said": "答えは, 正解は, 正しい答えは, 回答は, 最終的な答えは",
    },
    "Korean": {
        "answer": "답, 정답, 답변, 최종 답, 최종 답변, 최종 정답",
        "confidence": "확신도, 신뢰도, 자신감, 확신, 확신 수준, 신뢰 수준, 확률",
        "said": "정답은, 답은, 최종 답은, 최종 정답은",
    },
    "Arabic": {
        "answer": "الإجابة, الجواب, الإجابة النهائية, الجواب النهائي",
        "confidence": "الثقة, مستوى الثقة, درجة الثقة, نسبة الثقة, الاحتمال, اليقين",
        "said": "الإجابة هي, الجواب هو, الإجابة الصحيحة هي, الجواب الصحيح هو",
    },
    "Hindi": {
        "answer": "उत्तर, अंतिम उत्तर, मेरा उत्तर, जवाब",
        "confidence": "विश्वास, विश्वास स्तर, आत्मविश्वास, निश्चितता, प्रायिकता, संभावना",
        "said": "सही उत्तर, सही जवाब",
    },
}


@dataclass(frozen=True, slots=True)
class Labels:
    """Lower-case phrases for each of the things that a label may announce."""

    answer: frozenset[str]
    confidence: frozenset[str]
    solution: frozenset[str] = frozenset()
    said: frozenset[str] = frozenset()
    """Beginnings of sentences that name an answer without a colon; with one they are labels too."""


def _phrases(name: str) -> frozenset[str]:
    return frozenset(_spellings(p for words in _BY_LANGUAGE.values() for p in words.get(name, "").split(",")))


def _spellings(phrases: Iterable[str]) -> Iterable[str]:
    """Each in its composed and its decomposed form: é in one character and in two."""
    for phrase in phrases:
        if bare := phrase.strip():
            yield unicodedata.normalize("NFC", bare)
            yield unicodedata.normalize("NFD", bare)


LABELS = Labels(_phrases("answer") | _phrases("said"), _phrases("confidence"), _phrases("solution"), _phrases("said"))
STRICT = Labels(frozenset({"Answer"}), frozenset({"Confidence"}), frozenset({"Solution"}))


def extended(labels: Labels, words: Mapping[str, Iterable[str]]) -> Labels:
    """`labels` and more phrases in any case: `words` has lists of them under answer, confidence and solution."""
    more = {name: frozenset(_spellings(word.lower() for word in words.get(name, ()))) for name in WORDS}
    return Labels(
        labels.answer | more["answer"],
        labels.confidence | more["confidence"],
        labels.solution | more["solution"],
        labels.said,
    )


WORDS = ("answer", "confidence", "solution")
"""What phrases can be added for."""
