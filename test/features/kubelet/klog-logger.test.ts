import {PassThrough, Writable} from 'node:stream';
import {expect, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import {KlogLogger} from '../../../src/features/kubelet/klog-logger.js';
import type {OutputStream} from '../../../src/cli/process/standard-output.js';
import type {FileVerbosity} from '../../../src/kubelet/index.js';
import {LogWriter} from '../../../src/features/kubelet/log-writer.js';

const klog = (stream: OutputStream, verbosity = 0, vmodule: readonly FileVerbosity[] = []): KlogLogger =>
  new KlogLogger({
    stream,
    clock: systemClock,
    pid: 7,
    verbosity: {current: verbosity},
    vmodule: {current: vmodule},
    format: {current: 'text'},
    mask: (text) => text.replaceAll('s3cret', '***'),
  });

test('lines have their file, secrets are masked, and messages above the verbosity are omitted', () => {
  const stream = new PassThrough();
  const log = klog(stream, 2);
  const logger = log.forFile('sync-loop.ts');
  logger.info('Known', {token: 's3cret'}, 2);
  logger.info('Too verbose', {}, 3);
  log.forFile('pod-workers.ts').error('why', 'Failed');
  const lines = String(stream.read()).trim().split('\n');
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(/^I.* 7 sync-loop\.ts:1\] "Known" token="\*\*\*"$/);
  expect(lines[1]).toMatch(/^E.* 7 pod-workers\.ts:1\] "Failed" err="why"$/);
});

test('a file may have a higher verbosity than the others', () => {
  const stream = new PassThrough();
  const log = klog(stream, 1, [
    {filePattern: 'pod-*', verbosity: 3},
    {filePattern: 'pod-workers', verbosity: 9},
    {filePattern: 'sync-loop', verbosity: 0},
  ]);
  for (const file of ['pod-workers.ts', 'sync-loop.ts'])
    for (const verbosity of [1, 3, 4]) log.forFile(file).info(`level ${verbosity}`, {}, verbosity);
  const shown = String(stream.read()).trim().split('\n');
  expect(shown.map((line) => line.replace(/^I\S+ \S+ +7 /, ''))).toEqual([
    'pod-workers.ts:1] "level 1"',
    'pod-workers.ts:1] "level 3"',
    'sync-loop.ts:1] "level 1"',
  ]);
});

test('lines for a blocked reader are dropped and counted, and the flush does not block', async () => {
  const written: string[] = [];
  let resume = (): void => undefined;
  const stream = new Writable({
    write: (chunk: Buffer, _, done) => {
      written.push(chunk.toString());
      resume = done;
    },
  });
  const writer = new LogWriter(stream, (count) => `${count} lost\n`, 20);
  for (const line of ['first\n', 'second\n', 'much too long for it\n', 'that too, of course\n'])
    writer.write(line);
  resume();
  resume();
  await new Promise((resolve) => setImmediate(resolve));
  writer.write('third\n');
  await writer.flush(systemClock, 10);
  expect(written).toEqual(['first\n', 'second\n', '2 lost\nthird\n']);
  expect(stream.destroyed).toBe(true);
});

test('the flush reports lines that were dropped last', async () => {
  const stream = new PassThrough();
  const writer = new LogWriter(stream, (count) => `${count} lost\n`, 20);
  for (const line of ['first\n', 'much too long for it, and more\n']) writer.write(line);
  await writer.flush(systemClock, 1000);
  expect(String(stream.read())).toBe('first\n1 lost\n');
});

test('the line about dropped lines has a file', () => {
  const stream = new PassThrough();
  const logger = klog(stream).forFile('kubelet.ts');
  logger.info('x'.repeat(5 * 1024 * 1024));
  logger.info('Next');
  const lines = String(stream.read()).trim().split('\n');
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(/^E.* log-writer\.ts:1\] "Dropped log lines because .*" lines=1$/);
});

test('a closed reader is ignored', async () => {
  const stream = new Writable({
    write: (_chunk, _encoding, done) => {
      done(Object.assign(new Error('closed'), {code: 'EPIPE'}));
    },
  });
  const log = klog(stream);
  const logger = log.forFile('kubelet.ts');
  logger.info('One');
  await new Promise((resolve) => setImmediate(resolve));
  logger.info('Two');
  await log.flush();
});
