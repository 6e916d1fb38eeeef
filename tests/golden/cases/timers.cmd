PYTHONPATH=$SOURCE/python/tests:$SOURCE/tests/data/corpus_flaggems/stubs OPGAUGE_PYTHON=python3 OPGAUGE_FAKE_CLOCK=fake_clock FAKE_CLOCK='{"gap_ns":1600}' opgauge doctor --timers --backend fake
opgauge doctor --timers --backend fake --again --python /none
