"""Finds the same problem in the other language, and makes the corpus' entries.

A translation keeps the facts: numbers, symbols, part labels, figures. Each fact weighs by its rarity in the corpus; two
problems are one if each is the other's best partner and they share enough. Neighbour: ``dedup``, which works inside a language.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from physelite_build.errors import FatalError
from physelite_build.records import Entries, Entry, Pair, PairDecision, Problem
from physelite_build.stages.dedup import normal_form, numbers_in

__all__ = ["facts_of", "find_translations", "make_entries"]

LEAST_SHARE = 0.45
"""Weighted share of common facts from which two problems may be one: true pairs of the development pages measure 0.6 to 0.9,
different problems below 0.3."""
_LEAST_FACTS = 4
"""A problem with fewer facts is never aligned by machine."""
_COMMON = 0.5
"""Facts that more than this share of the problems have are no evidence (in corpora of at least 20)."""
_MATH = re.compile(r"\$+([^$]+)\$+")
_SYMBOL = re.compile(r"\\[A-Za-z]+(?:_\w)?|[A-Za-z](?:_\w)?")
_WORDLIKE = frozenset(r"\frac \sqrt \mathrm \text \quad \qquad \left \right \cdot \times \, \begin \end".split())


def facts_of(problem: Problem) -> Counter[str]:
    """Count what a translator leaves alone: numbers, symbols of the formulas, part labels, figures."""
    text = "\n".join(filter(None, (problem.statement, problem.solution, problem.final_answer)))
    facts = Counter({f"n:{number}": count for number, count in numbers_in(normal_form(text)).items()})
    for formula in _MATH.findall(text):
        compact = formula.replace("{", "").replace("}", "").replace(" ", "")
        facts.update(f"s:{s}" for s in _SYMBOL.findall(compact) if s not in _WORDLIKE)
    facts.update(f"p:{part.label}" for part in problem.parts)
    if problem.figures:
        facts["f"] = len(problem.figures)
    return facts


def find_translations(problems: Sequence[Problem]) -> tuple[Pair, ...]:
    """Pair Chinese and English problems that are each other's best partner.

    Args:
        problems: All problems of the corpus.

    Returns:
        Pairs with the Chinese key at the left, ordered by it; each problem in at most one pair.
    """
    facts = {p.key: facts_of(p) for p in problems}
    weight = _weights(facts.values())
    english: dict[str, list[str]] = defaultdict(list)
    for problem in problems:
        if problem.language == "en" and sum(facts[problem.key].values()) >= _LEAST_FACTS:
            for fact in facts[problem.key]:
                english[fact].append(problem.key)
    best_en: dict[str, tuple[float, str]] = {}
    best_zh: dict[str, tuple[float, str]] = {}
    for problem in sorted((p for p in problems if p.language == "zh"), key=lambda p: p.key):
        mine = facts[problem.key]
        if sum(mine.values()) < _LEAST_FACTS:
            continue
        for other in sorted({key for fact in mine if weight[fact] > 0 for key in english[fact]}):
            share = _share(mine, facts[other], weight)
            best_en[problem.key] = max(best_en.get(problem.key, (0.0, "")), (share, other))
            best_zh[other] = max(best_zh.get(other, (0.0, "")), (share, problem.key))
    return tuple(
        Pair(left=zh, right=en, decision=PairDecision.TRANSLATION, similarity=round(share, 4), rule="facts in common")
        for zh, (share, en) in sorted(best_en.items())
        if share >= LEAST_SHARE and best_zh[en][1] == zh
    )


def make_entries(
    problems: Sequence[Problem], translations: Iterable[Pair], duplicates: Iterable[Pair], *, max_removal: float
) -> Entries:
    """Turn problems and pairs into entries: one row of a release each.

    A group of duplicates keeps one problem: the most complete (solution, answers, figures, confidence), then the first key. A
    problem gives way only to a keeper that it is itself the same as, so nothing is merged through a middle.

    Args:
        problems: All problems in order of documents.
        translations: Pairs found by :func:`find_translations`.
        duplicates: Pairs found by ``dedup``.
        max_removal: Largest share of the problems that may be dropped, in [0, 1].

    Returns:
        Entries in order of their leading problem, with all pairs.

    Raises:
        FatalError: ``dedup.too_many`` if more would be dropped.
    """
    pairs = (*translations, *duplicates)
    by_key = {p.key: p for p in problems}
    keeper = _keepers(by_key, [p for p in pairs if p.decision is PairDecision.SAME])
    dropped = [key for key, kept in keeper.items() if kept != key]
    if problems and len(dropped) > max_removal * len(problems):
        raise FatalError(
            "dedup.too_many",
            f"{len(dropped)} of {len(problems)} problems would be dropped as duplicates, more than the limit of "
            f"{max_removal:.0%}; look at the pairs, then raise dedup.max_removal if they are right",
        )
    partner: dict[str, tuple[str, float]] = {}
    for pair in sorted(translations, key=lambda p: (-p.similarity, p.left, p.right)):
        zh, en = keeper[pair.left], keeper[pair.right]
        if zh not in partner and en not in partner:
            partner[zh], partner[en] = (en, pair.similarity), (zh, pair.similarity)
    entries = []
    for problem in problems:
        key = problem.key
        other, share = partner.get(key, (None, None))
        if keeper[key] != key or (other and problem.language == "en"):
            continue
        texts = {problem.language: key}
        if other:
            texts[by_key[other].language] = other
        gone = tuple(sorted(k for k in dropped if keeper[k] in texts.values()))
        entries.append(Entry(key=key, zh=texts.get("zh"), en=texts.get("en"), duplicates=gone, similarity=share))
    return Entries(entries=tuple(entries), pairs=tuple(pairs))


def _weights(bags: Iterable[Counter[str]]) -> Mapping[str, float]:
    """Inverse document frequency; facts that nearly every problem has weigh nothing in a large corpus."""
    bags = list(bags)
    seen = Counter(fact for bag in bags for fact in bag)
    total = len(bags)
    return {
        fact: 0.0 if total >= 20 and count > _COMMON * total else math.log(1 + total / count)
        for fact, count in seen.items()
    }


def _share(left: Counter[str], right: Counter[str], weight: Mapping[str, float]) -> float:
    """Weighted Jaccard similarity of two bags of facts, in [0, 1]."""
    both = sum(weight[f] * min(left[f], right[f]) for f in left if f in right)
    either = sum(weight[f] * max(left[f], right[f]) for f in left.keys() | right.keys())
    return both / either if either else 0.0


def _keepers(by_key: Mapping[str, Problem], same: Sequence[Pair]) -> dict[str, str]:
    """Return for each problem the one that stays in its place (itself, mostly)."""
    neighbours: dict[str, set[str]] = defaultdict(set)
    for pair in same:
        neighbours[pair.left].add(pair.right)
        neighbours[pair.right].add(pair.left)
    keeper: dict[str, str] = {}
    for key in sorted(by_key, key=lambda k: (*(-v for v in _completeness(by_key[k])), k)):
        if key not in keeper:
            keeper[key] = key
            for other in neighbours[key]:
                keeper.setdefault(other, key)
    return keeper


def _completeness(problem: Problem) -> tuple[float, ...]:
    return (
        bool(problem.solution),
        len(problem.answers),
        len(problem.figures),
        problem.confidence or 0.0,
    )
