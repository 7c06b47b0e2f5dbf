from benchmark.updates import update_costs


def test_commanding_all_joints_costs_far_less_than_a_step_lasts():
    costs = update_costs(200)
    assert costs.keys() == {"trajectory", "command", "stream"}
    assert all(0.1 < cost < 500 for cost in costs.values())
