import {appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync} from 'node:fs';
import {execFileSync} from 'node:child_process';
import {join} from 'node:path';
import {gzipSync} from 'node:zlib';
import {beforeEach, describe, expect, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import {SystemError} from '../../../src/base/errors.js';
import type {LogStream} from '../../../src/cri/index.js';
import {
  createLocalLogFiles,
  LOCAL_LOG_FILES,
  type LogFiles,
  type OpenLogFile,
} from '../../../src/operations/logs/log-files.js';
import {LogSource} from '../../../src/operations/logs/log-source.js';
import {KCRI_LOG_STRATEGY} from '../../../src/operations/logs/log-read-strategy.js';
import {readLog, type ReadLogOptions} from '../../../src/operations/logs/read-log.js';
import {logTime} from '../../../src/operations/logs/log-selection.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

let directory: string;
let path: string;
beforeEach(async () => {
  directory = await temporaryDirectory();
  path = join(directory, '0.log');
});

const BOTH: ReadonlySet<LogStream> = new Set(['stdout', 'stderr']);
const never = new AbortController().signal;
const time = (second: number): string => `2026-11-20T14:00:${String(second).padStart(2, '0')}.5Z`;
const line = (second: number, text: string, tag = 'F', stream: LogStream = 'stdout'): string =>
  `${time(second)} ${stream} ${tag} ${text}\n`;

async function read(options: Partial<ReadLogOptions> = {}) {
  const written = {stdout: '', stderr: ''};
  const sink = {
    write: (stream: LogStream, bytes: Uint8Array) => void (written[stream] += Buffer.from(bytes).toString()),
    ready: async () => undefined,
  };
  const unknown = await readLog(path, {streams: BOTH, signal: never, ...options}, sink);
  return {...written, unknown};
}

describe('readLog', () => {
  test('writes each stream separately', async () => {
    writeFileSync(path, line(1, 'a') + line(2, 'b', 'F', 'stderr') + line(3, ''));
    expect(await read()).toEqual({stdout: 'a\n\n', stderr: 'b\n', unknown: 0});
  });

  test('joins the parts of a line, even if the other stream wrote between them', async () => {
    writeFileSync(
      path,
      line(1, 'aa', 'P') + line(2, 'x', 'F', 'stderr') + line(3, 'bb', 'P') + line(4, 'cc'),
    );
    expect(await read({timestamps: true})).toEqual({
      stdout: '2026-11-20T14:00:01.500000000Z aabbcc\n',
      stderr: '2026-11-20T14:00:02.500000000Z x\n',
      unknown: 0,
    });
  });

  test('ignores additional tags', async () => {
    writeFileSync(path, line(1, 'a', 'P:x:y') + line(2, 'b', 'F:z'));
    expect((await read()).stdout).toBe('ab\n');
  });

  test("reads Docker's json-file format", async () => {
    const entry = (log: string, stream: string): string =>
      `${JSON.stringify({log, stream, time: time(1)})}\n`;
    writeFileSync(path, entry('one ', 'stdout') + entry('line\n', 'stdout') + entry('err\n', 'stderr'));
    expect(await read()).toEqual({stdout: 'one line\n', stderr: 'err\n', unknown: 0});
  });

  test('counts and skips lines in an unknown format', async () => {
    writeFileSync(path, `garbage\n${line(1, 'a')}{"log":\n2026-11-20T14:00:01Z stdlog F x\n`);
    expect(await read()).toEqual({stdout: 'a\n', stderr: '', unknown: 3});
  });

  test('rejects a directory, and a pipe without waiting for its writer', async () => {
    mkdirSync(path);
    await expect(read()).rejects.toThrow(SystemError);
    await expect(read()).rejects.toThrow(`cannot read log "${path}": illegal operation on a directory`);
    path = join(directory, 'pipe');
    execFileSync('mkfifo', [path]);
    await expect(read()).rejects.toThrow(`the log "${path}" is not a regular file`);
  });

  test('rejects devices except /dev/null', async () => {
    path = '/dev/null';
    expect(await read()).toEqual({stdout: '', stderr: '', unknown: 0});
    path = '/dev/zero';
    await expect(read({signal: AbortSignal.timeout(1000)})).rejects.toThrow(
      'the log "/dev/zero" is not a regular file',
    );
  });

  test.each([
    ['a file', '0.log', {}],
    ['the end of a file', '0.log', {tailLines: 1}],
    ['a rotated file', '0.log.20261120-140000', {tailLines: 1}],
    ['a gzipped file', '0.log.20261120-140000.gz', {tailLines: 1}],
  ])('can be aborted while it searches %s', async (_, name, options) => {
    writeFileSync(path, '');
    const text = Buffer.from(line(1, 'x'.repeat(100), 'F', 'stderr').repeat(40_000));
    writeFileSync(join(directory, name), name.endsWith('.gz') ? gzipSync(text) : text);
    const controller = new AbortController();
    const reason = new Error('enough');
    const streams = new Set<LogStream>(['stdout']);
    const search = async (): Promise<void> => {
      const selection = {streams, ...options, strategy: KCRI_LOG_STRATEGY, signal: controller.signal};
      await using source = await LogSource.open(path, selection);
      await source.fill();
    };
    setImmediate(() => {
      controller.abort(reason);
    });
    await expect(search()).rejects.toBe(reason);
  });

  test('writes a last line without a newline', async () => {
    writeFileSync(path, line(1, 'a') + line(2, 'b').trimEnd());
    expect((await read()).stdout).toBe('a\nb');
  });

  test('omits the other stream', async () => {
    writeFileSync(path, line(1, 'a') + line(2, 'b', 'F', 'stderr'));
    expect(await read({streams: new Set(['stderr'])})).toEqual({stdout: '', stderr: 'b\n', unknown: 0});
  });

  test.each([
    [undefined, 'a\nbb\nc\n'],
    [0, ''],
    [1, 'a'],
    [3, 'a\nb'],
    [100, 'a\nbb\nc\n'],
  ])('stops after limitBytes %s', async (limitBytes, text) => {
    writeFileSync(path, line(1, 'a') + line(2, 'bb') + line(3, 'c'));
    expect((await read({limitBytes})).stdout).toBe(text);
  });

  test('omits older lines to the nanosecond with since', async () => {
    writeFileSync(path, line(1, 'a') + line(2, 'b') + line(3, 'c'));
    const second = BigInt(Date.parse('2026-11-20T14:00:02.500Z')) * 1_000_000n;
    expect((await read({since: logTime(second)})).stdout).toBe('b\nc\n');
    expect((await read({since: logTime(second + 1n)})).stdout).toBe('c\n');
  });

  test('rejects with the path of a missing file', async () => {
    await expect(read()).rejects.toMatchObject({
      code: 'SYSTEM',
      message: expect.stringContaining(path) as string,
    });
  });

  test('preserves lines longer than the buffers', async () => {
    const long = 'x'.repeat(700_000);
    writeFileSync(path, line(1, long) + line(2, 'b'));
    expect((await read()).stdout).toBe(`${long}\nb\n`);
    expect((await read({tailLines: 2})).stdout).toBe(`${long}\nb\n`);
  });

  test('reads a million lines', async () => {
    writeFileSync(path, line(1, 'some text of a usual length, as a server writes it').repeat(1_000_000));
    let bytes = 0;
    const sink = {
      write: (_: LogStream, chunk: Uint8Array) => void (bytes += chunk.length),
      ready: async () => undefined,
    };
    await readLog(path, {streams: BOTH, signal: never}, sink);
    expect(bytes).toBe(51_000_000);
  });
});

describe('tailLines', () => {
  const LINES =
    line(1, 'a') +
    line(2, 'b', 'P') +
    line(3, 'e1', 'F', 'stderr') +
    line(4, 'b', 'P') +
    line(5, 'b') +
    line(6, 'c') +
    line(7, 'e2', 'F', 'stderr');

  test.each([
    [0, '', ''],
    [1, '', 'e2\n'],
    [2, 'c\n', 'e2\n'],
    [3, 'bbb\nc\n', 'e2\n'],
    [4, 'bbb\nc\n', 'e1\ne2\n'],
    [5, 'a\nbbb\nc\n', 'e1\ne2\n'],
    [9, 'a\nbbb\nc\n', 'e1\ne2\n'],
  ])('%d selects complete lines: %j and %j', async (tailLines, stdout, stderr) => {
    writeFileSync(path, LINES);
    expect(await read({tailLines})).toEqual({stdout, stderr, unknown: 0});
  });

  test('counts only the lines of the selected streams', async () => {
    writeFileSync(path, LINES);
    expect((await read({tailLines: 2, streams: new Set(['stdout'])})).stdout).toBe('bbb\nc\n');
  });

  test('counts an incomplete last line, with and without a newline', async () => {
    writeFileSync(path, line(1, 'a') + line(2, 'b') + line(3, 'cc', 'P'));
    expect((await read({tailLines: 2})).stdout).toBe('b\ncc');
    writeFileSync(path, line(1, 'a') + line(2, 'b').trimEnd());
    expect((await read({tailLines: 1})).stdout).toBe('b');
  });

  test('reads only the end of a large file', async () => {
    writeFileSync(path, line(1, 'text of a line').repeat(500_000) + line(2, 'last'));
    const before = bytesRead();
    expect((await read({tailLines: 2})).stdout).toBe('text of a line\nlast\n');
    expect(bytesRead() - before).toBeLessThan(2 * 1024 * 1024);
  });
});

/** Returns the number of bytes that this process has read so far. */
function bytesRead(): number {
  return Number(/^rchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
}

describe('follow', () => {
  /** Follows the log and runs the next step after each output; the container ends after the last step. */
  async function follow(steps: readonly (() => void)[], options: Partial<ReadLogOptions> = {}) {
    let stdout = '';
    let running = true;
    const remaining = [...steps];
    const sink = {
      write: (_: LogStream, bytes: Uint8Array) => {
        stdout += Buffer.from(bytes).toString();
        const step = remaining.shift();
        if (step === undefined) running = false;
        else step();
      },
      ready: async () => undefined,
    };
    const progress = async () => ({kind: running ? 'running' : 'ended'}) as const;
    await readLog(
      path,
      {streams: BOTH, signal: never, follow: {clock: systemClock, progress}, ...options},
      sink,
    );
    return stdout;
  }

  test('writes appended lines and ends with the container', async () => {
    writeFileSync(path, line(1, 'a'));
    expect(
      await follow([
        () => {
          appendFileSync(path, line(2, 'b'));
        },
      ]),
    ).toBe('a\nb\n');
  });

  test('waits for the newline of a line', async () => {
    const [start, end] = [line(2, 'b').slice(0, 30), line(2, 'b').slice(30)];
    writeFileSync(path, line(1, 'a') + start);
    expect(
      await follow([
        () => {
          appendFileSync(path, end);
        },
      ]),
    ).toBe('a\nb\n');
  });

  test('continues with the new file after a rotation, without losing a line', async () => {
    writeFileSync(path, line(1, 'a'));
    const rotate = (): void => {
      appendFileSync(path, line(2, 'b'));
      renameSync(path, `${path}.20261120-140000`);
      writeFileSync(path, line(3, 'c'));
    };
    expect(await follow([rotate, () => undefined])).toBe('a\nb\nc\n');
  });

  test('starts with the last lines', async () => {
    writeFileSync(path, line(1, 'a') + line(2, 'b'));
    expect(
      await follow(
        [
          () => {
            appendFileSync(path, line(3, 'c'));
          },
        ],
        {tailLines: 1},
      ),
    ).toBe('b\nc\n');
  });

  test('ends immediately if the container has exited', async () => {
    writeFileSync(path, line(1, 'a'));
    expect(await follow([])).toBe('a\n');
  });

  test('stops at the byte limit', async () => {
    writeFileSync(path, line(1, 'a'));
    expect(
      await follow(
        [
          () => {
            appendFileSync(path, line(2, 'bcd'));
          },
        ],
        {limitBytes: 4},
      ),
    ).toBe('a\nbc');
  });

  test('rejects with the reason when aborted', async () => {
    writeFileSync(path, line(1, 'a'));
    const controller = new AbortController();
    const reason = new Error('enough');
    const step = (): void => {
      controller.abort(reason);
    };
    await expect(follow([step], {signal: controller.signal})).rejects.toBe(reason);
  });
});

describe('files of this machine that are read on its thread', () => {
  const files = createLocalLogFiles(() => true);

  test('give the same lines and errors', async () => {
    writeFileSync(path, line(1, 'a') + line(2, 'b'));
    expect(await read({files})).toEqual(await read({files: LOCAL_LOG_FILES}));
    const missing = `${path}.missing`;
    expect(await files.stat(missing)).toBeUndefined();
    expect(await files.stat(path)).toEqual(await LOCAL_LOG_FILES.stat(path));
    expect(await files.realpath(path)).toBe(await LOCAL_LOG_FILES.realpath(path));
    const failure = async (of: LogFiles): Promise<unknown> =>
      await of.open(missing).catch((error: unknown) => error);
    expect(await failure(files)).toEqual(await failure(LOCAL_LOG_FILES));
  });

  test('are checked to be regular', async () => {
    await expect(files.open('/dev/zero')).rejects.toThrow('is not a regular file');
  });
});

describe('a log that cannot be read leaves no file open:', () => {
  /** Returns log files that count the open ones, with some methods replaced. */
  function countedFiles(replaced: (open: OpenLogFile, at: string) => Partial<OpenLogFile>) {
    const opened = {count: 0};
    const files: LogFiles = {
      ...LOCAL_LOG_FILES,
      open: async (at) => {
        const file = await LOCAL_LOG_FILES.open(at);
        opened.count += 1;
        const close = async (): Promise<void> => {
          opened.count -= 1;
          await file.close();
        };
        return {...file, close, ...replaced(file, at)};
      },
    };
    return {opened, files};
  }
  const failing = async (): Promise<never> => {
    await Promise.resolve();
    throw Object.assign(new Error('EIO: i/o error, read'), {code: 'EIO', errno: -5, syscall: 'read'});
  };

  test('its directory cannot be listed', async () => {
    writeFileSync(path, line(1, 'a'));
    const {opened, files} = countedFiles(() => ({}));
    await expect(read({files: {...files, list: failing}})).rejects.toThrow(SystemError);
    expect(opened.count).toBe(0);
  });

  test('its directory cannot be listed again, after its files were opened', async () => {
    writeFileSync(path, line(1, 'a'));
    const {opened, files} = countedFiles(() => ({}));
    let lists = 0;
    const list: LogFiles['list'] = async (directoryPath) =>
      (lists += 1) === 1 ? await files.list(directoryPath) : await failing();
    const follow = {clock: systemClock, progress: async () => ({kind: 'ended'}) as const};
    await expect(read({files: {...files, list}, follow})).rejects.toThrow(SystemError);
    expect([lists, opened.count]).toEqual([2, 0]);
  });

  test('the state of a rotated file cannot be read, which only skips that file', async () => {
    writeFileSync(`${path}.20261120-140000`, line(1, 'a'));
    writeFileSync(path, line(2, 'b'));
    const {opened, files} = countedFiles((_file, at) => (at === path ? {} : {state: failing}));
    expect((await read({files})).stdout).toBe('b\n');
    expect(opened.count).toBe(0);
  });
});
