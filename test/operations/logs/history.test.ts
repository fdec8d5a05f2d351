import {mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {gzipSync} from 'node:zlib';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import type {LogStream} from '../../../src/cri/index.js';
import {OWN_MANNER} from '../../../src/operations/logs/manner.js';
import {PlainLogFile} from '../../../src/operations/logs/log-file.js';
import {readLog, type ReadLogOptions} from '../../../src/operations/logs/read-log.js';
import {findTime} from '../../../src/operations/logs/seek.js';
import {logTime} from '../../../src/operations/logs/selection.js';
import {showLogs} from '../../../src/operations/logs/show-logs.js';
import {systemClock} from '../../../src/base/clock.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kcri-history-'));
  path = join(folder, '0.log');
});
afterEach(() => {
  rmSync(folder, {recursive: true});
});

const never = new AbortController().signal;
const BOTH: ReadonlySet<LogStream> = new Set(['stdout', 'stderr']);
const START = Date.parse('2026-11-20T14:00:00Z');
const at = (second: number): string => new Date(START + second * 1000).toISOString();
const moment = (second: number) => logTime(BigInt(START + second * 1000) * 1_000_000n);
const line = (second: number, text: string, tag = 'F', stream: LogStream = 'stdout'): string =>
  `${at(second)} ${stream} ${tag} ${text}\n`;

async function read(options: Partial<ReadLogOptions> = {}, log = path): Promise<string> {
  let text = '';
  const sink = {
    write: (_: LogStream, bytes: Uint8Array) => void (text += Buffer.from(bytes).toString()),
    ready: async () => undefined,
    together: true,
  };
  await readLog(log, {streams: BOTH, signal: never, ...options}, sink);
  return text;
}

/** Three files, each of three lines, ten seconds apart: gzipped, rotated, and the one that is written to. */
function rotatedTwice(): void {
  writeFileSync(`${path}.20261120-140100.gz`, gzipSync(line(0, 'a') + line(10, 'b') + line(20, 'c')));
  writeFileSync(`${path}.20261120-140200`, line(30, 'd') + line(40, 'e') + line(50, 'f'));
  writeFileSync(path, line(60, 'g') + line(70, 'h') + line(80, 'i'));
}

describe('a rotated log', () => {
  test('is read from its oldest file on, gzipped ones too', async () => {
    rotatedTwice();
    writeFileSync(join(folder, '0.log.20261120-140000.tmp'), line(0, 'being written'));
    writeFileSync(join(folder, '1.log.20261120-140000'), line(0, 'of another attempt'));
    expect(await read()).toBe('a\nb\nc\nd\ne\nf\ng\nh\ni\n');
  });

  test.each([
    [2, 'h\ni\n'],
    [4, 'f\ng\nh\ni\n'],
    [7, 'c\nd\ne\nf\ng\nh\ni\n'],
    [9, 'a\nb\nc\nd\ne\nf\ng\nh\ni\n'],
    [20, 'a\nb\nc\nd\ne\nf\ng\nh\ni\n'],
  ])('has its last %d lines over all files', async (tailLines, text) => {
    rotatedTwice();
    expect(await read({tailLines})).toBe(text);
  });

  test.each([
    [75, 'i\n'],
    [45, 'f\ng\nh\ni\n'],
    [10, 'b\nc\nd\ne\nf\ng\nh\ni\n'],
    [500, ''],
  ])('has what was written since second %d over all files', async (second, text) => {
    rotatedTwice();
    expect(await read({since: moment(second)})).toBe(text);
  });

  test('ends with what was written until a moment, of which the last lines can be had', async () => {
    rotatedTwice();
    expect(await read({until: moment(45)})).toBe('a\nb\nc\nd\ne\n');
    expect(await read({until: moment(45), tailLines: 3})).toBe('c\nd\ne\n');
    expect(await read({since: moment(20), until: moment(40)})).toBe('c\nd\ne\n');
  });

  test('that is being gzipped is read once', async () => {
    rotatedTwice();
    writeFileSync(`${path}.20261120-140100`, line(0, 'a') + line(10, 'b') + line(20, 'c'));
    expect(await read()).toBe('a\nb\nc\nd\ne\nf\ng\nh\ni\n');
  });

  test("may be Docker's, behind a link, with numbers that grow with age", async () => {
    const docker = join(folder, 'docker');
    mkdirSync(docker);
    const entry = (log: string): string => `${JSON.stringify({log, stream: 'stdout', time: at(1)})}\n`;
    writeFileSync(join(docker, 'x-json.log'), entry('c\n'));
    writeFileSync(join(docker, 'x-json.log.1'), entry('b\n'));
    writeFileSync(join(docker, 'x-json.log.2.gz'), gzipSync(entry('a\n')));
    symlinkSync(join(docker, 'x-json.log'), path);
    expect(await read()).toBe('a\nb\nc\n');
  });

  test('joins a line whose parts stand in two files', async () => {
    writeFileSync(`${path}.20261120-140200`, line(1, 'aa', 'P'));
    writeFileSync(path, line(2, 'bb') + line(3, 'c'));
    expect(await read({timestamps: true})).toBe(
      '2026-11-20T14:00:01.000000000Z aabb\n2026-11-20T14:00:03.000000000Z c\n',
    );
    expect(await read({tailLines: 2})).toBe('aabb\nc\n');
  });

  test.each([undefined, 7])(
    'is shown without a file that is broken, which is told (tail %s)',
    async (tailLines) => {
      rotatedTwice();
      writeFileSync(`${path}.20261120-140100.gz`, 'no gzip at all');
      const notices: string[] = [];
      let text = '';
      const options = {manner: OWN_MANNER, clock: systemClock, signal: never, streams: BOTH, tailLines};
      const reports = {leftOut: () => undefined, failed: () => undefined};
      await showLogs(
        [{path}],
        {...options, ...reports, notice: (notice) => void notices.push(notice)},
        {
          write: (_, bytes) => void (text += Buffer.from(bytes).toString()),
          ready: async () => undefined,
        },
      );
      expect(text).toBe('d\ne\nf\ng\nh\ni\n');
      expect(notices).toEqual([expect.stringMatching(/^left out .*".*\.gz": incorrect header check$/)]);
    },
  );
});

describe('since', () => {
  const LINES = 400_000;

  test('finds its place by a few looks into a large file', async () => {
    writeFileSync(path, Array.from({length: LINES}, (_, n) => line(n, `line ${n}`)).join(''));
    await using file = await PlainLogFile.open(path);
    let looks = 0;
    const readAt = file.readAt.bind(file);
    file.readAt = async (...args) => {
      looks += 1;
      return await readAt(...args);
    };
    const size = await file.size();
    const start = await findTime(file, size, moment(300_000));
    const wanted = Buffer.byteLength(Array.from({length: 300_000}, (_, n) => line(n, `line ${n}`)).join(''));
    expect(wanted - start).toBeGreaterThanOrEqual(0);
    expect(wanted - start).toBeLessThanOrEqual(128 * 1024);
    expect(looks).toBeLessThan(12);
    expect(await read({since: moment(LINES - 2)})).toBe(`line ${LINES - 2}\nline ${LINES - 1}\n`);
  });

  test('keeps a line whose first part is wanted, and leaves out one whose first part is not', async () => {
    writeFileSync(path, line(1, 'a', 'P') + line(2, 'a') + line(2, 'b', 'P') + line(3, 'b'));
    expect(await read({since: moment(2)})).toBe('bb\n');
    expect(await read({until: moment(1)})).toBe('aa\n');
  });

  test('reads times with another zone than UTC', async () => {
    writeFileSync(path, '2026-11-20T15:00:01.5+01:00 stdout F a\n2026-11-20T15:00:02+01:00 stdout F b\n');
    expect(await read({since: moment(2), timestamps: true})).toBe('2026-11-20T15:00:02.000000000+01:00 b\n');
  });

  test('reads all of a file whose lines are in no known format', async () => {
    writeFileSync(path, `${'garbage\n'.repeat(50_000)}${line(5, 'a')}`);
    expect(await read({since: moment(2)})).toBe('a\n');
  });
});
