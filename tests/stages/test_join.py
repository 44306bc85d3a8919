"""Solutions in a file of their own reach the problems that they solve, and only those."""

from __future__ import annotations

from problem_records import figure, problem

from physelite_build.records import Document, DocumentProblems, FigureRole, Problem
from physelite_build.stages.join import find_partners, join_solutions


def paper(doc_id: str, *problems: Problem) -> DocumentProblems:
    return DocumentProblems(doc_id=doc_id, problems=problems)


def asked(doc_id: str, *numbers: int) -> DocumentProblems:
    return paper(doc_id, *(problem(f"{doc_id}#{n}", f"Find the speed of ball {n}.", answer=None) for n in numbers))


def solved(doc_id: str, *numbers: int) -> DocumentProblems:
    return paper(doc_id, *(problem(f"{doc_id}#{n}", "", solution=f"Energy {n}.", answer=f"$v={n}$") for n in numbers))


def partners(*found: DocumentProblems, files: dict[str, str] | None = None) -> dict[str, str]:
    names = files or {}
    documents = [
        Document(doc_id=made.doc_id, root="/scans", files=(names.get(made.doc_id, f"{made.doc_id}.pdf"),))
        for made in found
    ]
    return find_partners({made.doc_id: made for made in found}, documents)


def test_solutions_find_the_paper_of_the_same_name() -> None:
    found = (asked("2019", 1, 2), asked("2020", 1, 2), solved("2019-solutions", 1, 2), solved("2020_答案", 1, 2))
    assert partners(*found) == {"2019-solutions": "2019", "2020_答案": "2020"}


def test_solutions_in_a_folder_next_to_the_paper_find_it() -> None:
    files = {"problems": "2019/problems/a.pdf", "solutions": "2019/solutions/a.pdf", "other": "2018/problems/a.pdf"}
    found = (asked("problems", 1, 2), solved("solutions", 1, 2), asked("other", 1, 2))
    assert partners(*found, files=files) == {"solutions": "problems"}


def test_the_only_paper_beside_it_is_taken_whatever_its_name() -> None:
    assert partners(asked("mechanics", 1, 2), solved("key", 1, 2)) == {"key": "mechanics"}


def test_solutions_stay_alone_when_two_papers_could_be_meant_or_none_fits() -> None:
    assert partners(asked("a", 1, 2), asked("b", 1, 2), solved("c", 1, 2)) == {}
    assert partners(asked("a", 1, 2), solved("a-solutions", 7, 8, 9)) == {}
    answered = paper("a", problem("a#1", "Find it.", solution="Done."))
    assert partners(answered, solved("a-solutions", 1)) == {}


def test_a_paper_is_joined_by_one_document_only() -> None:
    assert partners(asked("a", 1), solved("a-solutions", 1), solved("a-answers", 1)) == {"a-answers": "a"}


def test_a_document_with_statements_is_no_document_of_solutions() -> None:
    assert partners(asked("a", 1), asked("a-solutions", 1)) == {}


def test_solution_steps_answer_and_figures_come_over_and_the_rest_stays() -> None:
    other = solved("s", 2, 9)
    drawn = other.problems[0].model_copy(update={"figures": (figure("s/p1", 1),)})
    made = join_solutions(asked("a", 1, 2), paper("s", drawn, other.problems[1]))
    first, second, extra = made.problems
    assert (first.key, first.solution) == ("a#1", None)
    assert (second.key, second.solution, second.final_answer) == ("a#2", "Energy 2.", "$v=2$")
    assert [(f.problem_key, f.role) for f in second.figures] == [("a#2", FigureRole.SOLUTION)]
    assert extra.key == "s#9"


def test_what_the_paper_has_itself_is_not_overwritten() -> None:
    own = paper("a", problem("a#1", "Find it.", solution="Ours.", answer="$v=5$"))
    assert join_solutions(own, solved("s", 1)).problems == own.problems
