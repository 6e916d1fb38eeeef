ZL_BACKEND=cuda opgauge plan mm --corpus $SOURCE/tests/data/corpus_scan
ZL_BACKEND=mt opgauge plan mm --corpus $SOURCE/tests/data/corpus_scan --shapes upstream
ZL_BACKEND=amd ROCR_VISIBLE_DEVICES=0 opgauge plan mm --corpus $SOURCE/tests/data/corpus_scan --dtypes float16
ZL_BACKEND=npu opgauge plan plain --corpus $SOURCE/tests/data/corpus_scan --level comprehensive
