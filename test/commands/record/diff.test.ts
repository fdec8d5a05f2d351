import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {containerId, podSandboxId, podUid, type Connection} from '../../../src/cri/index.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {runKcri} from '../../cli/run-kcri.js';
import {BUSYBOX, FakeRuntime, anImage} from '../../fakes/fake-runtime.js';
import {startRecorder} from './recorder.js';

const UID = 'b4a7a1f0-1c6e-4b1e-9d52-0e6f7f3f0001';
const OTHER = 'b4a7a1f0-1c6e-4b1e-9d52-0e6f7f3f0002';

/** Differences between two runs of a pod. */
interface Variant {
  readonly uid: string;
  readonly probes?: number;
  readonly logs?: string;
  readonly mode?: string;
  /** True if the container is stopped before its removal. */
  readonly stops?: boolean;
}

/** Runs a pod like a kubelet would, with two probes. */
async function runPod(
  {runtime}: Connection,
  {uid, probes = 2, logs = '/var/log/pods', mode = 'a', stops}: Variant,
) {
  const config = {
    metadata: {name: 'web', namespace: 'default', uid: podUid(uid), attempt: 0},
    logDirectory: `${logs}/default_web_${uid}`,
  };
  const sandbox = await runtime.runPodSandbox({config});
  const {containerId: id} = await runtime.createContainer({
    podSandboxId: sandbox.podSandboxId,
    config: {
      metadata: {name: 'main', attempt: 0},
      image: {image: BUSYBOX},
      command: ['sleep', '3600'],
      envs: [{key: 'MODE', value: Buffer.from(mode)}],
    },
    sandboxConfig: config,
  });
  await runtime.startContainer({containerId: id});
  for (let probe = 0; probe < probes; probe += 1) await runtime.execSync({containerId: id, cmd: ['true']});
  if (stops === true) await runtime.stopContainer({containerId: containerId(id), timeout: 1n});
  await runtime.stopPodSandbox({podSandboxId: podSandboxId(sandbox.podSandboxId)});
}

/** Records a run on a new runtime, and returns the file. */
async function recordRun(variant: Variant): Promise<string> {
  await using runtime = await FakeRuntime.start({images: [anImage({name: BUSYBOX})]});
  const file = join(await temporaryDirectory(), 'calls.jsonl');
  const {connection, end} = await startRecorder(runtime, [`--file=${file}`]);
  await runPod(connection, variant);
  await connection.runtime.listContainers();
  await end();
  return file;
}

// Proves: record diff
test('runs that differ in IDs, UIDs, directories, reads and the number of probes are equal', async () => {
  const files = [await recordRun({uid: UID}), await recordRun({uid: OTHER, logs: '/elsewhere', probes: 5})];
  expect(await runKcri(['record', 'diff', ...files])).toEqual({stdout: '', stderr: '', exitCode: 0});
});

// Proves: record diff --output
test('shows calls of one recording, and members that differ', async () => {
  const files = [await recordRun({uid: UID}), await recordRun({uid: UID, mode: 'b', stops: true})];
  expect(await runKcri(['record', 'diff', ...files])).toEqual({
    stdout:
      '~ web CreateContainer <C:web/main/0>\n    req.config.envs[0].value\n      - "a"\n      + "b"\n' +
      '+ web StopContainer <C:web/main/0>\n',
    stderr: '',
    exitCode: 1,
  });
  const {stdout, exitCode} = await runKcri(['record', 'diff', '-o', 'json', ...files]);
  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    differences: [
      {
        method: 'CreateContainer',
        kind: 'different',
        fields: [{path: 'req.config.envs[0].value', a: 'a', b: 'b'}],
      },
      {method: 'StopContainer', kind: 'only in B', pod: 'web'},
    ],
  });
});

test('calls without a recorded request are reported, not compared', async () => {
  const file = await recordRun({uid: UID});
  const short = join(await temporaryDirectory(), 'short.jsonl');
  const lines = [
    {recording: {version: 1}},
    {
      service: 'runtime.v1.RuntimeService',
      method: 'RunPodSandbox',
      call: 1,
      code: 'OK',
      requestOmitted: 'too large',
    },
  ];
  await writeFile(short, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const {stderr, exitCode} = await runKcri(['record', 'diff', file, short]);
  expect({stderr, exitCode}).toEqual({
    stderr: `kcri: warning: 1 call of "${short}" cannot be compared: not recorded in full\n`,
    exitCode: 1,
  });
});

test('a line that a killed recorder has not completed is skipped, and said', async () => {
  const path = join(await temporaryDirectory(), 'file.jsonl');
  const read = '{"service":"runtime.v1.RuntimeService","method":"Version","call":1,"code":"OK","request":{}}';
  await writeFile(path, `{"recording":{"version":1}}\n${read}\n{"time":"2026-`);
  const {stderr, exitCode} = await runKcri(['record', 'diff', path, path]);
  expect({stderr, exitCode}).toEqual({
    stderr: `${`kcri: warning: 1 damaged line of "${path}" skipped\n`.repeat(2)}kcri: note: neither recording has calls that change something: nothing was compared\n`,
    exitCode: 0,
  });
  const timeline = await runKcri(['timeline', path]);
  expect({stderr: timeline.stderr, exitCode: timeline.exitCode}).toEqual({
    stderr: expect.stringMatching(
      /^kcri: warning: 1 damaged line of ".*" skipped\nNo pods found in ".*": /,
    ) as string,
    exitCode: 0,
  });
});

test('recordings of which no line or no call can be read are an error, not equal', async () => {
  const path = join(await temporaryDirectory(), 'file.jsonl');
  await writeFile(path, '{"recording":{"version":1}}\n{"time":"2026-');
  const message = /^kcri: ".*" has no calls: all lines after the first one are damaged\nhint: /;
  const damaged = await runKcri(['record', 'diff', path, path]);
  expect(damaged).toEqual({stdout: '', stderr: expect.stringMatching(message) as string, exitCode: 2});
  expect(await runKcri(['timeline', path])).toMatchObject({stderr: damaged.stderr, exitCode: 1});
  const open =
    '{"service":"runtime.v1.RuntimeService","method":"RunPodSandbox","call":1,"open":true,"request":{}}';
  await writeFile(path, `{"recording":{"version":1}}\n${open}\n`);
  const {stderr, exitCode} = await runKcri(['record', 'diff', path, path]);
  expect(stderr).toContain('kcri: no call of the recordings can be compared\nhint: ');
  expect(exitCode).toBe(2);
});

test.each([
  ['an absent file', undefined, /reading ".*": no such file or directory/],
  ['an empty file', '', /is not a recording: it is empty/],
  ['another file', 'hello\n', /line 1: not a line of a recording/],
  ['other JSON', '{"kind":"Pod"}\n', /is not a recording/],
  ['a newer format', '{"recording":{"version":2}}\n', /another version of kcri/],
])('%s is an error with exit code 2', async (_, text, message) => {
  const path = join(await temporaryDirectory(), 'file.jsonl');
  if (text !== undefined) await writeFile(path, text);
  const {stderr, exitCode} = await runKcri(['record', 'diff', path, path]);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(message);
});
