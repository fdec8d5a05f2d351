import {mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {gzipSync} from 'node:zlib';
import {beforeEach, describe, expect, test} from 'vitest';
import type {LogStream} from '../../../src/cri/index.js';
import {KCRI_LOG_STRATEGY} from '../../../src/operations/logs/log-read-strategy.js';
import {LOCAL_LOG_FILES} from '../../../src/operations/logs/log-files.js';
import {PlainLogFile} from '../../../src/operations/logs/log-file.js';
import {readLog, type ReadLogOptions} from '../../../src/operations/logs/read-log.js';
import {findTime} from '../../../src/operations/logs/history/find-time.js';
import {logTime} from '../../../src/operations/logs/log-selection.js';
import {showLogs} from '../../../src/operations/logs/show-logs.js';
import {systemClock} from '../../../src/base/clock.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

let directory: string;
let path: string;
beforeEach(async () => {
  directory = await temporaryDirectory();
  path = join(directory, '0.log');
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

/** Writes three files with three lines each, ten seconds apart: a gzipped, a rotated and the current one. */
function rotatedTwice(): void {
  writeFileSync(`${path}.20261120-140100.gz`, gzipSync(line(0, 'a') + line(10, 'b') + line(20, 'c')));
  writeFileSync(`${path}.20261120-140200`, line(30, 'd') + line(40, 'e') + line(50, 'f'));
  writeFileSync(path, line(60, 'g') + line(70, 'h') + line(80, 'i'));
}

describe('a rotated log', () => {
  test('is read from its oldest file, including gzipped ones', async () => {
    rotatedTwice();
    writeFileSync(join(directory, '0.log.20261120-140000.tmp'), line(0, 'being written'));
    writeFileSync(join(directory, '1.log.20261120-140000'), line(0, 'of another attempt'));
    expect(await read()).toBe('a\nb\nc\nd\ne\nf\ng\nh\ni\n');
  });

  test.each([
    [2, 'h\ni\n'],
    [4, 'f\ng\nh\ni\n'],
    [7, 'c\nd\ne\nf\ng\nh\ni\n'],
    [9, 'a\nb\nc\nd\ne\nf\ng\nh\ni\n'],
    [20, 'a\nb\nc\nd\ne\nf\ng\nh\ni\n'],
  ])('is searched over all files for its last %d lines', async (tailLines, text) => {
    rotatedTwice();
    expect(await read({tailLines})).toBe(text);
  });

  test.each([
    [75, 'i\n'],
    [45, 'f\ng\nh\ni\n'],
    [10, 'b\nc\nd\ne\nf\ng\nh\ni\n'],
    [500, ''],
  ])('is searched over all files for lines since second %d', async (second, text) => {
    rotatedTwice();
    expect(await read({since: moment(second)})).toBe(text);
  });

  test('is read until a time, optionally only its last lines', async () => {
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

  test('that is gzipped between the listing and the reading is read', async () => {
    rotatedTwice();
    const list = async (of: string): Promise<readonly string[]> =>
      (await LOCAL_LOG_FILES.list(of)).map((name) => name.replace(/\.gz$/, ''));
    expect(await read({files: {...LOCAL_LOG_FILES, list}})).toBe('a\nb\nc\nd\ne\nf\ng\nh\ni\n');
  });

  test("may be Docker's behind a symbolic link, with higher numbers for older files", async () => {
    const docker = join(directory, 'docker');
    mkdirSync(docker);
    const entry = (log: string): string => `${JSON.stringify({log, stream: 'stdout', time: at(1)})}\n`;
    writeFileSync(join(docker, 'x-json.log'), entry('c\n'));
    writeFileSync(join(docker, 'x-json.log.1'), entry('b\n'));
    writeFileSync(join(docker, 'x-json.log.2.gz'), gzipSync(entry('a\n')));
    symlinkSync(join(docker, 'x-json.log'), path);
    expect(await read()).toBe('a\nb\nc\n');
  });

  test('is joined over two files', async () => {
    writeFileSync(`${path}.20261120-140200`, line(1, 'aa', 'P'));
    writeFileSync(path, line(2, 'bb') + line(3, 'c'));
    expect(await read({timestamps: true})).toBe(
      '2026-11-20T14:00:01.000000000Z aabb\n2026-11-20T14:00:03.000000000Z c\n',
    );
    expect(await read({tailLines: 2})).toBe('aabb\nc\n');
  });

  test.each([undefined, 7])(
    'is shown without a corrupt file, which is reported (tail %s)',
    async (tailLines) => {
      rotatedTwice();
      writeFileSync(`${path}.20261120-140100.gz`, 'not gzipped');
      const notices: string[] = [];
      let text = '';
      const options = {
        strategy: KCRI_LOG_STRATEGY,
        clock: systemClock,
        signal: never,
        streams: BOTH,
        tailLines,
      };
      const reports = {onUnknownLines: () => undefined, onFailure: () => undefined};
      await showLogs(
        [{path}],
        {...options, ...reports, onNotice: (notice) => void notices.push(notice)},
        {
          write: (_, bytes) => void (text += Buffer.from(bytes).toString()),
          ready: async () => undefined,
        },
      );
      expect(text).toBe('d\ne\nf\ng\nh\ni\n');
      expect(notices).toEqual([expect.stringMatching(/^skipped .*".*\.gz": incorrect header check$/)]);
    },
  );
});

describe('since', () => {
  const LINES = 400_000;

  test('finds the first line with few reads of a large file', async () => {
    writeFileSync(path, Array.from({length: LINES}, (_, n) => line(n, `line ${n}`)).join(''));
    await using file = await PlainLogFile.open(path);
    let reads = 0;
    const readAt = file.readAt.bind(file);
    file.readAt = async (...args) => {
      reads += 1;
      return await readAt(...args);
    };
    const size = await file.size();
    const start = await findTime(file, size, moment(300_000));
    const expected = Buffer.byteLength(
      Array.from({length: 300_000}, (_, n) => line(n, `line ${n}`)).join(''),
    );
    expect(expected - start).toBeGreaterThanOrEqual(0);
    expect(expected - start).toBeLessThanOrEqual(128 * 1024);
    expect(reads).toBeLessThan(12);
    expect(await read({since: moment(LINES - 2)})).toBe(`line ${LINES - 2}\nline ${LINES - 1}\n`);
  });

  test('selects a partial line by the time of its first part', async () => {
    writeFileSync(path, line(1, 'a', 'P') + line(2, 'a') + line(2, 'b', 'P') + line(3, 'b'));
    expect(await read({since: moment(2)})).toBe('bb\n');
    expect(await read({until: moment(1)})).toBe('aa\n');
  });

  test('reads times in other zones than UTC', async () => {
    writeFileSync(path, '2026-11-20T15:00:01.5+01:00 stdout F a\n2026-11-20T15:00:02+01:00 stdout F b\n');
    expect(await read({since: moment(2), timestamps: true})).toBe('2026-11-20T15:00:02.000000000+01:00 b\n');
  });

  test('reads all lines of a file in an unknown format', async () => {
    writeFileSync(path, `${'garbage\n'.repeat(50_000)}${line(5, 'a')}`);
    expect(await read({since: moment(2)})).toBe('a\n');
  });
});
