import {PassThrough, Writable} from 'node:stream';
import {expect, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import {Klog} from '../../../src/cli/kubelet/klog.js';
import type {OutputStream} from '../../../src/cli/standard-output.js';
import {LogWriter} from '../../../src/cli/kubelet/log-writer.js';

const klog = (stream: OutputStream, verbosity = 0): Klog =>
  new Klog({
    stream,
    clock: systemClock,
    pid: 7,
    verbosity,
    format: 'text',
    mask: (text) => text.replaceAll('s3cret', '***'),
  });

test('says from where it was called, hides secrets, and leaves out what is too verbose', () => {
  const stream = new PassThrough();
  const logger = klog(stream, 2);
  logger.info('Known', {token: 's3cret'}, 2);
  logger.info('Too much', {}, 3);
  logger.error('why', 'Failed');
  const lines = String(stream.read()).trim().split('\n');
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(/^I.* 7 klog\.test\.ts:\d+\] "Known" token="\*\*\*"$/);
  expect(lines[1]).toMatch(/^E.* 7 klog\.test\.ts:\d+\] "Failed" err="why"$/);
});

test('says from the place that the bundler names', () => {
  const stream = new PassThrough();
  const logger = klog(stream).at('kubelet/kubelet.ts:12');
  logger.info('Known');
  logger.info('Too much', {}, 3);
  logger.at('kubelet/pod-workers.ts:3').error('why', 'Failed');
  const lines = String(stream.read()).trim().split('\n');
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(/ kubelet\.ts:12\] "Known"$/);
  expect(lines[1]).toMatch(/ pod-workers\.ts:3\] "Failed" err="why"$/);
});

test('drops what a reader that stands still leaves no room for, tells how many lines, and ends all the same', async () => {
  const taken: string[] = [];
  let goOn = (): void => undefined;
  const stream = new Writable({
    write: (chunk: Buffer, _, done) => {
      taken.push(chunk.toString());
      goOn = done;
    },
  });
  const writer = new LogWriter(stream, (count) => `${count} lost\n`, 20);
  for (const line of ['first\n', 'second\n', 'much too long for it\n', 'that too, of course\n'])
    writer.write(line);
  goOn();
  goOn();
  await new Promise((resolve) => setImmediate(resolve));
  writer.write('third\n');
  await writer.flush(systemClock, 10);
  expect(taken).toEqual(['first\n', 'second\n', '2 lost\nthird\n']);
  expect(stream.destroyed).toBe(true);
});

test('tells at the end of the lines that were lost last', async () => {
  const stream = new PassThrough();
  const writer = new LogWriter(stream, (count) => `${count} lost\n`, 20);
  for (const line of ['first\n', 'much too long for it, and more\n']) writer.write(line);
  await writer.flush(systemClock, 1000);
  expect(String(stream.read())).toBe('first\n1 lost\n');
});

test('says from where it tells that lines were lost', () => {
  const stream = new PassThrough();
  const logger = klog(stream);
  logger.info('x'.repeat(5 * 1024 * 1024));
  logger.info('Next');
  const lines = String(stream.read()).trim().split('\n');
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(/^E.* log-writer\.ts:1\] "Log lines were lost because .*" lines=1$/);
});

test('goes on in silence when its reader is gone', async () => {
  const stream = new Writable({
    write: (_chunk, _encoding, done) => {
      done(Object.assign(new Error('gone'), {code: 'EPIPE'}));
    },
  });
  const logger = klog(stream);
  logger.info('One');
  await new Promise((resolve) => setImmediate(resolve));
  logger.info('Two');
  await logger.flush();
});
