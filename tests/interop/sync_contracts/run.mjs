// The servers of the tests judged by the vendor's descriptions: every request of stepmark that they recorded, and every answer of
// theirs that is not wrong on purpose, passes through `prism proxy` in front of a server that repeats the answers; documents of GraphQL
// are held against GitHub's schema, with their variables and what was answered.
//
// Usage: node run.mjs CONTRACT FOLDER; the packages of package.json must be installed beside this file. CONTRACT is an OpenAPI
// description, FOLDER what one of the tests wrote: `github` or `jira` in the folder that STEPMARK_RECORD_HTTP named.

import { spawn } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { Agent, createServer, request as ask } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { buildSchema, execute, getOperationAST, getVariableValues, parse, validate } from 'graphql'

const [contract, folder] = process.argv.slice(2)
if (!folder) {
  console.error('usage: run.mjs CONTRACT FOLDER')
  process.exit(2)
}
const here = fileURLToPath(new URL('.', import.meta.url))
/** How many exchanges are under way at a time. */
const AT_A_TIME = 8
/** How many violations of one kind are shown. */
const SHOWN = 3

function recorded() {
  const files = readdirSync(folder).filter(name => name.endsWith('.jsonl'))
  const lines = files.flatMap(name => readFileSync(join(folder, name), 'utf8').split('\n'))
  // A test that is run often asks the same often: what is the same but for numbers of ports is judged once.
  const different = new Map()
  for (const line of lines) {
    if (line) different.set(line.replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1'), line)
  }
  return { total: lines.filter(Boolean).length, exchanges: [...different.values()].map(line => JSON.parse(line)) }
}

/** Violations by what they say, so that a fault that occurs a thousand times is told once. */
class Verdict {
  kinds = new Map()

  add(exchange, violations) {
    for (const text of violations) {
      const told = `${exchange.method} ${exchange.target.split('?')[0].replaceAll(/\d+/g, 'N')}: ${text}`
      this.kinds.set(told, [...(this.kinds.get(told) ?? []), exchange])
    }
  }

  tell() {
    for (const [kind, exchanges] of this.kinds) {
      console.log(`FAIL ${kind} (${exchanges.length} times)`)
      for (const exchange of exchanges.slice(0, SHOWN)) console.log(`     ${JSON.stringify(exchange).slice(0, 800)}`)
    }
    return this.kinds.size
  }
}

/** A server that repeats what was answered to the exchange that a header names. */
function repeater(exchanges) {
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      const { reply, fault } = exchanges[request.headers['x-exchange']]
      if (fault || !reply) return response.writeHead(204).end()
      const { 'content-length': _, ...headers } = reply.headers
      response.writeHead(reply.status, headers).end(reply.body)
    })
  })
  // On a busy machine an idle connection would be closed while prism sends the next exchange over it.
  server.keepAliveTimeout = 0
  return new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(server)))
}

async function prism(upstream) {
  const port = await freePort()
  const words = [contract, `http://127.0.0.1:${upstream}`, '-h', '127.0.0.1', '-p', `${port}`]
  const child = spawn(process.execPath, [join(here, 'node_modules/@stoplight/prism-cli/dist/index.js'), 'proxy', ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1', NODE_OPTIONS: '--max-http-header-size=131072' },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', data => (said = (said + data).slice(-4000)))
  for (let tries = 0; tries < 600; tries++) {
    if (child.exitCode !== null) throw new Error(`prism ended with ${child.exitCode}: ${said}`)
    if (await accepts(port)) return { child, port }
    await sleep(100)
  }
  child.kill()
  throw new Error(`prism does not listen: ${said}`)
}

function freePort() {
  const server = createServer()
  return new Promise(resolve => server.listen(0, '127.0.0.1', () => {
    const { port } = server.address()
    server.close(() => resolve(port))
  }))
}

function accepts(port) {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => (socket.destroy(), resolve(true)))
    socket.on('error', () => resolve(false))
  })
}

const agent = new Agent({ keepAlive: true, maxSockets: AT_A_TIME })

function pass(exchange, at, port) {
  const { host: _, 'content-length': __, ...headers } = exchange.headers
  const length = exchange.body ? { 'content-length': Buffer.byteLength(exchange.body) } : {}
  const options = {
    agent, port, host: '127.0.0.1', method: exchange.method, path: exchange.target, maxHeaderSize: 131072,
    headers: { ...headers, ...length, 'x-exchange': `${at}` },
  }
  return new Promise((resolve, reject) => {
    const request = ask(options, response => {
      let body = ''
      response.on('data', data => (body += data))
      response.on('end', () => resolve({ status: response.statusCode, violations: response.headers['sl-violations'], body }))
    })
    request.on('error', reject)
    request.end(exchange.body || undefined)
  })
}

/** What prism says against an exchange; of one that is wrong on purpose only the request counts. */
function violations(exchange, answer) {
  const expected = exchange.fault || !exchange.reply ? 204 : exchange.reply.status
  const said = []
  if (answer.violations?.startsWith('Too many')) said.push(answer.violations.slice(0, 2000))
  else {
    for (const { location, message, severity } of JSON.parse(answer.violations ?? '[]')) {
      const isAboutReply = location[0] === 'response'
      if (isAboutReply && (exchange.fault || !exchange.reply)) continue
      if (severity === 'Error' || message.includes('route not found')) said.push(`${location.join('.')} ${message}`)
    }
  }
  if (said.length === 0 && answer.status !== expected) said.push(`prism answers ${answer.status}: ${answer.body.slice(0, 400)}`)
  return said
}

async function judgeRest(exchanges, verdict) {
  const server = await repeater(exchanges)
  const { child, port } = await prism(server.address().port)
  try {
    // A judge that lets everything pass would judge nothing.
    const bogus = { method: 'POST', target: '/nowhere/at/all', headers: {}, body: '', fault: true }
    exchanges.push(bogus)
    if (violations(bogus, await pass(bogus, exchanges.length - 1, port)).length === 0) verdict.add(bogus, ['prism accepts anything'])
    exchanges.pop()
    let next = 0
    await Promise.all(Array.from({ length: AT_A_TIME }, async () => {
      while (next < exchanges.length) {
        const at = next++
        verdict.add(exchanges[at], violations(exchanges[at], await pass(exchanges[at], at, port)))
      }
    }))
  } finally {
    child.kill()
    server.close()
    agent.destroy()
  }
}

function judgeGraphql(exchanges, verdict) {
  if (exchanges.length === 0) return
  const schemaFile = join(here, 'node_modules/@octokit/graphql-schema/schema.graphql')
  // The description that GitHub gives out has descriptions that its own specification refuses.
  const schema = buildSchema(readFileSync(schemaFile, 'utf8'), { assumeValidSDL: true })
  for (const exchange of exchanges) {
    const { query, variables } = JSON.parse(exchange.body)
    const document = parse(query)
    const wrong = validate(schema, document).map(error => error.message)
    const operation = getOperationAST(document)
    const { errors = [] } = getVariableValues(schema, operation.variableDefinitions ?? [], variables ?? {})
    wrong.push(...errors.map(error => error.message))
    if (wrong.length === 0 && !exchange.fault && exchange.reply?.status === 200) wrong.push(...judgeAnswer(schema, document, variables, exchange.reply))
    verdict.add(exchange, wrong)
  }
}

/** The answer must be what a server with the schema could give: the document is carried out on it. */
function judgeAnswer(schema, document, variableValues, reply) {
  const { data, errors: told = [] } = JSON.parse(reply.body)
  if (!data) return []
  const fieldResolver = (source, _arguments, _context, info) => source[info.path.key]
  const typeResolver = () => 'Issue'
  const { errors = [] } = execute({ schema, document, variableValues, rootValue: data, fieldResolver, typeResolver })
  const where = path => (path ?? []).join('.')
  return errors.filter(error => !told.some(own => where(error.path).startsWith(where(own.path)))).map(error => `the answer: ${error.message}`)
}

const { total, exchanges } = recorded()
const verdict = new Verdict()
const isGraphql = exchange => exchange.target.endsWith('/graphql')
// A server without GraphQL is asked for it as well: that request is judged, and its answer is no GraphQL.
const [graphql, rest] = [exchanges.filter(isGraphql), exchanges.filter(exchange => !isGraphql(exchange))]
judgeGraphql(graphql, verdict)
await judgeRest(rest, verdict)
if (exchanges.length === 0) verdict.add({ method: '', target: folder }, ['nothing was recorded there'])
const faults = exchanges.filter(exchange => exchange.fault).length
const failed = verdict.tell()
console.log(`${total} exchanges, ${exchanges.length} different: ${rest.length} by the description, ${graphql.length} of GraphQL, ${faults} with a deliberate fault (only the request is judged)`)
console.log(failed ? `${failed} kinds of violations` : 'ok   no violation')
process.exit(failed ? 1 : 0)
