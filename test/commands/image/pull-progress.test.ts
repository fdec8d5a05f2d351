import {PassThrough} from 'node:stream';
import {describe, expect, test} from 'vitest';
import type {Status} from '../../../src/containerd/gen/types.js';
import {Output} from '../../../src/cli/output/output.js';
import {glyphsOf} from '../../../src/cli/output/terminal-features.js';
import {progressLines, withPullProgress} from '../../../src/features/pull/pull-progress.js';
import {PullProgress} from '../../../src/operations/images/pull-progress.js';
import {until} from '../../base/until.js';
import {FakeClock} from '../../fakes/fake-clock.js';
import {anImage, FakeRuntime} from '../../fakes/fake-runtime.js';
import {runKcri} from '../../cli/run-kcri.js';
import {startImageTestbed} from './image-testbed.js';

const NEW = 'localhost:5000/new:1';
const LAYER = `layer-sha256:${'a'.repeat(64)}`;

function ingest(ref: string, offset: bigint, total: bigint, seconds = 1000n): Status {
  const at = {seconds, nanos: 0};
  return {ref, offset, total, startedAt: at, updatedAt: at, expected: ''};
}

describe('the progress of a pull', () => {
  test('follows the ingests of the pull, and derives times', () => {
    const progress = new PullProgress(1_000_000);
    progress.update(
      [ingest(LAYER, 10n, 100n), ingest('layer-sha256:' + 'b'.repeat(64), 1n, 2n, 10n)],
      1_000_200,
    );
    progress.update([ingest(LAYER, 50n, 100n), ingest('kcri-load-1', 1n, 2n)], 1_000_400);
    expect(progress.downloads).toEqual([
      {id: 'a'.repeat(12), kind: 'layer', doneBytes: 50, totalBytes: 100, isDone: false},
    ]);
    progress.update([], 1_000_600);
    expect(progress.isDownloaded).toBe(true);
    expect(progress.times(1_001_000)).toEqual({
      pulledMs: 1000,
      downloadMs: 600,
      unpackMs: 400,
      downloadedBytes: 100,
    });
  });

  test('has only a total if no download was seen', () => {
    expect(new PullProgress(0).times(5)).toEqual({
      pulledMs: 5,
      downloadMs: undefined,
      unpackMs: undefined,
      downloadedBytes: 0,
    });
  });

  test('is one line for each layer, within the terminal', () => {
    const progress = new PullProgress(0);
    progress.update(
      [ingest(LAYER, 50_000_000n, 100_000_000n), ingest('config-sha256:' + 'c'.repeat(64), 1n, 2n)],
      1,
    );
    const glyphs = glyphsOf({LANG: 'C.UTF-8'});
    const view = {activity: 'pulling x', elapsedMs: 2500, progress, glyphs, maxLines: 20, columns: 80};
    expect(progressLines(view)).toEqual([
      'pulling x … 2s',
      '  aaaaaaaaaaaa  [==========          ] 50MB/100MB',
    ]);
    progress.update([], 2);
    expect(progressLines(view)).toEqual(['pulling x, unpacking … 2s', '  aaaaaaaaaaaa  downloaded 100MB']);
    expect(progressLines({...view, glyphs: glyphsOf({LANG: 'C'})})[0]).toBe('pulling x, unpacking ... 2s');
    expect(progressLines({...view, maxLines: 1, columns: 10})).toEqual(['pulling x,']);
  });
});

test.each([
  ['xterm', true],
  ['dumb', false],
])('is drawn on a terminal of type %s: %s', async (TERM, isDrawn) => {
  const stream = Object.assign(new PassThrough(), {isTTY: true, columns: 80, rows: 24});
  const clock = new FakeClock();
  const services = {
    context: {clock, env: {TERM}},
    connections: {containerd: () => Promise.reject(new Error('no containerd'))},
    out: {stderr: new Output(stream, 'standard error')},
  } as unknown as Parameters<typeof withPullProgress>[0];
  let finish = (): void => undefined;
  const work = new Promise<void>((resolve) => (finish = resolve));
  const pulled = withPullProgress(services, 'pulling x', work);
  for (let second = 0; second < 3; second += 1) await clock.advance(1000);
  finish();
  await pulled;
  expect(String(stream.read() as Buffer | null)).toMatch(isDrawn ? /\u001B.*pulling x/ : /^null$/);
});

describe('pull', () => {
  // Proves: pull --verbose, pull --output
  test('-o json has the times of a pull whose download was observed', async () => {
    const {fake, runtime, run} = await startImageTestbed({registry: [anImage({name: NEW})]});
    runtime.injectAction('PullImage', async () => {
      const polls = (): number => fake.calls.filter(({rpc}) => rpc === 'Content.ListStatuses').length;
      fake.ingests.set(LAYER, {chunks: [Buffer.alloc(7)], total: '10', expected: ''});
      const seen = polls() + 2;
      await until(() => polls() >= seen);
      fake.ingests.delete(LAYER);
      const gone = polls() + 2;
      await until(() => polls() >= gone);
    });
    const {stdout, stderr, exitCode} = await run(['pull', '-o', 'json', NEW]);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    expect(JSON.parse(stdout)).toEqual({
      image: NEW,
      imageRef: expect.stringMatching(/^sha256:/) as string,
      pulledMs: expect.any(Number) as number,
      downloadMs: expect.any(Number) as number,
      unpackMs: expect.any(Number) as number,
      downloadedBytes: 10,
    });
  });

  test('-v prints the time on any runtime; a pipe is silent and makes no further calls', async () => {
    await using crio = await FakeRuntime.start({profile: 'cri-o', registry: [anImage({name: NEW})]});
    const verbose = await runKcri(['pull', '-v', NEW], {endpoint: crio.endpoint});
    expect(verbose.stderr).toMatch(/^pulled in \S+\n$/);
    const {fake, run} = await startImageTestbed({registry: [anImage({name: NEW})]});
    expect(await run(['pull', NEW])).toMatchObject({
      stdout: expect.stringMatching(/^Image is up to date/) as string,
      stderr: '',
    });
    expect(fake.calls).toEqual([]);
    expect((await run(['pull', '-v', NEW], {env: {KCRI_COMPAT: 'crictl'}})).stdout).not.toContain(
      'pulled in',
    );
  });
});
