-- SPDX-License-Identifier: Apache-2.0
-- Version 1 of tuning.db; docs/tuning_store.md says what each column means.
CREATE TABLE scopes (
    id INTEGER PRIMARY KEY,
    facts TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE spaces (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('winners', 'timings')),
    kernel TEXT NOT NULL,
    name TEXT NOT NULL,
    columns TEXT NOT NULL,
    UNIQUE (kind, kernel, name)
) STRICT;
CREATE TABLE winners (
    space_id INTEGER NOT NULL,
    lookup TEXT NOT NULL,
    scope_id INTEGER NOT NULL,
    key TEXT NOT NULL,
    raw_key TEXT NOT NULL,
    config TEXT NOT NULL,
    p50 REAL,
    p20 REAL,
    p80 REAL,
    conditions INTEGER NOT NULL CHECK (conditions BETWEEN 0 AND 2),
    PRIMARY KEY (space_id, lookup, scope_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE timings (
    space_id INTEGER NOT NULL,
    lookup TEXT NOT NULL,
    scope_id INTEGER NOT NULL,
    config_id TEXT NOT NULL,
    key TEXT NOT NULL,
    config TEXT NOT NULL,
    p50 REAL,
    p20 REAL,
    p80 REAL,
    conditions INTEGER NOT NULL CHECK (conditions BETWEEN 0 AND 2),
    PRIMARY KEY (space_id, lookup, scope_id, config_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE evictions (
    space_id INTEGER NOT NULL,
    lookup TEXT NOT NULL,
    scope_id INTEGER NOT NULL,
    config_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('error', 'out_of_resources', 'timeout')),
    PRIMARY KEY (space_id, lookup, scope_id, config_id)
) STRICT, WITHOUT ROWID;
