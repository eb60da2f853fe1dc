"""Exhibits are made once, kept whole, and shown on one page that needs nothing else."""

import base64
import csv
import io
import json
import re

import pytest

import carom
from carom.paper.exhibit import Effort, Exhibit, Finding, Made, Table
from carom.paper.exhibits import EXHIBITS
from carom.paper.run import choose, reproduce

CHEAP = ("routh-path", "parameters")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("paper")
    reproduce(out, CHEAP, quick=True)
    return out


class Counted:
    """An exhibit that counts how often it is made, and can be interrupted."""

    def __init__(self, name, monkeypatch):
        self.made = 0
        self.interrupt = False
        monkeypatch.setitem(EXHIBITS, name, Exhibit(name, "nowhere", name, self.make, (1.0, 1.0)))

    def make(self, effort, progress):
        if self.interrupt:
            raise KeyboardInterrupt
        self.made += 1
        progress(1, 1)
        table = Table(("x",), [[0.1 + self.made], [effort.quick]])
        return Made("remarks", {}, {"data": table}, (Finding("a sentence", True, "1"),))


def test_every_figure_with_numbers_and_every_table_has_an_exhibit():
    places = " ".join(exhibit.place for exhibit in EXHIBITS.values())
    for number in range(1, 15):
        assert re.search(rf"Figure {number}\b", places), number
    assert "Table 3" in places
    assert "Tables 4 to 8" in places


def test_exhibits_come_in_the_order_of_the_paper_whatever_the_order_of_names():
    assert [exhibit.name for exhibit in choose(CHEAP[::-1])] == list(CHEAP)
    assert [exhibit.name for exhibit in choose(())] == list(EXHIBITS)


def test_refuses_unknown_names(tmp_path):
    with pytest.raises(carom.InvalidOption, match=r"named 'zeno-cycl' .did you mean 'zeno-cycle'"):
        reproduce(tmp_path / "out", ["zeno-cycl"])
    assert not (tmp_path / "out").exists()


def test_page_holds_everything(folder):
    """Pictures and data are in the page itself, and nothing is fetched from anywhere."""
    text = (folder / "index.html").read_text(encoding="utf-8")
    targets = re.findall(r"(?:src|href)=.(data:|#|.{20})", text)
    assert set(targets) == {"data:", "#"}
    assert "@import" not in text
    assert "<script" not in text
    pictures = re.findall(r'src="data:image/png;base64,([^"]+)"', text)
    assert base64.b64decode(pictures[0]) == (folder / "routh-path" / "path.png").read_bytes()
    links = dict(re.findall(r'download="([^"]+)" href="data:text/csv;base64,([^"]+)"', text))
    assert set(links) == {"routh-path-path.csv", "parameters-parameters.csv"}
    path = base64.b64decode(links["routh-path-path.csv"])
    assert path == (folder / "routh-path" / "path.csv").read_bytes()
    for exhibit in choose(CHEAP):
        assert exhibit.place in text
        assert f"carom reproduce {exhibit.name} --quick" in text


def test_data_can_be_read(folder):
    rows = list(csv.DictReader(io.StringIO((folder / "routh-path/path.csv").read_text())))
    assert [row["stretch that led here"] for row in rows] == [
        "start",
        "compressing, sliding +",
        "compressing, sticking",
    ]
    assert abs(float(rows[-1]["normal [m/s]"])) < 1e-12


def test_goes_on_where_it_was_interrupted(tmp_path, monkeypatch):
    first, second = (Counted(name, monkeypatch) for name in ("first", "second"))
    second.interrupt = True
    with pytest.raises(KeyboardInterrupt):
        reproduce(tmp_path, ["first", "second"])
    assert not (tmp_path / "second").exists()
    assert "1 more are still to come" in (tmp_path / "index.html").read_text()
    second.interrupt = False
    kept = reproduce(tmp_path, ["first", "second"])
    assert [one.was_there for one in kept] == [True, False]
    assert (first.made, second.made) == (1, 1)
    assert "still to come" not in (tmp_path / "index.html").read_text()


def test_makes_again_what_is_asked_for_anew_or_damaged_or_of_another_kind(tmp_path, monkeypatch):
    only = Counted("only", monkeypatch)

    def again(**options):
        before = only.made
        reproduce(tmp_path, ["only"], **options)
        return only.made > before

    assert again()
    assert not again()
    assert again(fresh=True)
    assert again(quick=True)
    assert not again(quick=True)
    (tmp_path / "only" / "data.csv").unlink()
    assert again(quick=True)
    record = tmp_path / "only" / "exhibit.json"
    record.write_text(record.read_text()[:30])
    assert again(quick=True)
    changed = json.loads(record.read_text())
    changed["key"]["carom"] = "0.0.1"
    record.write_text(json.dumps(changed))
    assert again(quick=True)


def test_page_shows_all_that_is_in_the_folder(tmp_path, monkeypatch):
    """What is made later joins what was made before, full or quick."""
    for name in ("first", "second"):
        Counted(name, monkeypatch)
    reproduce(tmp_path, ["first"], quick=True)
    reproduce(tmp_path, ["second"])
    text = (tmp_path / "index.html").read_text()
    assert '<h2 id="first">' in text
    assert '<h2 id="second">' in text
    assert "carom reproduce first --quick" in text
    assert "carom reproduce second</code>" in text


def test_record_is_gone_while_files_are_written(tmp_path, monkeypatch):
    """Else an interrupted second run would leave a mixture that looks whole."""
    only = Counted("only", monkeypatch)
    reproduce(tmp_path, ["only"])
    monkeypatch.setattr("carom.paper.store.write_atomically", _fail)
    with pytest.raises(OSError, match="disk full"):
        reproduce(tmp_path, ["only"], fresh=True)
    monkeypatch.undo()
    only = Counted("only", monkeypatch)
    reproduce(tmp_path, ["only"])
    assert only.made == 1


def _fail(*_):
    raise OSError("disk full")


def test_progress_names_each_exhibit(tmp_path, monkeypatch):
    Counted("only", monkeypatch)
    told = []

    def begin(exhibit):
        told.append(exhibit.name)
        return lambda done, total: told.append((done, total))

    reproduce(tmp_path, ["only"], begin=begin)
    assert told == ["only", (1, 1)]


def test_quick_does_less_and_never_more():
    assert Effort(quick=True).samples(2**20) < 2**12
    assert Effort(quick=True).samples(10) == 10
    assert Effort().samples(2**20) == 2**20
    assert Effort(quick=True).runs(51) % 2 == 1
