// Formats the results as a Markdown table.

const TITLES = {kcri: 'kcri on Node.js', executable: 'executable'};
const COLUMNS = ['time', 'CPU', 'memory', 'CPU for 1,000 more'];

/** Formats the results, with missed goals marked. Smaller sizes come first. */
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
      measures(program.result),
      ...(program.ratio === undefined ? ['', '', ''] : ratioCells(program.ratio, row.maxRatios)),
      growth(program, row, rows),
    ]),
  ]);
  const table = [header, header.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`);
  return `Node.js ${process.version}, load ${load.toFixed(1)}; ratios to crictl:\n\n${table.join('\n')}\n`;
}

function measures({wall, cpu, memory}) {
  return [wall, cpu, memory].map((value) => value.toFixed(0)).join(' / ');
}

function ratioCells(ratio, maxRatios) {
  const markedRatio = (value, limit) => `${value.toFixed(2)}${value > limit ? ` (> ${limit})` : ''}`;
  return [
    markedRatio(ratio.wall, maxRatios.wall),
    markedRatio(ratio.cpu, maxRatios.cpu),
    ratio.memory.toFixed(2),
  ];
}

/** Returns the time per thousand objects beyond the next smaller size, which is constant if time grows linearly. */
function growth({name: program, result}, {name, size}, rows) {
  const smaller = rows.findLast((row) => row.name === name && row.size < size);
  if (smaller === undefined) return '';
  const before = smaller.programs.find((each) => each.name === program).result;
  return `${(((result.cpu - before.cpu) * 1000) / (size - smaller.size)).toFixed(1)} ms`;
}
