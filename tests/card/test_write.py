"""A card is begun once and renewed ever after: the same records give the same bytes, and the author's text stays."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from analysis import gate
from analysis.card import CardError, CardRequest, Written, splice, write
from analysis.cli.main import main
from analysis.tables import load, subsets
from tests.builders import step, trajectory
from tests.card import reading
from tests.card.conftest import Played

AUTHORS = b"# Bank runs\r\n\r\nMine: caf\xe9 in Latin-1, | pipes | and no end of line"


pytestmark = pytest.mark.usefixtures("own_cache")


def runs(folder: Path, *records: object) -> Path:
    path = folder / "runs.json"
    path.write_text(json.dumps(records, indent=4), encoding="utf-8")
    return path


def test_a_second_run_writes_the_same_bytes(played: Played) -> None:
    before = {path: path.read_bytes() for path in played.written.files}
    again = write(
        CardRequest(
            str(played.source),
            played.folder / "README.md",
            tables=str(played.folder / "tables"),
            license="mit",
            jobs=1,
            progress=False,
        )
    )
    assert {path: path.read_bytes() for path in again.files} == before


def test_a_new_card_is_one_the_author_can_go_on_with(played: Played) -> None:
    tokens = reading.tokens(played.card.partition("\n---\n")[2])
    assert not {token.type for token in tokens} & (reading.FOREIGN - {"html_block"})
    assert [token.content.strip() for token in tokens if token.type == "html_block"] == [splice.BEGIN, splice.END]
    assert "To be filled in by the author: a name" in played.card


def test_a_card_is_renewed_and_the_authors_text_stays_byte_for_byte(tmp_path: Path) -> None:
    source = runs(tmp_path, trajectory("t1"))
    begin, end = splice.BEGIN.encode(), splice.END.encode()
    front = b"---\r\nlicense: mit # mine\r\n---\r\n"
    card = tmp_path / "README.md"
    card.write_bytes(front + AUTHORS + b"\r\n" + begin + b"\r\nold\r\n" + end + b"\r\n" + AUTHORS)
    made = write(CardRequest(str(source), tmp_path, name="Other", progress=False))
    renewed = card.read_bytes()
    assert renewed.startswith(front + AUTHORS + b"\r\n" + begin + b"\r\n## Statistics\r\n")
    assert renewed.endswith(b"\r\n" + end + b"\r\n" + AUTHORS)
    assert b"\r\nold\r\n" not in renewed
    # What the author wrote there is told in the other file, too.
    assert made.left == ("languages", "url", "creator", "published", "version", "citation")
    assert json.loads((tmp_path / "croissant.jsonld").read_text(encoding="utf-8"))["license"] == "mit"
    assert made.notes == (
        f"{card}: the front matter was left as it is; it has no lines '# trajectory-notebooks:begin' and -end",
    )


def test_other_records_change_only_what_stands_between_the_marks(tmp_path: Path) -> None:
    source = runs(tmp_path, trajectory("t1", steps=[step("pay")]))
    card = write(CardRequest(str(source), tmp_path / "card.md", progress=False)).card
    first = card.read_text(encoding="utf-8")
    mine = first.replace("To be filled in by the author: a name", "Bank").replace("---\n\n#", "license: mit\n---\n\n#")
    card.write_text(mine, encoding="utf-8")
    runs(tmp_path, trajectory("t1"), trajectory("t2"))
    write(CardRequest(str(source), card, progress=False))
    second = card.read_text(encoding="utf-8")
    rows = {row["what"]: row["number"] for row in reading.rows(second, "What it holds")}
    assert (rows["records kept"], rows["tool calls"]) == ("2", "0")
    assert "# To be filled in by the author: pretty_name, language\n" in second
    assert (
        second.split(splice.BEGIN)[0].replace("pretty_name, language", "pretty_name, license, language")
        == (mine.split(splice.BEGIN)[0])
    )
    # Nobody calls a tool any more: a picture of tools would be of other records.
    assert "statistics/tools.svg" not in second
    assert not (tmp_path / "statistics" / "tools.svg").exists()
    assert (tmp_path / "statistics" / "steps.svg").exists()


def test_what_was_given_once_is_kept(tmp_path: Path) -> None:
    source = runs(tmp_path, trajectory("t1"))
    said = {"name": "Bank", "license": "https://example.org/terms", "languages": ("en", "zh"), "creator": "ACME"}
    first = write(CardRequest(str(source), tmp_path / "card.md", progress=False, **said))  # type: ignore[arg-type]
    before = [path.read_bytes() for path in first.files]
    second = write(CardRequest(str(source), tmp_path / "card.md", progress=False))
    assert [path.read_bytes() for path in second.files] == before
    assert second.left == first.left == ("url", "published", "version", "citation")


def test_a_card_without_a_place_for_statistics_is_left_alone_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_bytes(AUTHORS)
    with pytest.raises(CardError, match=r"README\.md: no line '<!-- trajectory-notebooks:begin -->'; put one line"):
        write(CardRequest("no such source", tmp_path / "README.md", progress=False))
    assert os.listdir(tmp_path) == ["README.md"]  # noqa: PTH208


@pytest.mark.parametrize("records", [[], [{"messages": 3}]], ids=["nothing", "nothing that can be read"])
def test_no_card_is_written_of_no_records(records: list[object], tmp_path: Path) -> None:
    with pytest.raises(CardError, match="was kept; there is nothing to write"):
        write(CardRequest(str(runs(tmp_path, *records)), tmp_path / "README.md", progress=False))
    assert not (tmp_path / "README.md").exists()


def test_a_card_of_a_part_of_a_source_says_which(tmp_path: Path) -> None:
    source = runs(tmp_path, *(trajectory(f"t{n}") for n in range(3)))
    whole = load(str(source), progress=False)
    chosen: dict[str, Any] = {"manifest": whole.manifest, "trajectories": whole.trajectories}
    part = subsets.save("few", ["00000-00001"], source=str(source), folder=tmp_path, **chosen)
    made = write(CardRequest(str(part), tmp_path / "README.md", progress=False))
    text = made.card.read_text(encoding="utf-8")
    assert "Only a part of the source is counted: 1 of the 3 records kept." in text
    assert all(str(tmp_path).encode() not in path.read_bytes() for path in made.files)
    assert {row["what"]: row["number"] for row in reading.rows(text, "What it holds")}["records kept"] == "1"
    about = json.loads((tmp_path / "croissant.jsonld").read_text(encoding="utf-8"))
    assert about["name"] == "few"
    assert about["description"].startswith("1 tool-use trajectory")
    assert about["description"].endswith("Only a part of them is described; 3 were kept.")


@pytest.fixture(scope="module")
def torn(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """A card of a file that lies elsewhere: two calls, one of them failed, a record that is none, and no end."""
    folder = tmp_path_factory.mktemp("torn")
    source = folder / "there" / "runs.json"
    source.parent.mkdir()
    records = [trajectory("t1", steps=[step("pay"), step("pay", error="no funds")]), {"messages": 3}]
    source.write_text(json.dumps(records, indent=4)[:-1], encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRAJECTORY_CACHE", str(folder / "cache"))
        return write(CardRequest(str(source), folder / "here" / "README.md", progress=False))


def test_rejected_records_and_damage_are_told(torn: Written) -> None:
    text = torn.card.read_text(encoding="utf-8")
    assert "2 records in = 1 kept + 1 rejected" in text
    assert "the array is not closed" in text


def test_shares_of_fewer_than_twenty_are_dashes_beside_their_counts(torn: Written) -> None:
    text = torn.card.read_text(encoding="utf-8")
    # What is asked for is a share, whatever is there.
    found = {title: tables for title, tables in reading.tables(text).items() if title != "Verdict"}
    assert "%" not in "".join(cell for tables in found.values() for t in tables for r in t for cell in r)
    (row,) = reading.rows(text, "Calls")
    assert (row["errors (calls)"], row["judged (calls)"], row["error rate"]) == ("1", "2", "–")


def test_no_path_of_this_machine_is_told(torn: Written) -> None:
    here = torn.card.parent
    assert all(str(here.parent).encode() not in path.read_bytes() for path in torn.files)
    assert torn.notes == (f"runs.json: not below {here}; the card tells of it as if it lay there",)
    assert "data_files" not in torn.card.read_text(encoding="utf-8")


# The command line


def test_the_verb_says_what_it_wrote_and_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    runs(tmp_path, trajectory())
    words = ["card", "runs.json", "README.md", "--license", "mit", "--language", "en", "--language", "zh", "--quiet"]
    assert main(words) == 0
    said = capsys.readouterr()
    assert said.out == "README.md: written, with 4 files beside it\n"
    assert (
        said.err
        == "analysis: left for the author to write: name, url, creator, published, version, citation; see --help\n"
    )
    assert "license: mit\nlanguage:\n- en\n- zh\n" in Path("README.md").read_text(encoding="utf-8")


def test_the_verb_says_in_one_line_what_stands_in_its_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("README.md").write_bytes(AUTHORS)
    assert main(["card", "sample", "README.md"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("analysis: README.md: no line")
    assert said.count("\n") == 1


def test_a_day_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["card", "sample", "--published", "2026-02-30"])
    assert "2026-02-30 is not a date; write it as 2026-03-31" in capsys.readouterr().err


def test_a_card_opens_with_the_verdict_and_what_remains(tmp_path: Path) -> None:
    write(CardRequest("sample", tmp_path / "README.md", progress=False))
    text = (tmp_path / "README.md").read_text("utf-8")
    bounds = len(gate.read().threshold) + len(gate.read().finding) - 1  # the one on tokens
    assert f"without the one on tokens: ready. Limits that hold: {bounds} of {bounds} that could be judged." in text
    assert text.index("### Verdict") < text.index("### What it holds")
