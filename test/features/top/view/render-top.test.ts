import {describe, expect, test} from 'vitest';
import {usageOfPods} from '../../../../src/features/top/model/top-item.js';
import {appendLines, openPager} from '../../../../src/features/top/model/pager.js';
import {rearrange, select, type TopState} from '../../../../src/features/top/model/top-state.js';
import {UsageHistory} from '../../../../src/features/top/model/usage-history.js';
import {renderTop} from '../../../../src/features/top/view/render-top.js';
import {
  ASCII_GLYPHS,
  lineText,
  lineWidth,
  UNICODE_GLYPHS,
  type Glyphs,
} from '../../../../src/features/top/view/screen-lines.js';
import {aContainerItem, aGroup, aTopState} from '../top-builders.js';

const GROUPS = [
  aGroup('web', ['nginx', 'sidecar'], {cpuPercent: 12.5, memoryBytes: 20_970_000, restarts: 3}),
  aGroup('api', ['main'], {state: 'CrashLoopBackOff', manager: 'kubelet', cpuPercent: undefined}),
];

/** Returns the lines of a state after two samples of history. */
function render(state: TopState, glyphs: Glyphs = UNICODE_GLYPHS) {
  const history = new UsageHistory();
  for (const cpu of [10, 50]) history.record(state.groups, {cpu, memory: 2_000_000_000});
  return renderTop(state, {nowMs: 65_000, history, glyphs});
}

const textOf = (state: TopState, glyphs?: Glyphs): string => render(state, glyphs).map(lineText).join('\n');

/** Returns the state on a terminal of another size. */
const sized = (state: TopState, columns: number, rows: number): TopState =>
  rearrange({...state, size: {columns, rows}});

describe('the table', () => {
  test.each([
    [60, 20],
    [80, 24],
    [200, 60],
    [24, 8],
    [300, 9],
  ])('fills a terminal of %i by %i exactly', (columns, rows) => {
    const lines = render(sized(aTopState(GROUPS), columns, rows));
    expect(lines).toHaveLength(rows);
    expect(lines.map(lineWidth)).toEqual(lines.map(() => columns));
  });

  test('shows the most important columns at 60 by 20', () => {
    const text = textOf(sized(aTopState(GROUPS), 60, 20));
    expect(text).toMatch(/^ kcri top {3}CPU 25% of 4 {2}MEM 2GB\/8GB {2}PODS 2 {2}CONTAINERS 3/);
    expect(text).toMatch(/^NAME +STATE +RESTARTS +CPU%▼ +MEM *$/m);
    expect(text).toMatch(/^default\/web +Running +3 +12\.50 +20\.97MB *$/m);
    expect(text).toMatch(/^ ├ nginx +Running +3 +12\.50 +20\.97MB *$/m);
    expect(text).toMatch(/^ └ sidecar /m);
    expect(text).toMatch(/ \? help {2}q quit {2}\/ filter /);
  });

  test('shows exclusive CPUs if a container has some', () => {
    const pinned = [aGroup('web', ['nginx'], {exclusiveCpus: '2-3'}), aGroup('api', ['main'])];
    const text = textOf(sized(aTopState(pinned), 200, 60));
    expect(text).toMatch(/^NAME .* MEM% +EXCLUSIVE CPUS +AGE /m);
    expect(text).toMatch(/^ └ nginx .* 2-3 +/m);
  });

  test('shows all columns and graphs at 200 by 60', () => {
    const text = textOf(sized(aTopState(GROUPS), 200, 60));
    expect(text).toMatch(
      /^NAME +READY STATE +RESTARTS +CPU%▼ +MEM +MEM% +AGE MANAGER +CPU HISTORY +MEM HISTORY +PROBES +CONTAINER ID *$/m,
    );
    expect(text).toMatch(/^ ├ nginx .* 0\.3 +65s kcri +██ +██ +id-of-nginx *$/m);
    expect(text).toMatch(/^ node CPU +▁▅ *$/m);
    expect(text).toMatch(/^default\/api .* CrashLoopBackOff .* - .*kubelet/m);
  });

  test('cuts long names in the middle, and makes room for them in the column of states', () => {
    const long = [aGroup('web-7d9f8c6b5d-of-a-long-deployment-abc12', ['nginx'])];
    expect(textOf(sized(aTopState(long), 80, 24))).toMatch(/^default\/web…yment-abc12 .*Running /m);
    expect(textOf(sized(aTopState(long), 80, 24))).toMatch(/ STATE {4}RESTARTS/);
    expect(textOf(sized(aTopState(GROUPS), 80, 24))).toMatch(/ STATE {13}RESTARTS/);
  });

  test('shows a long failure in full', () => {
    const failure = `runtime at ${'x'.repeat(70)} is unavailable: connection refused; try again later`;
    const state = {...sized(aTopState(GROUPS), 60, 20), message: {text: failure, isError: true}};
    const lines = render(state);
    expect(lines).toHaveLength(20);
    expect(lines.map(lineText).join('').replaceAll(/ +/g, ' ')).toContain(
      'connection refused; try again later',
    );
  });

  test('draws only ASCII on a terminal without Unicode', () => {
    expect(textOf(sized(aTopState(GROUPS), 200, 60), ASCII_GLYPHS)).toMatch(/^[\x20-\x7e\n]*$/);
  });

  test('renders only visible rows of thousands', () => {
    const many = Array.from({length: 5000}, (_, index) => aGroup(`pod-${index}`, ['main']));
    const state = select(aTopState(many, {sort: 'name', tree: false}), 4999);
    const lines = render(state);
    expect(lines).toHaveLength(24);
    expect(lines.map(lineText).join('\n')).toMatch(/pod-999\/main /);
  });

  test('selects one row over the whole width', () => {
    const lines = render(select(aTopState(GROUPS), 1));
    const selected = lines.filter((line) => line.every(({style}) => style === 'selected'));
    expect(selected.map(lineText)).toEqual([expect.stringMatching(/^ ├ nginx/)]);
  });

  test('escapes control characters of names', () => {
    const group = aGroup('web', ['a\u001b[b\n\u202e'], {state: 'bad\u0007'});
    const text = textOf(sized(aTopState([group]), 200, 30));
    expect(text).toContain(String.raw`a\x1b[b\n\u202e`);
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  });

  test('wide characters take two cells', () => {
    const lines = render(sized(aTopState([aGroup('web', ['漢字', 'x'])]), 60, 20));
    expect(lines.map(lineWidth)).toEqual(lines.map(() => 60));
  });

  test('names are as wide as their cells', () => {
    const name = '漢字テスト名前の長い名前';
    expect(textOf(sized(aTopState([aGroup(name, ['x'])]), 200, 30))).toContain(`default/${name} `);
    const escaped = aGroup(`evil\u0007${'e'.repeat(20)}`, ['x']);
    expect(textOf(sized(aTopState([escaped]), 200, 30))).toContain(
      String.raw`default/evil\x07${'e'.repeat(20)} `,
    );
  });

  test('of several nodes, shows the node of each row, the usage of all pods, and rows of lost nodes dim', () => {
    const groups = [
      aGroup('web', ['main'], {node: 'node-a'}),
      aGroup('api', ['main'], {node: 'a-node-with-a-long-name', isStale: true}),
    ];
    const node = usageOfPods(groups, '2 nodes');
    for (const [columns, rows] of [
      [60, 20],
      [200, 60],
      [24, 8],
    ] as const) {
      const lines = render(sized(aTopState(groups, {node}), columns, rows));
      expect(lines.map(lineWidth)).toEqual(Array.from({length: rows}, () => columns));
    }
    expect(textOf(sized(aTopState(groups, {node}), 60, 20))).toMatch(/^NAME +NODE +CPU%▼ +MEM *$/m);
    const lines = render(sized(aTopState(groups, {node, sort: 'node'}), 200, 60));
    const text = lines.map(lineText).join('\n');
    expect(text).toMatch(/^ kcri top {3}CPU 1% {2}MEM 1MB {2}PODS 2 {2}CONTAINERS 2 {2}2 nodes *$/m);
    expect(text).toMatch(/^ pods CPU +▂█ *$/m);
    expect(text).toMatch(/^NAME +NODE▲ +READY STATE +RESTARTS +CPU% +MEM +AGE /m);
    expect(text).toMatch(/^default\/web +node-a +yes /m);
    const stale = lines.filter((line) => lineText(line).includes('a-node-with-a-long-…'));
    expect(stale.flat().filter(({style}) => !['dim', 'selected'].includes(style))).toEqual([]);
  });

  test('says what is missing', () => {
    expect(textOf(aTopState([], {sampledMs: undefined}))).toContain('Reading pods');
    expect(textOf(aTopState([]))).toContain('No pods');
    expect(textOf(aTopState(GROUPS, {filter: 'xyz'}))).toContain('No pod or container contains "xyz"');
    expect(textOf(sized(aTopState(GROUPS), 20, 5))).toContain('terminal too small');
  });
});

describe('the status line', () => {
  test('shows a failure of the runtime until it is over, and messages before it', () => {
    const state = aTopState(GROUPS, {failure: 'runtime is unavailable'});
    expect(textOf(state)).toContain(' runtime is unavailable ');
    expect(textOf({...state, message: {text: 'web deleted', isError: false}})).toContain(' web deleted ');
    expect(textOf({...state, failure: undefined})).toContain(' 1 of 5 ');
  });

  test('shows the filter while it is typed, and the question before an action', () => {
    const state = aTopState(GROUPS, {filter: 'we'});
    expect(textOf({...state, screen: {kind: 'filter', before: ''}})).toContain(' filter: we█');
    const [item] = state.rows;
    if (item === undefined) throw new Error('no rows');
    expect(textOf({...state, screen: {kind: 'confirm', action: 'delete', item}})).toContain(
      'Delete pod default/web? (y/n)',
    );
  });
});

describe('the pager', () => {
  const pager = (lines: readonly string[]) =>
    appendLines(openPager('logs', aContainerItem('web', 'main')), lines);

  test('shows the end of a log with its title', () => {
    const lines = Array.from({length: 100}, (_, index) => `line ${index}`);
    const text = textOf({...aTopState(GROUPS), screen: pager(lines)});
    expect(text).toMatch(
      /^ Logs {2}default\/web\/main {2}line 80 of 100 {2}following, wrapped *\nline 79 *\n/,
    );
    expect(text).toMatch(/line 99 *\n[^\n]*\n Esc back/);
  });

  test('wraps long lines, or cuts and scrolls them sideways', () => {
    const screen = pager([`${'a'.repeat(80)}${'b'.repeat(10)}`]);
    const state = aTopState(GROUPS);
    expect(textOf({...state, screen})).toMatch(/^a{80}\nb{10} *$/m);
    expect(textOf({...state, screen: {...screen, wrap: false}})).toMatch(/^a{80}\n *$/m);
    expect(textOf({...state, screen: {...screen, wrap: false, left: 80}})).toMatch(/^b{10} *$/m);
  });

  test('marks all matches of the search', () => {
    const state = {...aTopState(GROUPS), screen: {...pager(['an Error, error']), search: 'error', match: 0}};
    const marked = render(state).flatMap((line) => line.filter(({style}) => style === 'match'));
    expect(marked.map(({text}) => text)).toEqual(['Error', 'error']);
  });

  test('shows the help, scrolled to its end at most', () => {
    const text = textOf({...sized(aTopState(GROUPS), 60, 20), screen: {kind: 'help', top: 1000}});
    expect(text).toMatch(/q {2}Ctrl-C +quit/);
  });
});
