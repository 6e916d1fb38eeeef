OPGAUGE_FAKE_SCRIPT=$CASES/script.json opgauge run mm --backend fake
