import {appendFileSync, renameSync, truncateSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import type {LogStream} from '../../../src/cri/index.js';
import {CRICTL_LOG_STRATEGY} from '../../../src/operations/logs/crictl-log-strategy.js';
import type {LogProgress} from '../../../src/operations/logs/follow/follow-options.js';
import {KCRI_LOG_STRATEGY} from '../../../src/operations/logs/log-read-strategy.js';
import {showLogs, type ShowLogsOptions} from '../../../src/operations/logs/show-logs.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

let directory: string;
let path: string;
beforeEach(async () => {
  directory = await temporaryDirectory();
  path = join(directory, '0.log');
});

const BOTH: ReadonlySet<LogStream> = new Set(['stdout', 'stderr']);
const line = (second: number, text: string, tag = 'F', stream: LogStream = 'stdout'): string =>
  `2026-11-20T14:00:${String(second).padStart(2, '0')}Z ${stream} ${tag} ${text}\n`;

/**
 * Follows a log and runs the next step after each output. `states` are the states of the container after the last
 * step.
 */
async function follow(
  steps: readonly (() => void)[],
  states: readonly (LogProgress | (() => LogProgress))[] = [{kind: 'ended'}],
  options: Partial<ShowLogsOptions> = {},
): Promise<string> {
  let text = '';
  const remaining = [...steps];
  const later = [...states];
  const progress = async (): Promise<LogProgress> => {
    if (remaining.length > 0) return {kind: 'running'};
    const next = later.shift() ?? {kind: 'ended'};
    return typeof next === 'function' ? next() : next;
  };
  await showLogs(
    [{path, follow: {clock: systemClock, progress}}],
    {
      strategy: KCRI_LOG_STRATEGY,
      clock: systemClock,
      signal: new AbortController().signal,
      streams: BOTH,
      onNotice: (notice) => void (text += `[${notice}]\n`),
      onUnknownLines: () => undefined,
      onFailure: (error) => {
        throw error;
      },
      ...options,
    },
    {
      together: true,
      write: (_, bytes) => {
        text += Buffer.from(bytes).toString();
        remaining.shift()?.();
      },
      ready: async () => undefined,
    },
  );
  return text;
}

describe('following a log', () => {
  test('misses no lines of two rotations between checks', async () => {
    writeFileSync(path, line(1, 'a'));
    const rotate = (): void => {
      appendFileSync(path, line(2, 'b'));
      renameSync(path, `${path}.20261120-140000`);
      writeFileSync(path, line(3, 'c'));
      renameSync(path, `${path}.20261120-140001`);
      writeFileSync(path, line(4, 'd'));
    };
    expect(await follow([rotate])).toBe('a\nb\nc\nd\n');
  });

  test("misses no lines of two rotations of Docker's numbered files between checks", async () => {
    writeFileSync(`${path}.1`, line(0, 'old'));
    writeFileSync(path, line(1, 'a'));
    const rotate = (text: string) => (): void => {
      renameSync(`${path}.1`, `${path}.2`);
      renameSync(path, `${path}.1`);
      writeFileSync(path, text);
    };
    const twice = (): void => {
      rotate(line(3, 'c'))();
      rotate(line(4, 'd'))();
    };
    expect(await follow([rotate(line(2, 'b')), twice], undefined, {tailLines: 1})).toBe('a\nb\nc\nd\n');
  });

  test('reads lines written to the old file before the new one is created', async () => {
    writeFileSync(path, line(1, 'a'));
    const steps = [
      () => {
        renameSync(path, `${path}.20261120-140000`);
        appendFileSync(`${path}.20261120-140000`, line(2, 'b'));
      },
      () => {
        writeFileSync(path, line(3, 'c'));
      },
    ];
    expect(await follow(steps)).toBe('a\nb\nc\n');
  });

  test('does not read files rotated before the start again', async () => {
    writeFileSync(`${path}.20261120-135900`, line(0, 'old'));
    writeFileSync(path, line(1, 'a'));
    const rotate = (): void => {
      renameSync(path, `${path}.20261120-140000`);
      writeFileSync(path, line(2, 'b'));
    };
    expect(await follow([rotate], undefined, {tailLines: 1})).toBe('a\nb\n');
  });

  test('reads a truncated file from its start', async () => {
    writeFileSync(path, line(1, 'a') + line(2, 'b'));
    const cut = (): void => {
      truncateSync(path, 0);
      appendFileSync(path, line(3, 'c'));
    };
    expect(await follow([cut])).toBe('a\nb\nc\n');
  });

  test('continues with the next attempt after a notice', async () => {
    writeFileSync(path, line(1, 'a'));
    const next = join(directory, '1.log');
    writeFileSync(next, line(5, 'b'));
    const restart: readonly LogProgress[] = [
      {kind: 'waiting', notice: 'web ended'},
      {kind: 'waiting', notice: 'web ended'},
      {kind: 'restarted', path: next, notice: 'web runs again'},
    ];
    expect(await follow([], restart)).toBe('a\n[web ended]\n[web runs again]\nb\n');
  });

  test('shows the last lines before it continues with the next attempt', async () => {
    writeFileSync(path, line(1, 'a'));
    const next = join(directory, '1.log');
    writeFileSync(next, line(5, 'c'));
    const restart = (): LogProgress => {
      appendFileSync(path, line(2, 'b'));
      return {kind: 'restarted', path: next, notice: 'again'};
    };
    expect(await follow([], [restart])).toBe('a\nb\n[again]\nc\n');
  });

  test('shows a prompt without newline while nothing follows', async () => {
    writeFileSync(path, line(1, 'password: ', 'P'));
    const answer = (): void => {
      appendFileSync(path, line(2, 'secret'));
    };
    expect(await follow([answer], undefined, {timestamps: true})).toBe(
      '2026-11-20T14:00:01.000000000Z password: secret\n',
    );
  });

  test('ends when the time of --until has passed', async () => {
    writeFileSync(path, line(1, 'a'));
    const running: readonly LogProgress[] = Array.from({length: 100}, () => ({kind: 'running'}));
    expect(await follow([], running, {until: {seconds: systemClock.now() / 1000, nanos: 0}})).toBe('a\n');
  });

  test("omits a last line without newline with crictl's strategy", async () => {
    writeFileSync(path, line(1, 'a') + line(2, 'b').trimEnd());
    expect(await follow([], undefined, {strategy: CRICTL_LOG_STRATEGY})).toBe('a\n');
  });
});
