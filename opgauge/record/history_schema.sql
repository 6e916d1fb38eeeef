-- SPDX-License-Identifier: Apache-2.0
-- Version 1 of history.db: made from run folders, and made again from them where it is lost.
CREATE TABLE runs (
    directory TEXT PRIMARY KEY,
    stamp TEXT NOT NULL,
    run_id TEXT NOT NULL,
    operator TEXT NOT NULL,
    created_utc TEXT NOT NULL,
    caliber_id TEXT NOT NULL,
    setup_id TEXT NOT NULL,
    device TEXT NOT NULL,
    status TEXT NOT NULL,
    row_count INTEGER NOT NULL,
    geomean REAL,
    geomean_n INTEGER NOT NULL
) STRICT;
CREATE TABLE cases (
    directory TEXT NOT NULL REFERENCES runs (directory),
    row_index INTEGER NOT NULL,
    case_id TEXT NOT NULL,
    caliber_id TEXT NOT NULL,
    operator TEXT NOT NULL,
    dtype TEXT NOT NULL,
    shapes TEXT NOT NULL,
    status TEXT NOT NULL,
    flags TEXT NOT NULL,
    base_ns REAL,
    candidate_ns REAL,
    speedup REAL,
    PRIMARY KEY (directory, row_index)
) STRICT;
CREATE INDEX cases_by_operator ON cases (operator, case_id);
