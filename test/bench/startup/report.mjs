import {execFileSync} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';

const PAGE = fileURLToPath(new URL('../../../docs/performance.md', import.meta.url));

/** Formats the results as a Markdown table, with missed goals marked. The columns of the executable are optional. */
export function startupTable(node, rows, [load]) {
  const version = execFileSync(node, ['--version'], {encoding: 'utf8'}).trim();
  const withProgram = rows.some(({program}) => program !== undefined);
  const lines = rows.map(
    ({name, maxRatio, maxProgramRatio, crictl, kcri, ratio, floor, program, programRatio}) => [
      `\`${name}\``,
      `${ms(crictl.wall)} / ${ms(crictl.cpu)}`,
      `${ms(kcri.wall)} / ${ms(kcri.cpu)}`,
      ...markedRatios(ratio, maxRatio, 2),
      `${floor.wall.toFixed(2)} / ${floor.cpu.toFixed(2)}`,
      ...(withProgram
        ? [
            `${ms(program.wall)} / ${ms(program.cpu)}`,
            ...markedRatios(programRatio, maxProgramRatio, Infinity),
          ]
        : []),
    ],
  );
  const ratioColumns = ['time', 'CPU', 'memory'];
  const header = ['', 'crictl, ms / CPU', 'kcri on Node.js', ...ratioColumns, 'empty script'];
  if (withProgram) header.push('executable', ...ratioColumns);
  const table = [header, header.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`);
  return `Node.js ${version}, load ${load.toFixed(1)}; ratios to crictl:\n\n${table.join('\n')}\n`;
}

const markedRatios = (ratio, maxRatio, memory) => [
  markedRatio(ratio.wall, maxRatio),
  markedRatio(ratio.cpu, maxRatio),
  markedRatio(ratio.memory, memory),
];
const ms = (value) => value.toFixed(1);
const markedRatio = (ratio, maxRatio) => `${ratio.toFixed(2)}${ratio > maxRatio ? ` (> ${maxRatio})` : ''}`;

/** Replaces the text between the markers of a section in docs/performance.md. */
export function writeSection(name, text) {
  const [from, to] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`];
  const page = readFileSync(PAGE, 'utf8');
  const [start, end] = [page.indexOf(from), page.indexOf(to)];
  if (start < 0 || end < start)
    throw new Error(`${PAGE} has no section ${name}: the markers ${from} and ${to} are missing`);
  writeFileSync(PAGE, `${page.slice(0, start + from.length)}\n\n${text}\n${page.slice(end)}`);
}
