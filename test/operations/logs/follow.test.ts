import {appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import type {LogStream} from '../../../src/cri/index.js';
import {CRICTL_MANNER} from '../../../src/operations/logs/crictl-manner.js';
import type {LogProgress} from '../../../src/operations/logs/log-source.js';
import {OWN_MANNER} from '../../../src/operations/logs/manner.js';
import {showLogs, type ShowLogsOptions} from '../../../src/operations/logs/show-logs.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kcri-follow-'));
  path = join(folder, '0.log');
});
afterEach(() => {
  rmSync(folder, {recursive: true});
});

const BOTH: ReadonlySet<LogStream> = new Set(['stdout', 'stderr']);
const line = (second: number, text: string, tag = 'F', stream: LogStream = 'stdout'): string =>
  `2026-11-20T14:00:${String(second).padStart(2, '0')}Z ${stream} ${tag} ${text}\n`;

/**
 * Follows a log, doing the next step each time something new has come; `becomes` says what becomes of the container
 * once all steps are done.
 */
async function follow(
  steps: readonly (() => void)[],
  becomes: readonly (LogProgress | (() => LogProgress))[] = [{kind: 'ended'}],
  options: Partial<ShowLogsOptions> = {},
): Promise<string> {
  let text = '';
  const rest = [...steps];
  const later = [...becomes];
  const progress = async (): Promise<LogProgress> => {
    if (rest.length > 0) return {kind: 'running'};
    const next = later.shift() ?? {kind: 'ended'};
    return typeof next === 'function' ? next() : next;
  };
  await showLogs(
    [{path, follow: {clock: systemClock, progress}}],
    {
      manner: OWN_MANNER,
      clock: systemClock,
      signal: new AbortController().signal,
      streams: BOTH,
      notice: (notice) => void (text += `[${notice}]\n`),
      leftOut: () => undefined,
      failed: (error) => {
        throw error;
      },
      ...options,
    },
    {
      together: true,
      write: (_, bytes) => {
        text += Buffer.from(bytes).toString();
        rest.shift()?.();
      },
      ready: async () => undefined,
    },
  );
  return text;
}

describe('following a log', () => {
  test('misses nothing when it is rotated twice at once', async () => {
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

  test("misses nothing when Docker's numbered files are rotated twice at once, and before", async () => {
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

  test('reads what the runtime still wrote to the old file before it opened the new one', async () => {
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

  test('does not read again what was rotated before it began', async () => {
    writeFileSync(`${path}.20261120-135900`, line(0, 'old'));
    writeFileSync(path, line(1, 'a'));
    const rotate = (): void => {
      renameSync(path, `${path}.20261120-140000`);
      writeFileSync(path, line(2, 'b'));
    };
    expect(await follow([rotate], undefined, {tailLines: 1})).toBe('a\nb\n');
  });

  test('begins again with a file that was cut', async () => {
    writeFileSync(path, line(1, 'a') + line(2, 'b'));
    const cut = (): void => {
      truncateSync(path, 0);
      appendFileSync(path, line(3, 'c'));
    };
    expect(await follow([cut])).toBe('a\nb\nc\n');
  });

  test('goes on with the next attempt, which is announced', async () => {
    writeFileSync(path, line(1, 'a'));
    const next = join(folder, '1.log');
    writeFileSync(next, line(5, 'b'));
    const restart: readonly LogProgress[] = [
      {kind: 'waiting', notice: 'web ended'},
      {kind: 'waiting', notice: 'web ended'},
      {kind: 'restarted', path: next, notice: 'web runs again'},
    ];
    expect(await follow([], restart)).toBe('a\n[web ended]\n[web runs again]\nb\n');
  });

  test('shows what was written last before it goes on with the next attempt', async () => {
    writeFileSync(path, line(1, 'a'));
    const next = join(folder, '1.log');
    writeFileSync(next, line(5, 'c'));
    const restart = (): LogProgress => {
      appendFileSync(path, line(2, 'b'));
      return {kind: 'restarted', path: next, notice: 'again'};
    };
    expect(await follow([], [restart])).toBe('a\nb\n[again]\nc\n');
  });

  test('shows a prompt that has no line end while nothing follows it', async () => {
    writeFileSync(path, line(1, 'password: ', 'P'));
    const answer = (): void => {
      appendFileSync(path, line(2, 'secret'));
    };
    expect(await follow([answer], undefined, {timestamps: true})).toBe(
      '2026-11-20T14:00:01.000000000Z password: secret\n',
    );
  });

  test('ends when the moment of --until is over', async () => {
    writeFileSync(path, line(1, 'a'));
    const running: readonly LogProgress[] = Array.from({length: 100}, () => ({kind: 'running'}));
    expect(await follow([], running, {until: {seconds: systemClock.now() / 1000, nanos: 0}})).toBe('a\n');
  });

  test("leaves out a last line without its end in crictl's manner", async () => {
    writeFileSync(path, line(1, 'a') + line(2, 'b').trimEnd());
    expect(await follow([], undefined, {manner: CRICTL_MANNER})).toBe('a\n');
  });
});
