import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {sendHangup} from '../../cli/program.js';
import {runKcri} from '../../cli/run-kcri.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const RELOADED = /Configuration changed|Failed to reload configuration/;
const QUIET = ['--enable-server=false', '--healthz-port=0', '--oom-score-adj=0', '--hostname-override=n1'];

/** Runs a kubelet with the first text as its configuration, reloads the others with SIGHUP, and returns the log. */
async function logOf(texts: readonly string[], flags: readonly string[] = []): Promise<readonly string[]> {
  await using runtime = await FakeRuntime.start();
  const directory = await temporaryDirectory();
  const config = join(directory, 'kubelet.yaml');
  const paths = ['--root-dir', join(directory, 'root'), `--pod-logs-dir=${directory}/logs`];
  const end = new AbortController();
  let log = '';
  const [first = '', ...others] = texts;
  await writeFile(config, HEAD + first);
  const ended = runKcri(['kubelet', ...paths, '--config', config, ...QUIET, ...flags], {
    endpoint: runtime.endpoint,
    signal: end.signal,
    onStderr: (text) => {
      log += text;
    },
  });
  await until(() => log.includes('Starting kubelet main sync loop'));
  for (const [index, text] of others.entries()) {
    await writeFile(config, HEAD + text);
    sendHangup();
    await until(() => log.split('Received SIGHUP').length === index + 2);
    await until(() => RELOADED.test(log.slice(log.lastIndexOf('Received SIGHUP'))));
  }
  end.abort();
  expect((await ended).exitCode).toBe(0);
  return log
    .replaceAll(/\n[\t ]/g, ' ')
    .split('\n')
    .filter((line) => RELOADED.test(line))
    .map((line) => line.replace(/^(.)\d{4} .*?\] /, '$1 '));
}

test('reloadable fields take effect at once, and one line reports all changed fields', async () => {
  const log = await logOf([
    'maxPods: 5\n',
    'maxPods: 7\nclusterDomain: x.y\nsyncFrequency: 30s\ncontainerLogMaxSize: 1Mi\ncontentType: a/b\nlogging: {format: json}\n',
  ]);
  expect(log.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    {
      msg: 'Configuration changed',
      applied: ['syncFrequency', 'logging.format', 'containerLogMaxSize'],
      needRestart: ['clusterDomain', 'maxPods'],
      withoutEffect: ['contentType'],
    },
  ]);
});

test('an invalid configuration changes nothing, and the next valid one takes effect', async () => {
  const log = await logOf([
    'syncFrequency: 30s\n',
    'syncFrequency: never\nimageMaximumGCAge: 24h\n',
    'syncFrequency: 30s\nimageMaximumGCAge: 24h\n',
  ]);
  expect(log).toEqual([
    expect.stringMatching(
      /^E "Failed to reload configuration, keeping the current one" err=< \S+kubelet.yaml:3:16: syncFrequency: Invalid value: "never"/,
    ),
    'I "Configuration changed" applied=["imageMaximumGCAge"]',
  ]);
});

test('flags override reloaded files, and unchanged fields are not reported', async () => {
  const log = await logOf(
    ['maxPods: 5\n', 'maxPods: 6\nsyncFrequency: 2m\n', 'syncFrequency: 3m\n'],
    ['--max-pods=9'],
  );
  expect(log).toEqual([
    'I "Configuration changed" applied=["syncFrequency"]',
    'I "Configuration changed" applied=["syncFrequency"]',
  ]);
});
