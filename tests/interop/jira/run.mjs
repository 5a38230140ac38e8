// Every description that stepmark sent to the Jira of the tests, held against Atlassian's own schema of its document format.
//
// Usage: node run.mjs FOLDER; the packages of package.json must be installed beside this file. FOLDER is what the tests wrote: `jira`
// in the folder that STEPMARK_RECORD_HTTP named.

import { readFileSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import Ajv from 'ajv-draft-04'

const [folder] = process.argv.slice(2)
if (!folder) {
  console.error('usage: run.mjs FOLDER')
  process.exit(2)
}
/** What Jira says that a description has at most. */
const LIMIT = 32767
/** The kinds of nodes that stepmark writes: all of them must have been judged. */
const WRITTEN = ['panel', 'paragraph', 'heading', 'bulletList', 'listItem', 'taskList', 'taskItem', 'text']
const MARKS = ['strong', 'code', 'link']

const schema = JSON.parse(readFileSync(createRequire(import.meta.url).resolve('@atlaskit/adf-schema/dist/json-schema/v1/full.json'), 'utf8'))
const isValid = new Ajv({ strict: false, allErrors: false }).compile(schema)

function* documents(value) {
  if (value === null || typeof value !== 'object') return
  if (value.type === 'doc') yield value
  else for (const child of Object.values(value)) yield* documents(child)
}

function* kinds(node) {
  yield node.type
  for (const mark of node.marks ?? []) yield mark.type
  for (const child of node.content ?? []) yield* kinds(child)
}

const sent = new Map()
for (const name of readdirSync(folder).filter(name => name.endsWith('.jsonl'))) {
  for (const line of readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean)) {
    const { target, body } = JSON.parse(line)
    if (!target.startsWith('/rest/api/3/issue') || !body) continue
    for (const document of documents(JSON.parse(body))) sent.set(JSON.stringify(document), document)
  }
}

let failed = 0
const fail = (text, detail) => (failed++, console.log(`FAIL ${text}\n     ${JSON.stringify(detail).slice(0, 1500)}`))

// A judge that lets everything pass would judge nothing.
const bogus = [
  { version: 1, type: 'doc', content: [{ type: 'panel', attrs: {}, content: [] }] },
  { version: 1, type: 'doc', content: [{ type: 'text', text: 'bare' }] },
  { version: 1, type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text: '' }] }] },
]
for (const document of bogus) if (isValid(document)) fail('the schema accepts what is no document', document)

const seen = new Set()
for (const [text, document] of sent) {
  for (const kind of kinds(document)) seen.add(kind)
  if (!isValid(document)) fail(`no document: ${isValid.errors.map(error => `${error.instancePath} ${error.message}`).slice(-3).join('; ')}`, document)
  if (text.length > LIMIT) fail(`a document of ${text.length} characters`, document)
}
for (const kind of [...WRITTEN, ...MARKS]) if (!seen.has(kind)) fail('the tests send no such node', kind)
const longest = Math.max(...[...sent.keys()].map(text => text.length))
if (longest < LIMIT * 0.9) fail('the tests send no long document', longest)

console.log(`${sent.size} different descriptions, the longest of ${longest} characters, of ${[...seen].sort().join(', ')}`)
console.log(failed ? `${failed} faults` : 'ok   all are documents by Atlassian\'s schema')
process.exit(failed ? 1 : 0)
