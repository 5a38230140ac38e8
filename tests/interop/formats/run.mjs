// The output formats of `stepmark check` judged by those who read them: SARIF by the schema of version 2.1.0 and by making its
// fixes in UTF-16, workflow commands by the package that GitHub's own actions write them with, JUnit by a reader of it.
//
// Usage: node run.mjs STEPMARK_BINARY; the packages of package.json must be installed beside this file.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import Ajv from 'ajv-draft-04'
import addFormats from 'ajv-formats'
import { parse as parseJunit } from 'junit2json'
import * as actions from '@actions/core'

const stepmark = resolve(process.argv[2])
const require = createRequire(import.meta.url)
const FILES = {
  'docs/wide 100%, a: b.md':
    '\uFEFF---\r\ntitle: 猫🦀 # kept\r\nstepsCompleted: [🦀-1, ~, step-02, 🦀-1, 1.10, step-03] # 猫\r\nstatus: x\r\n---\r\nStatus: y\r\n',
  'docs/ü/twice.md': '---\nstatus: draft\nstatus: "a\\x1b[31m"\nstepsCompleted: [a, a, b]\n---\n',
  'docs/broken.md': "---\nstepsCompleted: ['a' b]\n---\n",
  'docs/clean.md': '---\nstatus: done\nstepsCompleted: []\n---\n',
  'docs/brief.md': '---\nstepsCompleted: []\ndate: { system-date }\n---\n',
}
let failed = 0

function check(what, holds, detail = '') {
  if (!holds) failed++
  console.log(holds ? `ok   ${what}` : `FAIL ${what}\n     ${detail}`)
}

function project() {
  const folder = mkdtempSync(join(tmpdir(), 'stepmark-formats-'))
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

function run(folder, ...words) {
  const done = spawnSync(stepmark, ['check', '--root', '.', ...words], { cwd: folder, encoding: 'utf8' })
  if (![0, 1].includes(done.status)) throw new Error(`${words}: ${done.status} ${done.stderr}`)
  return done.stdout
}

function judgeSarif(folder, findings) {
  const main = require.resolve('@microsoft/jest-sarif')
  const schema = JSON.parse(readFileSync(join(dirname(main), 'schemas', 'sarif-2.1.0-rtm.5.json'), 'utf8'))
  const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false })
  addFormats(ajv)
  const validate = ajv.compile(schema)
  const log = JSON.parse(run(folder, '--format', 'sarif'))
  check('SARIF is valid by its schema', validate(log), JSON.stringify(validate.errors))
  const empty = JSON.parse(run(folder, '--format', 'sarif', 'docs/clean.md'))
  check('SARIF without results is valid, too', validate(empty), JSON.stringify(validate.errors))
  check('the schema refuses what is wrong', !validate({ ...log, version: '2.0.0' }))
  const [{ results, tool, columnKind }] = log.runs
  check('every finding is a result', results.length === findings.length, `${results.length} of ${findings.length}`)
  check('columns are those of JavaScript', columnKind === 'utf16CodeUnits', columnKind)
  check('every result names its rule', results.every(({ ruleId, ruleIndex }) => tool.driver.rules[ruleIndex].id === ruleId))
  const uris = results.map(result => result.locations[0].physicalLocation.artifactLocation.uri)
  check('every URI leads to its file', uris.every(uri => decodeURIComponent(new URL(uri, 'file:///').pathname).slice(1) in FILES), uris.join(' '))
  makeFixes(folder, results)
}

/** One fix of the log, made as an editor makes it, is what the fix of the JSON format says in bytes. */
function makeFixes(folder, results) {
  const findings = JSON.parse(run(folder, '--json')).findings
  let made = 0
  results.forEach((result, index) => {
    for (const fix of result.fixes ?? []) {
      const path = findings[index].path
      const bytes = Buffer.from(FILES[path])
      const byBytes = findings[index].fix.edits.reduceRight(
        (text, edit) => Buffer.concat([text.subarray(0, edit.offset), Buffer.from(edit.text), text.subarray(edit.end_offset)]),
        bytes,
      )
      const byRegions = replace(FILES[path], fix.artifactChanges[0].replacements)
      check(`the fix of ${result.ruleId} in ${path}`, byRegions === byBytes.toString('utf8'), JSON.stringify(byRegions))
      made++
    }
  })
  check('there were fixes', made > 3, made)
}

function replace(text, replacements) {
  const mark = text.startsWith('\uFEFF') ? 1 : 0
  const starts = [mark]
  for (const end of text.matchAll(/\r\n|\n|\r/g)) starts.push(end.index + end[0].length)
  const at = (line, column) => starts[line - 1] + column - 1
  const ranges = replacements.map(({ deletedRegion: region, insertedContent }) =>
    'byteOffset' in region
      ? [0, region.byteLength / 3, insertedContent?.text ?? '']
      : [at(region.startLine, region.startColumn), at(region.endLine, region.endColumn), insertedContent?.text ?? ''],
  )
  return ranges.reduceRight((text, [start, end, inserted]) => text.slice(0, start) + inserted + text.slice(end), text)
}

/** What the package writes for the same annotations. */
function expectedCommands(findings) {
  const lines = []
  const write = process.stdout.write
  process.stdout.write = text => lines.push(text)
  try {
    for (const finding of findings) {
      const command = { error: actions.error, warning: actions.warning, note: actions.notice }[finding.severity]
      const visible = text => text.replace(/[\0-\x09\x0b-\x1f]/g, c => String.fromCharCode(0x2400 + c.charCodeAt(0)))
      const place = {
        title: `${finding.id} ${finding.name}`,
        file: finding.path,
        startLine: finding.line,
        endLine: finding.end_line,
        startColumn: finding.column,
        endColumn: finding.line === finding.end_line ? finding.end_column : undefined,
      }
      command(visible(finding.help ? `${finding.message}\nhelp: ${finding.help}` : finding.message), place)
    }
  } finally {
    process.stdout.write = write
  }
  return lines.join('').split('\n').filter(line => line !== '')
}

/** A command with its properties in the order of their names: their order has no meaning. */
function sorted(line) {
  const [, head, properties, message] = /^::(\w+) (.*?)::(.*)$/.exec(line)
  return `${head} ${properties.split(',').sort().join(',')} ${message}`
}

function judgeGithub(folder, findings) {
  const commands = run(folder, '--format', 'github').split('\n').filter(line => line !== '')
  const expected = expectedCommands(findings)
  check('as many commands as findings', commands.length === expected.length, commands.length)
  commands.forEach((command, index) => {
    check(`command ${index}`, sorted(command) === sorted(expected[index]), `${command}\n     ${expected[index]}`)
  })
}

async function judgeJunit(folder, findings) {
  const report = await parseJunit(run(folder, '--format', 'junit'))
  const problems = findings.filter(finding => finding.severity !== 'note')
  check('JUnit counts the failures', report.failures === problems.length, report.failures)
  check('a suite for each file', report.testsuite.length === Object.keys(FILES).length, report.testsuite.length)
  const failures = report.testsuite.flatMap(suite => suite.testcase).flatMap(test => test.failure ?? [])
  const messages = failures.map(failure => failure.message)
  const shown = problems.map(finding => finding.message.replaceAll('\x1b', '\u241b'))
  check('the messages arrive', JSON.stringify(messages) === JSON.stringify(shown), JSON.stringify([messages, shown]))
}

const folder = project()
try {
  const { findings } = JSON.parse(run(folder, '--json'))
  judgeSarif(folder, findings)
  judgeGithub(folder, findings)
  await judgeJunit(folder, findings)
} finally {
  rmSync(folder, { recursive: true })
}
process.exit(failed > 0 ? 1 : 0)
