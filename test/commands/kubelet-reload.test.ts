import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {until} from '../base/until.js';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {hangUp} from '../cli/program.js';
import {runKcri} from '../cli/run-kcri.js';
import {FakeRuntime} from '../fakes/fake-runtime.js';

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const QUIET = ['--enable-server=false', '--healthz-port=0', '--oom-score-adj=0', '--hostname-override=n1'];

/** What a kubelet logs with the file's texts, one after the other, each read because of SIGHUP when it isn't the first. */
async function logOf(texts: readonly string[], flags: readonly string[] = []): Promise<readonly string[]> {
  await using runtime = await FakeRuntime.start();
  const directory = await temporaryDirectory();
  const config = join(directory, 'kubelet.yaml');
  const places = ['--root-dir', join(directory, 'root'), `--pod-logs-dir=${directory}/logs`];
  const end = new AbortController();
  let log = '';
  const [first = '', ...others] = texts;
  await writeFile(config, HEAD + first);
  const ended = runKcri(['kubelet', ...places, '--config', config, ...QUIET, ...flags], {
    endpoint: runtime.endpoint,
    signal: end.signal,
    onStderr: (text) => {
      log += text;
    },
  });
  await until(() => log.includes('Starting kubelet main sync loop'));
  for (const [index, text] of others.entries()) {
    await writeFile(config, HEAD + text);
    hangUp();
    await until(() => log.split('because of SIGHUP').length === index + 2);
    await until(() => /SIGHUP"[^]*configuration/.test(log.slice(log.lastIndexOf('Reading all'))));
  }
  end.abort();
  expect((await ended).exitCode).toBe(0);
  return log
    .replaceAll(/\n[\t ]/g, ' ')
    .split('\n')
    .filter((line) => line.includes('configuration'))
    .map((line) => line.replace(/^(.)\d{4} .*?\] /, '$1 '));
}

test('what can change is in force at once, what can’t is told in the same line', async () => {
  const log = await logOf([
    'maxPods: 5\n',
    'maxPods: 7\nclusterDomain: x.y\nsyncFrequency: 30s\ncontainerLogMaxSize: 1Mi\ncpuManagerPolicy: static\nlogging: {format: json}\n',
  ]);
  expect(log.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    {
      msg: 'The configuration has changed',
      applied: ['syncFrequency', 'logging.format', 'containerLogMaxSize'],
      needRestart: ['clusterDomain', 'maxPods'],
      withoutEffect: ['cpuManagerPolicy'],
    },
  ]);
});

test('a configuration with a fault changes nothing, and the next good one does', async () => {
  const log = await logOf([
    'syncFrequency: 30s\n',
    'syncFrequency: never\nimageMaximumGCAge: 24h\n',
    'syncFrequency: 30s\nimageMaximumGCAge: 24h\n',
  ]);
  expect(log).toEqual([
    expect.stringMatching(
      /^E "Failed to read the configuration again, it stays as it was" err=< \S+kubelet.yaml:3:16: syncFrequency: Invalid value: "never"/,
    ),
    'I "The configuration has changed" applied=["imageMaximumGCAge"]',
  ]);
});

test('what a flag says holds against the file, and nothing is said of what is as before', async () => {
  const log = await logOf(
    ['maxPods: 5\n', 'maxPods: 6\nsyncFrequency: 2m\n', 'syncFrequency: 3m\n'],
    ['--max-pods=9'],
  );
  expect(log).toEqual([
    'I "The configuration has changed" applied=["syncFrequency"]',
    'I "The configuration has changed" applied=["syncFrequency"]',
  ]);
});
