OPGAUGE_LIBRARY_PATH=/none opgauge devices --backend musa
OPGAUGE_FAKE_VENDOR=devices=0 opgauge devices --backend ascend
OPGAUGE_FAKE_VENDOR=devices=2,broken=1 opgauge devices --backend nvidia
OPGAUGE_FAKE_VENDOR=devices=1,mig=2 opgauge devices --backend cuda
