opgauge history $SOURCE/tests/data/compare/one $SOURCE/tests/data/report
opgauge history $SOURCE/tests/data/compare/one --operator mm
opgauge verify $SOURCE/tests/data/compare/one/a --digests-only
