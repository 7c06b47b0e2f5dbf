"""Environment of Ray, which reads it when it is imported."""

import os
import secrets

# Ray listens on all interfaces, and executes what its clients send.
os.environ.update(
    {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "RAY_USAGE_STATS_ENABLED": "0",
    }
)
