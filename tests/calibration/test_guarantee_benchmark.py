"""`python -m bench guarantee` in small."""

import csv

import numpy as np
import pytest
from bench import guarantee
from bench.certificates import cells as tables
from bench.certificates import mmlu, simulated


def test_cells_count_sets_and_stay_within_delta():
    cells = [*simulated.thresholds_of("sharp", 200, 300), *simulated.worst_of(200, 300)]
    assert {cell.a for cell in cells} == {0.05, 0.1, 0.2}
    for cell in cells:
        assert 0 <= cell.false <= cell.certified <= 300
        assert cell.p_value() > 0.001
    assert cells[2].coverage > cells[0].coverage
    assert cells[-1].share() == "none"
    assert cells[-1].false == cells[-1].certified


@pytest.mark.parametrize("mode", ["split", "cross-fit"])
def test_fitted_maps_are_judged_by_what_they_say_of_the_population(mode):
    cells = simulated.maps_of("blunt", 100, mode, 1, 0)
    assert {cell.method for cell in cells} == {f"{mode}, 1 signal", f"{mode}, 4 signals"}
    assert all(cell.coverage <= 1 for cell in cells)
    together = tables.merged([*cells, *cells])
    assert len(together) == len(cells)
    assert together[0].sets == 2


def test_a_file_of_mmlu_pro_is_the_population(tmp_path):
    path = tmp_path / "mmlu_pro_some.csv"
    rng = np.random.default_rng(0)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["", "correct_answer", "extracted_answer", *mmlu.MMLU_COLUMNS])
        for i in range(400):
            p = rng.random()
            writer.writerow([i, "A", "A" if rng.random() < p else "B", round(p, 2), "" if i == 7 else round(p, 3)])
    name, whole = mmlu.mmlu(path)
    assert name == "some"
    assert len(whole) == 400
    assert np.isnan(whole.signals[7, 1])
    cells = mmlu.mmlu_of(path, 100, 3)
    assert {cell.method for cell in cells} == {"thresholds", "split, 1 signal", "split, 2 signals"}


def test_parts_that_need_a_file_say_so(capsys):
    with pytest.raises(SystemExit):
        guarantee.main(["--part", "mmlu"])
    assert "--mmlu FILE" in capsys.readouterr().err
