#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Is an operator faster with an environment switch of the corpus? Usage: ab_switch.sh CORPUS [OPERATOR]
#
# The switch is an example: the corpus may have dropped or renamed it since. opgauge then says that the
# arms are identical as far as it can see. Look for today's switches with
#     grep -rn 'environ' CORPUS/src
# and name one: SWITCH=NAME sh ab_switch.sh CORPUS
set -eu

corpus=${1:?usage: ab_switch.sh CORPUS [OPERATOR]}
operator=${2:-mm}
switch=${SWITCH:-USE_FLAGTUNE}

exec "${OPGAUGE:-opgauge}" ab --a "$switch=0" --b "$switch=1" "$operator" \
    --corpus "$corpus" --replicates "${REPLICATES:-10}" --fail-on slower
