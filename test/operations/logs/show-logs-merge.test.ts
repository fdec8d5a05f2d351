import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import type {LogStream} from '../../../src/cri/index.js';
import {CRICTL_LOG_STRATEGY} from '../../../src/operations/logs/crictl-log-strategy.js';
import {KCRI_LOG_STRATEGY} from '../../../src/operations/logs/log-read-strategy.js';
import {showLogs, type ShowLogsOptions} from '../../../src/operations/logs/show-logs.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

let directory: string;
beforeEach(async () => {
  directory = await temporaryDirectory();
});

const BOTH: ReadonlySet<LogStream> = new Set(['stdout', 'stderr']);
const line = (second: number, text: string, tag = 'F', stream: LogStream = 'stdout'): string =>
  `2026-11-20T14:00:${String(second).padStart(2, '0')}Z ${stream} ${tag} ${text}\n`;

interface Shown {
  readonly stdout: string;
  readonly stderr: string;
  readonly failed: readonly string[];
}

async function show(
  logs: Readonly<Record<string, string | undefined>>,
  options: Partial<ShowLogsOptions> & {readonly together?: boolean} = {},
): Promise<Shown> {
  const text = {stdout: '', stderr: ''};
  const failed: string[] = [];
  const shown = Object.entries(logs).map(([name, content]) => {
    const path = join(directory, `${name}.log`);
    if (content !== undefined) writeFileSync(path, content);
    return {path, prefix: Object.keys(logs).length > 1 ? `${name} | ` : undefined};
  });
  await showLogs(
    shown,
    {
      strategy: KCRI_LOG_STRATEGY,
      clock: systemClock,
      signal: new AbortController().signal,
      streams: BOTH,
      onNotice: () => undefined,
      onUnknownLines: () => undefined,
      onFailure: (error) => void failed.push(String(error)),
      ...options,
    },
    {
      together: options.together ?? false,
      write: (stream, bytes) => void (text[stream] += Buffer.from(bytes).toString()),
      ready: async () => undefined,
    },
  );
  return {...text, failed};
}

describe('several logs', () => {
  test('are merged by time, each line with its prefix', async () => {
    const {stdout} = await show({
      a: line(1, 'a1') + line(4, 'a4') + line(5, 'a5'),
      b: line(2, 'b2') + line(3, 'b3') + line(6, 'b6'),
      c: line(4, 'c4'),
    });
    expect(stdout).toBe('a | a1\nb | b2\nb | b3\na | a4\nc | c4\na | a5\nb | b6\n');
  });

  test('are merged in order over many reads', async () => {
    const lines = (offset: number): string =>
      Array.from({length: 20_000}, (_, n) => {
        const time = new Date(Date.parse('2026-11-20T14:00:00Z') + (2 * n + offset) * 10).toISOString();
        return `${time} stdout F ${2 * n + offset}\n`;
      }).join('');
    const {stdout} = await show({a: lines(0), b: lines(1)}, {timestamps: true});
    const numbers = stdout.trimEnd().split('\n');
    expect(numbers.length).toBe(40_000);
    expect(numbers.findIndex((text, n) => !text.endsWith(` ${n}`))).toBe(-1);
  });

  test('never share a line', async () => {
    const {stdout} = await show({
      a: line(1, 'part', 'P') + line(4, 'end'),
      b: line(2, 'b') + line(5, 'no line end').trimEnd(),
      c: line(6, 'c'),
    });
    expect(stdout).toBe('b | b\na | partend\nb | no line end\nc | c\n');
  });

  test('repeat the prefix after an interrupted long line', async () => {
    const long = 'x'.repeat(300_000);
    const {stdout} = await show({a: line(1, long, 'P') + line(4, 'end'), b: line(2, 'b')});
    expect(stdout).toBe(`a | ${long}\nb | b\na | end\n`);
  });

  test('are shown without a missing one', async () => {
    const {stdout, failed} = await show({a: undefined, b: line(1, 'b')});
    expect(stdout).toBe('b | b\n');
    expect(failed).toEqual([expect.stringMatching(/cannot read log ".*a\.log": no such file or directory/)]);
  });
});

describe('a log', () => {
  const PARTS = line(1, 'aaa', 'P') + line(2, 'err', 'F', 'stderr') + line(3, 'bbb');

  test('preserves the order of both streams if they have one destination', async () => {
    const content = line(1, 'a') + line(2, 'b', 'F', 'stderr') + line(3, 'c');
    expect((await show({a: content}, {together: true})).stdout).toBe('a\nb\nc\n');
  });

  test('joins parts around lines of the other stream, with the time of the first part', async () => {
    const {stdout} = await show({a: PARTS}, {together: true, timestamps: true});
    expect(stdout).toBe('2026-11-20T14:00:02.000000000Z err\n2026-11-20T14:00:01.000000000Z aaabbb\n');
  });

  test("is not joined with crictl's strategy", async () => {
    const {stdout} = await show(
      {a: PARTS},
      {together: true, timestamps: true, strategy: CRICTL_LOG_STRATEGY},
    );
    expect(stdout).toBe('2026-11-20T14:00:01.000000000Z aaaerr\n2026-11-20T14:00:03.000000000Z bbb\n');
  });

  test('is rejected by crictl’s strategy if its first line is in an unknown format', async () => {
    await expect(show({a: `garbage\n${line(1, 'a')}`}, {strategy: CRICTL_LOG_STRATEGY})).rejects.toThrow(
      'failed to get parse function: unsupported log format: "garbage\\n"',
    );
    const {stdout} = await show(
      {a: `${line(1, 'a')}garbage\n${line(2, 'b')}`},
      {strategy: CRICTL_LOG_STRATEGY},
    );
    expect(stdout).toBe('a\nb\n');
  });

  test('has physical lines with newline counted by crictl’s strategy', async () => {
    const strategy = CRICTL_LOG_STRATEGY;
    expect((await show({a: PARTS}, {strategy, tailLines: 1})).stdout).toBe('bbb\n');
    expect((await show({a: PARTS + line(4, 'no end').trimEnd()}, {strategy, tailLines: 1})).stdout).toBe(
      'bbb\n',
    );
    expect((await show({a: PARTS}, {strategy, tailLines: 0})).stdout).toBe('');
  });

  test('that crictl’s strategy cannot read is reported with Go’s message', async () => {
    const {failed} = await show({'none/a': undefined}, {strategy: CRICTL_LOG_STRATEGY});
    expect(failed).toEqual([
      `SystemError: failed to try resolving symlinks in path "${directory}/none/a.log": lstat ${directory}/none: no such file or directory`,
    ]);
  });

  test('may have lines of several megabytes', async () => {
    const long = 'abcdefghij'.repeat(700_000);
    const content = line(1, long) + line(2, 'b') + line(3, long, 'P') + line(4, 'c');
    const {stdout} = await show({a: content}, {timestamps: true});
    const time = (second: number): string => `2026-11-20T14:00:0${second}.000000000Z`;
    expect(stdout).toBe(`${time(1)} ${long}\n${time(2)} b\n${time(3)} ${long}c\n`);
    expect((await show({a: content}, {tailLines: 1})).stdout).toBe(`${long}c\n`);
  });

  test('may have megabytes in an unknown format', async () => {
    expect((await show({a: 'x'.repeat(5_000_000) + '\n' + line(1, 'a')})).stdout).toBe('a\n');
  });
});
