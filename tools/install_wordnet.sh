#!/usr/bin/env bash
# Unpacks WordNet 3.0 into a folder as nltk reads it (NLTK_DATA=FOLDER), for tests/metrics/test_wordnet.py. The files are
# those of Debian's packages wordnet-base and wordnet-sense-index (8 MB, free licence); nothing is installed. Where they
# cannot be fetched, the tests are skipped and say so.
set -euo pipefail
folder=$1
corpus="$folder/corpora/wordnet"
[ ! -e "$corpus/lexnames" ] || exit 0

unpacked=$(mktemp -d)
trap 'rm -rf "$unpacked"' EXIT
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }
fetch() { (cd "$unpacked" && apt-get download wordnet-base wordnet-sense-index) >"$unpacked/log" 2>&1; }
if ! fetch && ! { as_root apt-get update >"$unpacked/log" 2>&1 && fetch; }; then
  tail -n 5 "$unpacked/log"
  echo "WordNet could not be fetched: tests that need it are skipped"
  exit 0
fi
for package in "$unpacked"/*.deb; do
  dpkg-deb --extract "$package" "$unpacked"
done
mkdir -p "$corpus"
cp "$unpacked"/usr/share/wordnet/* "$corpus"

# lexicographer files, a table that the packages lack: number, name, part of speech (noun 1, verb 2, adjective 3, adverb 4)
names=(adj.all:3 adj.pert:3 adv.all:4 noun.Tops:1 noun.{act,animal,artifact,attribute,body,cognition,communication}:1
  noun.{event,feeling,food,group,location,motive,object,person,phenomenon,plant,possession,process,quantity}:1
  noun.{relation,shape,state,substance,time}:1 verb.{body,change,cognition,communication,competition,consumption}:2
  verb.{contact,creation,emotion,motion,perception,possession,social,stative,weather}:2 adj.ppl:3)
for number in "${!names[@]}"; do
  printf '%02d\t%s\t%s\n' "$number" "${names[number]%:*}" "${names[number]#*:}"
done >"$corpus/lexnames"
