#!/bin/sh
# Makes a project with BMAD 6.0.4, by its own installer, and a PRD in it: benches/bmad.sh FOLDER
set -eu
project=$1
if [ -e "$project/_bmad" ]; then exit 0; fi
mkdir -p "$project/npm"
npm install --silent --no-save --prefix "$project/npm" bmad-method@6.0.4
(cd "$project" && ./npm/node_modules/.bin/bmad-method install --directory . --modules bmm --tools claude-code --yes) >"$project/install.log"
rm -r "$project/npm"
mkdir -p "$project/_bmad-output/planning-artifacts"
cat >"$project/_bmad-output/planning-artifacts/prd.md" <<'PRD'
---
stepsCompleted: ['step-01-init', 'step-02-discovery']
inputDocuments: []
workflowType: 'prd'
---

# Product Requirements Document
PRD
