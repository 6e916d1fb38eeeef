# SPDX-License-Identifier: Apache-2.0
def pytest_addoption(parser):
    parser.addoption("--level", default="comprehensive")
    parser.addoption("--dtypes", action="append")
    parser.addoption("--shape_file", default="core_shapes.yaml")
    parser.addoption("--mode", default="kernel")
