opgauge compare $SOURCE/tests/data/compare/one/a $SOURCE/tests/data/compare/one/b
opgauge compare $SOURCE/tests/data/compare/many/before $SOURCE/tests/data/compare/many/after --fail-on undecided
opgauge compare $SOURCE/tests/data/compare/one/a $SOURCE/tests/data/compare/one/newer
opgauge compare $SOURCE/tests/data/compare/one/a $SOURCE/tests/data/compare/one/newer --cross-caliber
opgauge compare $SOURCE/tests/data/compare/one/a $SOURCE/tests/data/compare/one/b --what speedup --at-least 50%
