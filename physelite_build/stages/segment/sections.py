"""Rows that head a group of problems, the answers, or the notes to the candidates, and rows that belong to none of them.

Neighbour of ``headings.py``, which reads the heading of one problem; here, too, one row is looked at.
"""

from __future__ import annotations

import re

__all__ = [
    "is_answer_sheet",
    "is_answers_section",
    "is_answers_title",
    "is_aside",
    "is_exam_note",
    "is_exercises_heading",
    "is_grading_box",
    "is_notes_heading",
    "is_section_heading",
]

_ANSWERS_SECTION = re.compile(
    r"^(?:.{0,12}?(?:参考答案|参考解答|试题答案|答案与解析|答案及解析|答案和解析|答案与提示|答案及评分|解答与提示|习题答案|习题解答|答案部分)(?:.{0,12})?"
    r"|.{2,26}(?:参考答案|参考解答|(?:试[题卷]|[初预复决]赛|竞赛|考试|理论|实验)(?:解答|答案))"
    r"|(?:答\s*案|解\s*答|解\s*析|详\s*解)"
    r"|(?:answers?|solutions?|hints?)(?:\s*(?:and|&|,)\s*(?:answers?|solutions?|hints?|marking scheme))*(?:\s+(?:to|for)\s+.{0,40})?"
    r"|answer\s+key|(?:official|model|sample)\s+(?:answers?|solutions?))\s*[:：]?\s*$",
    re.IGNORECASE,
)
_ENGLISH_TITLE = re.compile(
    r"^(?=.*(?:Olympiad|Competition|Contest|Exam|Test|Theor|Experiment|[A-Z]PhO|20\d\d|19\d\d))[^.]*\b(?:Solutions?|SOLUTIONS?|Answers|ANSWERS)$"
)
"""The title of the solutions of a competition; the word is in capitals, as in no sentence."""
_ANSWERS_TITLE = re.compile(r"(?:解答|参考答案|答案|评分标准|(?:^|\s)(?:solutions?|answers?))\s*[)）]?$", re.IGNORECASE)
_ASIDE = re.compile(
    r"^[【\[]?(?:评分(?:标准|细则|参考|说明)|附录|点评|命题意图|考点|marking\s+scheme|grading\s+scheme|appendix)",
    re.IGNORECASE,
)
_NOTES_HEADING = re.compile(
    r"^[【\[]?(?:考生须知|考生注意|注意事项|答题须知|须知|说明|温馨提示|考试说明|(?:general\s+)?instructions?(?:\s+(?:to|for)\s+.*)?|general\s+information|please\s+read.*|rules)\s*[】\]:：]?\s*$",
    re.IGNORECASE,
)
_NOTE = re.compile(
    r"试卷|试题共|答题卡|答题纸|考试时间|本卷|满分|签字笔|铅笔|准考证|密封线|计算器|草稿纸|领队|监考|"
    r"answer\s+(?:sheet|booklet)|calculators?\b|candidates?\b|invigilator|time\s+allowed|writing\s+paper|your\s+name",
    re.IGNORECASE,
)
_SECTION = re.compile(
    r"^(?:第\s*[IVⅠⅡⅢ一二三\d]+\s*(?:卷|部分)|(?:理论|实验)(?:部分|试题)\s*$|(?:[一二三四五六七八九十]|\d|[IVX]+|[A-H])?\s*[、.．]?\s*"
    r"(?:本题)?(?:单项|多项|不定项|非)?(?:选择|填空|实验|计算|解答|简答|论述|判断|作图|综合|必做|选做|证明)题"
    r"|section\s+(?:[A-Z]|[IVX]+|\d+)\b.{0,60}$|(?:multiple[\s-]choice|short[\s-]answer|free[\s-]response|theoretical|experimental)\s+(?:questions?|problems?|part|section)\s*$)",
    re.IGNORECASE,
)
_EXERCISES = re.compile(
    r"^(?:第.{1,3}章)?\s*(?:习\s*题|练习题?|思考题|课[后外](?:习题|练习|作业)|巩固练习|针对训练|exercises|problems|questions)\s*[:：]?$",
    re.IGNORECASE,
)
_ANSWER_SHEET = re.compile(
    r"^(?:.{0,30}\s)?answer\s+(?:sheets?|forms?|booklet)(?:\s.{0,20}[^.\s])?$|^.{0,24}(?:答题[纸卡卷]|答卷)$",
    re.IGNORECASE,
)
_GRADING = re.compile(
    r"^(?:(?:得\s*分|阅\s*卷\s*人?|评\s*卷\s*人?|复\s*核\s*人?|核\s*分\s*人?|总\s*分)\s*[:：|]?\s*)+$"
)
_SECTION_LENGTH = 30
"""Characters of an answers heading; a longer row is a sentence that mentions answers."""


def is_answers_section(text: str) -> bool:
    """Say whether a row could head the answers at the end of a document (it may also head one solution)."""
    text = text.strip().strip("【】[]")
    if len(text) <= _SECTION_LENGTH and _ANSWERS_SECTION.match(text):
        return True
    return len(text) <= 2 * _SECTION_LENGTH and bool(_ENGLISH_TITLE.match(text))


def is_answers_title(text: str) -> bool:
    """Say whether a row could be the title of a document that holds answers only (``... 试题解答``, ``... Solutions``)."""
    text = text.strip()
    return len(text) <= 2 * _SECTION_LENGTH and (bool(_ANSWERS_TITLE.search(text)) or is_answers_section(text))


def is_answer_sheet(text: str) -> bool:
    """Say whether a row could be the title of a form on which candidates write their answers."""
    return bool(_ANSWER_SHEET.match(text.strip()))


def is_grading_box(text: str) -> bool:
    """Say whether a row holds nothing but the words over the boxes for marks: ``得分 阅卷 复核``."""
    return bool(_GRADING.match(text.strip()))


def is_aside(text: str) -> bool:
    """Say whether a row starts something that is neither statement nor solution, such as a marking scheme."""
    return bool(_ASIDE.match(text.strip()))


def is_notes_heading(text: str) -> bool:
    """Say whether a row heads the notes to the candidates."""
    return bool(_NOTES_HEADING.match(text.strip()))


def is_exam_note(text: str) -> bool:
    """Say whether a row speaks about the exam (time, pens, answer sheets) and not about physics."""
    return bool(_NOTE.search(text))


def is_section_heading(text: str) -> bool:
    """Say whether a row heads a group of problems (``一、选择题``, ``Section B``)."""
    return bool(_SECTION.match(text.strip()))


def is_exercises_heading(text: str) -> bool:
    """Say whether a row heads the exercises after the worked examples of a chapter."""
    return bool(_EXERCISES.match(text.strip()))
