from benchmark.measurements.control_updates import update_costs


def test_commands_of_all_joints_cost_much_less_than_a_timestep():
    costs = update_costs(200)
    assert costs.keys() == {"trajectory", "upsampled", "command", "stream", "pose", "impedance"}
    assert all(0.1 < cost < 2000 for cost in costs.values())
