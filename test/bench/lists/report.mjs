// The results as a table in Markdown.

const TITLES = {kcri: 'kcri on Node.js', executable: 'executable'};
const COLUMNS = ['time', 'CPU', 'memory', 'CPU for 1,000 more'];

/** What misses its goal is marked. Rows are given with the smaller sizes first. */
export function listsTable(rows, [load]) {
  const names = rows[0].programs.map(({name}) => name);
  const header = [
    '',
    'objects',
    'crictl, ms / CPU / MB',
    ...names.flatMap((name) => [TITLES[name], ...COLUMNS]),
  ];
  const lines = rows.map((row) => [
    `\`${row.name}\``,
    row.size.toLocaleString('en-US'),
    row.crictl === undefined ? 'fails' : measures(row.crictl),
    ...row.programs.flatMap((program) => [
      measures(program.taken),
      ...(program.ratio === undefined ? ['', '', ''] : ratioCells(program.ratio, row.most)),
      growth(program, row, rows),
    ]),
  ]);
  const table = [header, header.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`);
  return `Node.js ${process.version}, load ${load.toFixed(1)}; ratios to crictl:\n\n${table.join('\n')}\n`;
}

function measures({wall, cpu, memory}) {
  return [wall, cpu, memory].map((value) => value.toFixed(0)).join(' / ');
}

function ratioCells(ratio, most) {
  const marked = (value, limit) => `${value.toFixed(2)}${value > limit ? ` (> ${limit})` : ''}`;
  return [marked(ratio.wall, most.wall), marked(ratio.cpu, most.cpu), ratio.memory.toFixed(2)];
}

/** What each thousand beyond the next smaller list costs: the same for all lengths when cost grows as they do. */
function growth({name: program, taken}, {name, size}, rows) {
  const smaller = rows.findLast((row) => row.name === name && row.size < size);
  if (smaller === undefined) return '';
  const before = smaller.programs.find((each) => each.name === program).taken;
  return `${(((taken.cpu - before.cpu) * 1000) / (size - smaller.size)).toFixed(1)} ms`;
}
