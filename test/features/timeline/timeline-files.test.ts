import {createHash} from 'node:crypto';
import {expect, test} from 'vitest';
import type {Timeline} from '../../../src/features/timeline/phase.js';
import {formatHtml} from '../../../src/features/timeline/timeline-html.js';
import {formatSvg, ticksOf} from '../../../src/features/timeline/timeline-svg.js';
import {formatTrace} from '../../../src/features/timeline/trace-json.js';

const EVIL = '</text></svg><script>alert(1)</script><img src=x onerror=alert(1)>" \u0000\u001b[2J\u202e';

const TIMELINE: Timeline = {
  ...{namespace: 'team', name: EVIL, uid: 'u1', startMs: 1000, readyMs: 6000, nowMs: 60_000},
  phases: [
    {name: 'sandbox', startMs: 1000, endMs: 2500.5, source: 'runtime', inferred: `so ${EVIL}`},
    {
      name: 'pull',
      subject: EVIL,
      startMs: 2500.5,
      endMs: 5000,
      source: 'kubelet',
      isFailed: true,
      note: EVIL,
    },
    {name: 'running', subject: 'main', startMs: 5500, source: 'runtime'},
  ],
};

test('the trace has a process for each pod and a row for each container', () => {
  const {traceEvents} = JSON.parse(formatTrace([TIMELINE, {...TIMELINE, name: 'other'}])) as {
    readonly traceEvents: readonly {readonly ph: string; readonly pid: number; readonly args: object}[];
  };
  expect(traceEvents.filter(({ph, pid}) => ph === 'M' && pid === 2).map(({args}) => args)).toEqual([
    {name: 'team/other'},
    {name: 'pod'},
    {name: `pull ${EVIL}`},
    {name: 'main'},
  ]);
  expect(traceEvents.filter(({ph, pid}) => ph === 'X' && pid === 1)).toMatchObject([
    {name: 'sandbox', cat: 'sandbox', ts: 1_000_000, dur: 1_500_500, tid: 0, args: {exact: false}},
    {cat: 'pull', ts: 2_500_500, dur: 2_499_500, tid: 1, args: {failed: true, exact: true}},
    {name: 'running main', ts: 5_500_000, dur: 54_500_000, tid: 2, args: {open: true}},
  ]);
});

test.each([
  ['picture', formatSvg],
  ['page', formatHtml],
])('the %s escapes names and refers to nothing outside', (_what, format) => {
  const text = format([TIMELINE], new Map());
  expect(text).not.toContain('alert(1)</script>');
  expect(text).not.toContain('<img');
  // Nor a control that would reverse what follows a name.
  expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202e]/);
  expect(text.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|url\(|@import| href=| src="/);
  expect(text.match(/<rect x=/g)).toHaveLength(3);
});

test('the page runs only the script that its policy names', () => {
  const html = formatHtml([TIMELINE], new Map());
  const scripts = [...html.matchAll(/<script>([^]*?)<\/script>/g)].map(([, script = '']) => script);
  const [, digest] = /script-src 'sha256-([^']+)'/.exec(html) ?? [];
  expect(scripts.map((script) => createHash('sha256').update(script).digest('base64'))).toEqual([digest]);
});

test.each([
  [1, [0, 0.2, 0.4, 0.6, 0.8, 1]],
  [8900, [0, 2000, 4000, 6000, 8000]],
  [60_000, [0, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000]],
])('the axis of %d ms has round numbers', (lengthMs, ticks) => {
  expect(ticksOf(lengthMs)).toEqual(ticks);
});

test('a long summary is shortened in its middle, so that its times are seen', () => {
  const pull = {name: 'pull', subject: `registry.example/${'a'.repeat(300)}`, source: 'kubelet'} as const;
  const phases = [{...pull, startMs: 1000, endMs: 3000}];
  expect(formatSvg([{...TIMELINE, phases}], new Map())).toMatch(
    />slowest: pull reg[^<]*…[^<]*2\.0s \(40%\)</,
  );
});
