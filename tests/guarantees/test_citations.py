"""Places in the paper: one table, which the documentation keeps to."""

import re
from pathlib import Path

import pytest

from carom.guarantees.citations import PLACES, cite

DOCS = Path(__file__).parents[2] / "docs"
KINDS = {
    "thm": ("Theorem", "Lemma", "Corollary", "Proposition"),
    "lem": ("Lemma", "Theorem"),
    "prop": ("Proposition", "Lemma"),
    "coro": ("Corollary",),
    "def": ("Definition",),
    "assump": ("Assumption",),
    "eq": ("Equation",),
    "alg": ("Algorithm",),
}


@pytest.mark.parametrize("label", PLACES)
def test_a_place_has_a_number_and_a_section(label):
    kind, number, section = re.fullmatch(
        r"(\w+) (\d+), ((?:Section|Appendix) [1-6A-E](?:\.\d)?)", PLACES[label]
    ).groups()
    assert kind in KINDS[label.split(":")[0]]
    assert int(number) >= 1
    assert section


def test_no_two_statements_have_one_number():
    assert len(set(PLACES.values())) == len(PLACES)


def test_numbers_follow_the_order_of_sections():
    """What is counted together comes in the order of the paper."""
    for kind in ("Theorem", "Lemma", "Assumption", "Corollary", "Proposition", "Equation"):
        own = [place for place in PLACES.values() if place.startswith(f"{kind} ")]
        own.sort(key=lambda place: int(re.search(r"\d+", place)[0]))
        # Appendices, which have letters, come after all sections.
        sections = [place.split(", ")[1].split(" ")[1] for place in own]
        assert sections == sorted(sections)


def test_several_are_cited_together():
    assert cite("assump:nondegenerate", "thm:ExponentialSimulationDecay") == (
        "Halm and Posa 2024: Assumption 2, Section 2.2; Theorem 8, Section 5.2"
    )


@pytest.mark.parametrize("page", ["theory.md", "guarantees.md"])
def test_pages_give_the_same_numbers(page):
    """A label stands behind its number, as in "Theorem 8 (`thm:ExponentialSimulationDecay`)"."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found = re.findall(r"`((?:thm|lem|prop|coro|def|assump|eq|alg):\w+)`", text)
    assert len(found) > 8
    for label in found:
        number = PLACES[label].split(", ")[0]
        assert f"{number} (`{label}`)" in text, label
