"""The panel "World": its entities, and the models and worlds to add or load."""
