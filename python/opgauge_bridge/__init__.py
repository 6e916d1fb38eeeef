# SPDX-License-Identifier: Apache-2.0
"""The child's side of opgauge: a pytest plugin that reports cases and raw times.

It measures and decides nothing: statistics, stopping and files are the parent's.
"""
