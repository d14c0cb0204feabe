"""Ways of writing a file that are tolerated, and ways that are not."""

from pathlib import Path

import pytest

from sched_core import InputError

from ..conftest import Make, Write

PLAIN = "arrived_at,num_prefill_tokens,num_decode_tokens\n0.0,374,44\n4.314579,396,109\n"


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.rstrip("\n"),
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("\n", "\r\n").rstrip(),
        "\ufeff" + PLAIN,
        PLAIN + "\n",
        PLAIN + "\r\n  \n\n",
        "\n" + PLAIN.replace("\n", "\n\n"),
        PLAIN.replace("arrived_at,", " arrived_at , "),
        PLAIN.replace("374", '"374"').replace("396", " 396 "),
        PLAIN.replace("374", "374.0"),
    ],
    ids=[
        "no newline at the end", "CRLF", "CRLF without the last", "byte-order mark", "blank line",
        "blank lines of both kinds", "blank lines everywhere", "spaces around a name", "quotes",
        "an integer written as float",
    ],
)  # fmt: skip
def test_these_all_mean_the_same(write: Write, make: Make, text: str) -> None:
    requests = make(f"vidur:path={write('v.csv', text)}").requests
    assert [(r.arrival, r.prompt_len, r.output_len) for r in requests] == [
        (0.0, 374, 44),
        (4.314579, 396, 109),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PLAIN + "5.0,1\n", r"v\.csv, line 4: the row does not fit the header.*3 cells"),
        (PLAIN + "5.0,1,2,3\n", r"v\.csv, line 4: the row does not fit the header"),
        (PLAIN + "\n,,\n", r"v\.csv, line 5, field 'arrived_at': missing"),
        (PLAIN + '5.0,"1,2\n', r"v\.csv, line 4: is not CSV"),
        (PLAIN.replace("num_decode", "num_prefill"), r"line 1.*num_decode_tokens"),
        (PLAIN.replace("\n", ",arrived_at\n", 1), "named twice"),
        (PLAIN.replace(",", ";"), "not in the vidur format"),
        (PLAIN.splitlines()[0], "no usable request in 0 rows"),
        ("x" * 200_000 + "\n", "line 1: is not CSV"),
        ("", "is empty"),
        ("\n\n", "is empty"),
        (b"\xff\xfe" + PLAIN.encode("utf-16-le"), "not UTF-8"),
        (PLAIN.encode() + b"5.0,\xe9,2\n", "not UTF-8"),
    ],
)
def test_these_are_refused(write: Write, make: Make, text: str | bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(f"vidur:path={write('v.csv', text)}")


def test_a_line_number_is_the_editors_even_after_a_cell_of_two_lines(
    write: Write, make: Make
) -> None:
    text = 'arrival,prompt_len,output_len,tenant\n0,8,1,"a\nb"\nnan,8,1,c\n'
    with pytest.raises(InputError, match=r"line 4, field 'arrival'"):
        make(f"csv:path={write('t.csv', text)}")


def test_a_file_that_is_not_there_or_a_folder(tmp_path: Path, make: Make) -> None:
    with pytest.raises(InputError, match=r"nothing\.csv: cannot be read.*microsoft/vidur"):
        make(f"vidur:path={tmp_path / 'nothing.csv'}")
    with pytest.raises(InputError, match=r"AzurePublicDataset.*or name=example-azure"):
        make(f"trace:path={tmp_path / 'nothing.csv'}")
    with pytest.raises(InputError, match=r"cannot be read: No such file or directory$"):
        make(f"csv:path={tmp_path / 'nothing.csv'}")
    with pytest.raises(InputError, match="cannot be read"):
        make(f"trace:path={tmp_path}")


def test_the_path_is_required(make: Make) -> None:
    with pytest.raises(InputError, match="'path' is missing"):
        make("vidur")
    with pytest.raises(InputError, match="'path': missing; expected path=FILE or name=example-az"):
        make("trace")
