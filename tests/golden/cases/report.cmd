opgauge report $SOURCE/tests/data/report
opgauge report $SOURCE/tests/data/report --format markdown
opgauge report $SOURCE/tests/data/report --format csv
opgauge report $SOURCE/tests/data/report/runs/mm
opgauge report $SOURCE/tests/data/compare/comparison.json
opgauge report $SOURCE/tests/data/compare/comparison.json --format markdown
opgauge report $SOURCE/tests/data/compare/comparison.json --format csv
opgauge report nowhere
opgauge report $SOURCE/README.md
