"""The measurements that ``python -m benchmark`` makes, one function each."""
