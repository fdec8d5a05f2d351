import {expect, test} from 'vitest';
import {FakeTerminal} from '../../cli/terminal/fake-terminal.js';
import {aManifest, aScene, type PodScene} from '../pod-scene.js';
import {interruptAt, runKcriOnTerminal} from '../interrupt-watch.js';

async function synced(scene: PodScene, ...names: readonly string[]): Promise<void> {
  const manifests = names.map((name) => aManifest({name}));
  const {exitCode, stderr} = await scene.run(['sync', '-'], {stdin: manifests.join('\n---\n')});
  expect({exitCode, stderr}).toMatchObject({exitCode: 0});
}

/** Runs top on a terminal until Ctrl-C, which comes when what it shows fits. */
async function top(scene: PodScene, terminal: FakeTerminal, until: RegExp) {
  const {signal, onStdout} = interruptAt(until);
  terminal.stream.on('data', (chunk: Buffer) => {
    onStdout(chunk.toString());
  });
  const args = ['--root-dir', scene.rootDir, 'top'];
  return await runKcriOnTerminal(terminal, args, {endpoint: scene.runtime.endpoint, signal});
}

/** What is to be seen, without the line that the cursor waits in. */
const seen = (terminal: FakeTerminal): readonly string[] =>
  terminal.lines.slice(0, -1).map((line) => line.trimEnd());

test('on a terminal pods and events are drawn over and over, until Ctrl-C, which is success', async () => {
  const scene = await aScene();
  await synced(scene, 'api', 'web');
  const terminal = new FakeTerminal(100, 24);
  expect(await top(scene, terminal, /(CPU %[^]*){4}/)).toEqual({exitCode: 0, stderr: ''});
  const [time, header, ...rest] = seen(terminal);
  expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S+$/);
  expect(header).toMatch(/^POD +READY +STATE +RESTARTS +CPU % +MEM +AGE +PROBES$/);
  expect(rest.slice(0, 5)).toEqual([
    expect.stringMatching(/^default\/api +1\/1 +Running +0 /),
    expect.stringMatching(/^ {2}main +yes +Running +0 /),
    expect.stringMatching(/^default\/web +1\/1 +Running +0 /),
    expect.stringMatching(/^ {2}main +yes +Running +0 /),
    '',
  ]);
  expect(rest[5]).toMatch(/^\d+s +default\/\w+ {2}(Normal|Warning) {2}/);
  expect(seen(terminal).filter((line) => line.startsWith('POD '))).toHaveLength(1);
  expect(terminal.cursorVisible).toBe(true);
});

test.each([
  [40, 6],
  [200, 3],
  [10, 24],
])('nothing is wider or taller than a terminal of %i × %i', async (columns, rows) => {
  const scene = await aScene();
  await synced(scene, 'api', 'web');
  const terminal = new FakeTerminal(columns, rows);
  expect((await top(scene, terminal, /([TZ:\d+-]{9,}\n[^]*){4}/)).exitCode).toBe(0);
  expect(terminal.wrapped).toEqual([]);
  expect(terminal.tallest).toBeLessThanOrEqual(rows);
});

test('what does not fit is counted', async () => {
  const scene = await aScene();
  await synced(scene, 'api', 'web');
  const terminal = new FakeTerminal(100, 6);
  await top(scene, terminal, /(CPU %[^]*){3}/);
  expect(seen(terminal)).toHaveLength(5);
  expect(seen(terminal).at(-1)).toMatch(/^… \d+ more$/);
});

test('a runtime that goes away is told of below the pods, which stay', async () => {
  const scene = await aScene();
  await synced(scene, 'web');
  const terminal = new FakeTerminal(300, 24);
  let stopped = Promise.resolve();
  let looks = 0;
  terminal.stream.on('data', (chunk: Buffer) => {
    looks += chunk.toString().includes('POD ') ? 1 : 0;
    if (looks === 2) stopped = scene.runtime.stop();
  });
  const {exitCode, stderr} = await top(scene, terminal, /(warning:[^]*POD [^]*){2}/);
  await stopped;
  expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
  expect(seen(terminal).at(-1)).toMatch(/^warning: .*is unavailable/);
  expect(seen(terminal).filter((line) => line.startsWith('default/web'))).toHaveLength(1);
});

test('pods that come and go while it runs do so on the screen', async () => {
  const scene = await aScene();
  await synced(scene, 'web');
  const terminal = new FakeTerminal(100, 24);
  let changed = Promise.resolve();
  terminal.stream.once('data', () => {
    changed = synced(scene, 'later');
  });
  expect((await top(scene, terminal, /default\/later +1\/1 +Running/)).exitCode).toBe(0);
  await changed;
  expect(seen(terminal).filter((line) => line.startsWith('default/'))).toHaveLength(2);
});
