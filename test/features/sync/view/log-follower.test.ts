import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {systemClock} from '../../../../src/base/clock.js';
import {SilentRenderer} from '../../../../src/features/sync/view/sync-renderer.js';
import {LineSplitter, LogFollower} from '../../../../src/features/sync/view/log-follower.js';
import {connect, containerId, podUid} from '../../../../src/cri/index.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {FakeRuntime, aContainer} from '../../../fakes/fake-runtime.js';

describe('LineSplitter', () => {
  test('joins lines and characters split between chunks', () => {
    const splitter = new LineSplitter();
    const bytes = Buffer.from('one\ntwö\n\nrest');
    const lines = [...bytes].flatMap((byte) => splitter.push(Buffer.of(byte)));
    expect([lines, splitter.rest()]).toEqual([['one', 'twö', ''], ['rest']]);
  });

  test('splits an endless line between characters', () => {
    const splitter = new LineSplitter();
    const text = '😀'.repeat(100_000);
    const bytes = Buffer.from(text);
    const lines: string[] = [];
    for (let start = 0; start < bytes.length; start += 1000)
      lines.push(...splitter.push(bytes.subarray(start, start + 1000)));
    const all = [...lines, ...splitter.rest()];
    expect(all.join('')).toBe(text);
    expect(lines.length).toBeGreaterThan(0);
    expect(all.every((line) => Buffer.from(line).toString() === line && line.length <= 2 * 64 * 1024)).toBe(
      true,
    );
  });
});

test('a log is read no faster than its reader accepts it', async () => {
  const folder = await temporaryDirectory();
  const logPath = join(folder, '0.log');
  writeFileSync(logPath, `2026-11-20T14:00:01Z stdout F ${'x'.repeat(90)}\n`.repeat(20_000));
  await using runtime = await FakeRuntime.start({
    containers: [aContainer({id: 'c1', state: 'CONTAINER_EXITED', logPath})],
  });
  using cri = connect(runtime.endpoint);
  let lines = 0;
  let calls = 0;
  const renderer = Object.assign(new SilentRenderer(), {
    log: (_pod: unknown, _container: string, shown: readonly string[]) => {
      lines += shown.length;
      calls += 1;
    },
  });
  const gates: (() => void)[] = [];
  const follower = new LogFollower({
    runtime: cri.runtime,
    clock: systemClock,
    renderer,
    output: {
      ready: async () => {
        await new Promise<void>((resolve) => {
          gates.push(resolve);
        });
      },
    },
    signal: new AbortController().signal,
  });
  follower.follow({namespace: 'default', name: 'web', uid: podUid('u1')}, 'main', containerId('c1'));
  await expect.poll(() => gates.length).toBe(1);
  expect(lines).toBeGreaterThan(0);
  expect(lines).toBeLessThan(5000);
  const ended = follower.end();
  const opening = setInterval(() => {
    for (const open of gates.splice(0)) open();
  }, 1);
  await ended;
  clearInterval(opening);
  expect(lines).toBe(20_000);
  // Lines of one read are shown together.
  expect(calls).toBeLessThan(1000);
});
