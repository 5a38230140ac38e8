// Writes the names of node-order.json in the order of JavaScript's `localeCompare` (what the official installer sorts
// with): a list of groups, the names of one group being equal to it. Run: LC_ALL=C.UTF-8 node generate.mjs COUNT > node-order.json
const alphabets = [
  ['a', 'b', 'A', 'B', 'z', 'Z', '0', '1', '9', '-', '_', '.', ' '],
  [...Array(95).keys()].map((i) => String.fromCharCode(32 + i)),
  [...'aáàâäåãæbcçdðeéèêëfghiíìîïıjklmnñoóòôöøœpqrsßtþuúùûüvwxyýÿzAÁÄÅÆÉÖØÜ'],
  ['a', 'e', 'o', 'A', 'u\u0308', '\u0301', '\u0308', '\u0327', 'ü', 'é', '-', '\u00ad', '\u200d', '\u0001'],
  [...'αβγδέήςσΩабвгдёжзяАЯіїאבגابتกขคงเแ'],
  [...'一二三中文件名字体あいうアイウｱカガ가나다한글'],
  ['😀', '🚀', '👩\u200d💻', '§', '€', '£', '™', '½', '²', '①', 'Ⅳ', 'ﬁ', '…', '–', '—', '“', '«', 'a', '1'],
];
let seed = 20261121;
const random = (below) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 4294967296) * below);
};
const words = ['step', 'Step', 'prd', 'PRD', 'SKILL', 'skill', 'README', 'template', 'check-list', 'check_list', 'checklist'];
const name = () => {
  if (random(4) === 0) {
    const parts = [words[random(words.length)], ['-', '_', '.', ' ', ''][random(5)], String(random(120))];
    return parts.join('') + (random(3) === 0 ? 'b' : '');
  }
  const letters = alphabets[random(alphabets.length)];
  const mixed = random(5) === 0 ? alphabets[random(alphabets.length)] : letters;
  return Array.from({ length: 1 + random(7) }, () => (random(3) ? letters : mixed)[random(letters.length)] ?? 'x').join('');
};
const names = [...new Set(Array.from({ length: Number(process.argv[2]) }, name))];
names.sort((a, b) => a.localeCompare(b));
const groups = [];
for (const each of names) {
  const last = groups.at(-1);
  if (last && last[0].localeCompare(each) === 0) last.push(each);
  else groups.push([each]);
}
console.log(`{"node":"${process.version}","icu":"${process.versions.icu}","groups":[`);
console.log(groups.map((group) => JSON.stringify(group)).join(',\n'));
console.log(']}');
