# SPDX-License-Identifier: Apache-2.0
"""A store with the interface of FlagGems' one: it writes a file as soon as it is used."""

import json
import sqlite3

import triton


class SQLPersistantModel:
    def __init__(self, db_url):
        self.path = db_url.removeprefix("sqlite:///")

    def _row(self, *parts):
        return json.dumps([str(part) for part in parts])

    def _get(self, row):
        with sqlite3.connect(self.path) as database:
            database.execute("CREATE TABLE IF NOT EXISTS kept (row TEXT PRIMARY KEY, value TEXT)")
            found = database.execute("SELECT value FROM kept WHERE row = ?", [row]).fetchone()
        return json.loads(found[0]) if found else None

    def _put(self, row, value):
        self._get(row)
        with sqlite3.connect(self.path) as database:
            database.execute("INSERT OR IGNORE INTO kept VALUES (?, ?)", [row, json.dumps(value)])

    def get_config(self, name, keys):
        kept = self._get(self._row(name, *keys))
        return triton.Config({"BLOCK": kept["BLOCK"]}) if kept else None

    def put_config(self, name, keys, config):
        self._put(self._row(name, *keys), config.all_kwargs())

    def get_benchmark(self, name, keys, config):
        return self._get(self._row(name, *keys, config))

    def put_benchmark(self, name, keys, config, benchmark):
        self._put(self._row(name, *keys, config), benchmark)
