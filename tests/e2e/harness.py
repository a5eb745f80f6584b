# SPDX-License-Identifier: Apache-2.0
"""Helpers of the integration tests that the end-to-end tests use: child processes, waiting."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
from cluster import SKIP, STARTUP_SECONDS, ClusterError, free_ports, _Server as Server  # noqa: E402, F401
from cluster import end_with_test, need_program, skip, wait_until  # noqa: E402, F401
from machine import Deadline, machine_speed  # noqa: E402, F401
