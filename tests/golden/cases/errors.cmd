opgauge run mmm
opgauge run mm --backend cudaa
opgauge plan mm --corpus $SOURCE/tests/data/corpus_scan --backend fake --timer garph
opgauge show .
