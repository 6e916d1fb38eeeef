# SPDX-License-Identifier: Apache-2.0
class Autotuner:
    """Times each of its configurations the first time it is called, with triton's own timer."""

    def __init__(self, fn, configs):
        self.fn = fn
        self.configs = configs
        self.timings = {}

    def run(self, *args):
        from .. import testing

        if not self.timings:
            self.timings = {
                config: testing.do_bench(lambda: self.fn(*args), quantiles=(0.5, 0.2, 0.8))
                for config in self.configs
            }
        return self.fn(*args)
