// Flow collections in every layout: comments, line breaks and commas where the grammar allows them (YAML 1.2.2, §7.4).

// A generator of numbers that is the same in every run (mulberry32).
function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

// `count` texts, each `[name, text]`, which a strict reader reads; in some the last bracket stands below its key, which it forgives.
export function* flowTexts(count, seed = 1) {
  const next = random(seed)
  const pick = (options) => options[Math.floor(next() * options.length)]
  for (let index = 0; index < count; index += 1) {
    const column = pick([0, 0, 2, 4])
    let comments = 0
    // What may stand between two tokens; a line never starts left of where the reference wants it.
    const line = () => '\n' + ' '.repeat(column + 1 + Math.floor(next() * 3))
    const comment = () => ` # c${comments++}`
    const gap = () => pick([() => '', () => '', () => ' ', line, () => comment() + line(), () => '\n' + line(), () => '\n#' + comment() + line()])()
    const scalar = () => pick(['1', 'a', "'b'", '"c"', 'x y', '~', '[]', '{}'])
    const children = (depth, child) => {
      const found = []
      for (let number = Math.floor(next() * 4); number > 0; number -= 1) found.push(gap() + child(depth, number) + gap())
      return found.length === 0 ? gap() : found.join(',') + pick(['', '', ',' + gap()])
    }
    const value = (depth) => (depth > 0 && next() < 0.3 ? flow(depth - 1) : scalar())
    const pair = (depth, number) => `k${number}:${pick([' ', ' ', comment() + line(), line()])}${value(depth)}`
    const flow = (depth) => (next() < 0.6 ? `[${children(depth, value)}]` : `{${children(depth, pair)}}`)
    const indent = ' '.repeat(column)
    const lead = column === 0 ? '' : `o:\n`
    const whole = () => flow(1).replace(/\s*(.)$/, (end, bracket) => (next() < 0.2 && !end.includes('#') ? `\n${indent}${bracket}` : end))
    const key = pick(['s: ', 's: ', 's:\n' + ' '.repeat(column + 2)])
    const behind = pick(['', ' # end', '']) + '\n' + pick([`${indent}t: 1\n`, ''])
    yield [`flow ${index}`, `${lead}${indent}${key}${whole()}${behind}`]
  }
}
