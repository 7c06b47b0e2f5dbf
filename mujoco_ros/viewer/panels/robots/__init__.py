"""The panel of a robot: joints, references and gains."""
