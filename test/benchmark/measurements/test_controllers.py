from dataclasses import replace

from fake_episodes import fake_episode

from benchmark.durations import QUICK
from benchmark.measurements import controllers


def test_rows_of_each_condition_have_limits_results_of_others_and_failures(monkeypatch):
    def run(_tried, seeds, _jobs):
        good = [fake_episode(seed, failures=("slip",)) for seed in seeds[1:]]
        return [fake_episode(seeds[0], outcome="collision"), *good], True

    monkeypatch.setattr(controllers, "run_episodes", run)
    durations = replace(QUICK, lab_episodes=4, table_episodes=200, perturbed_episodes=40)
    rows = controllers.controllers(durations)
    shown = {row.quantity: row for row in rows}
    lab = shown["lab, 4 episodes: success"]
    assert (lab.text, lab.limit, lab.good, lab.others) == ("75.0", "≥ 100", False, "100 (50 of 50)")
    table = shown["table, 200 episodes: success"]
    assert (table.text, table.limit, table.good, table.others) == ("99.5", "≥ 99", True, "")
    assert shown["table, 200 episodes: 95 % interval of success, lower end"].text == "97.2"
    assert shown["table, 200 episodes: failed with collision"].text == "1"
    assert shown["table, 200 episodes: recovered from slip"].text == "199"
    speed = shown["table, 200 episodes: simulated time per processor time"]
    assert (speed.limit, speed.good) == ("≥ 10", True)
    perturbed = shown["perturbed, 40 episodes: success"]
    assert (perturbed.text, perturbed.limit, perturbed.good) == ("97.5", "≥ 95", True)
    false = shown["perturbed, 40 episodes: false successes"]
    assert (false.text, false.limit, false.good) == ("0", "≤ 0", True)
    assert shown["handover, table, 4 episodes: success"].limit == "≥ 100"
