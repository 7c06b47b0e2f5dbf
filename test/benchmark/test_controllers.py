from dataclasses import replace

from dying import made_up

from benchmark import controllers
from benchmark.plan import QUICK


def test_limits_others_and_failures_are_told_of_each_condition(monkeypatch):
    def run(_tried, seeds, _jobs):
        good = [made_up(seed, failures=("slip",)) for seed in seeds[1:]]
        return [made_up(seeds[0], outcome="collision"), *good], True

    monkeypatch.setattr(controllers, "run", run)
    rows = controllers.controllers(replace(QUICK, lab_episodes=4, table_episodes=200))
    told = {row.quantity: row for row in rows}
    lab = told["lab, 4 episodes: success"]
    assert (lab.text, lab.limit, lab.good, lab.others) == ("75.0", "≥ 100", False, "100 (50 of 50)")
    table = told["table, 200 episodes: success"]
    assert (table.text, table.limit, table.good, table.others) == ("99.5", "≥ 99", True, "")
    assert told["table, 200 episodes: 95 % interval of success, lower end"].text == "97.2"
    assert told["table, 200 episodes: failed with collision"].text == "1"
    assert told["table, 200 episodes: recovered from slip"].text == "199"
    speed = told["table, 200 episodes: simulated time per processor time"]
    assert (speed.limit, speed.good) == ("≥ 10", True)
