import {execFileSync} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';

const PAGE = fileURLToPath(new URL('../../../docs/performance.md', import.meta.url));

/** The results as a table in Markdown; what misses its goal is marked. The executable's columns are there if it was. */
export function startupTable(node, rows, [load]) {
  const version = execFileSync(node, ['--version'], {encoding: 'utf8'}).trim();
  const withProgram = rows.some(({program}) => program !== undefined);
  const lines = rows.map(({name, most, mostOfProgram, crictl, kcri, ratio, floor, program, programRatio}) => [
    `\`${name}\``,
    `${ms(crictl.wall)} / ${ms(crictl.cpu)}`,
    `${ms(kcri.wall)} / ${ms(kcri.cpu)}`,
    ...marks(ratio, most, 2),
    `${floor.wall.toFixed(2)} / ${floor.cpu.toFixed(2)}`,
    ...(withProgram
      ? [`${ms(program.wall)} / ${ms(program.cpu)}`, ...marks(programRatio, mostOfProgram, Infinity)]
      : []),
  ]);
  const ratioColumns = ['time', 'CPU', 'memory'];
  const header = ['', 'crictl, ms / CPU', 'kcri on Node.js', ...ratioColumns, 'empty script'];
  if (withProgram) header.push('executable', ...ratioColumns);
  const table = [header, header.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`);
  return `Node.js ${version}, load ${load.toFixed(1)}; ratios to crictl:\n\n${table.join('\n')}\n`;
}

const marks = (ratio, most, memory) => [
  marked(ratio.wall, most),
  marked(ratio.cpu, most),
  marked(ratio.memory, memory),
];
const ms = (value) => value.toFixed(1);
const marked = (ratio, most) => `${ratio.toFixed(2)}${ratio > most ? ` (> ${most})` : ''}`;

/** Puts a text between the markers of its name in docs/performance.md. */
export function writeSection(name, text) {
  const [from, to] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`];
  const page = readFileSync(PAGE, 'utf8');
  const [start, end] = [page.indexOf(from), page.indexOf(to)];
  if (start < 0 || end < start)
    throw new Error(`${PAGE} has no place for ${name}: ${from} and ${to} are missing`);
  writeFileSync(PAGE, `${page.slice(0, start + from.length)}\n\n${text}\n${page.slice(end)}`);
}
