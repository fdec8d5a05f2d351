import {execFileSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {lstat, readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {InterruptedError} from '../../../src/cli/process/interrupt.js';
import {aContainerSpec, aManifest, aScript, createTestbed, NO_LEFTOVERS} from '../command-testbed.js';
import {runToTimeLimit} from '../run-to-time-limit.js';

const LAST_WORDS = {onStop: {stdout: 'last words\n'}, stdout: 'first words\n'};
const JOB = {restartPolicy: 'Never', containers: [aContainerSpec('main')]};

describe('readiness', () => {
  // Proves: sync --min-ready
  test('a container that exits within --min-ready is not ready', async () => {
    const testbed = await createTestbed();
    const crashing = aManifest({containers: [aScript('main', 'echo boom; sleep 0.2; exit 3')]});
    const {stdout, stderr, exitCode} = await testbed.run(['sync', '-', '--min-ready', '1s'], {
      stdin: crashing,
    });
    expect(exitCode).toBe(1);
    expect(stdout).not.toContain('default/web: ready');
    expect(stdout).toMatch(/^1 pod failed in /m);
    expect(stderr).toContain(
      'kcri: pod "default/web": container "main": CrashLoopBackOff: exited with code 3 (Error), restarted once\n' +
        'hint: run "kcri logs default/web/main" to print its log\n',
    );
    expect(stderr).toContain('default/web/main | boom\n');
  });

  test('a container that keeps completing is explained', async () => {
    const testbed = await createTestbed();
    const completing = aManifest({containers: [aScript('main', 'sleep 0.1')]});
    const {stderr} = await testbed.run(['sync', '-', '--min-ready', '1s'], {stdin: completing});
    expect(stderr).toContain('CrashLoopBackOff: exited with code 0 (Completed), restarted once\n');
    expect(stderr).toContain('hint: for a container that completes, set restartPolicy to OnFailure or Never');
  });

  test('a wait that fails is explained by the answer of kcri why, in place of hints', async () => {
    const testbed = await createTestbed();
    const missing = aContainerSpec('main', {image: 'localhost/none:1', imagePullPolicy: 'Never'});
    const {stderr, exitCode} = await runToTimeLimit(testbed, ['sync', '-'], {
      stdin: aManifest({containers: [missing]}),
      limitMs: 5000,
      isReached: ({stderr: shown}) => shown.includes('ErrImageNeverPull'),
    });
    expect(exitCode).toBe(124);
    expect(stderr).toMatch(/^kcri: pod "default\/web": not ready after 5s; .*ErrImageNeverPull/m);
    expect(stderr).toContain(
      '\ndefault/web  ErrImageNeverPull\ncause      image localhost/none:1 is not on the node, and imagePullPolicy is Never\n',
    );
    expect(stderr.match(/^hint: .*/gm)).toEqual(['hint: run "kcri delete default/web" to delete it']);
  });

  test('a container that runs for longer than --min-ready is ready', async () => {
    const testbed = await createTestbed();
    const {stdout, exitCode} = await testbed.run(['sync', '-', '--min-ready', '50ms'], {stdin: aManifest()});
    expect(exitCode).toBe(0);
    expect(stdout).toContain('default/web: ready\n');
  });

  test('KCRI_MIN_READY must be a duration', async () => {
    const testbed = await createTestbed();
    const result = await testbed.run(['sync', '-'], {stdin: aManifest(), env: {KCRI_MIN_READY: 'soon'}});
    expect(result).toMatchObject({exitCode: 1});
    expect(result.stderr).toContain('kcri: invalid KCRI_MIN_READY "soon": not a duration such as 1m30s\n');
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });
});

describe('a finished pod', () => {
  test('is reported as such by the next sync, with its exit code', async () => {
    const testbed = await createTestbed();
    const stdin = aManifest({...JOB, containers: [aScript('main', 'echo hi; exit 5')]});
    await testbed.run(['sync', '-', '--wait', 'complete'], {stdin});
    const {stdout, stderr, exitCode} = await testbed.run(['sync', '-', '--wait', 'complete', '--logs'], {
      stdin,
    });
    expect(exitCode).toBe(5);
    expect(stderr).toMatch(/^default\/web: already ran, \d+s ago; use --replace to run it again$/m);
    expect(stdout).toContain('default/web/main | hi\n');
    const json = await testbed.run(['sync', '-', '--wait', 'complete', '-o', 'json'], {stdin});
    expect(json.stdout).toMatch(/"type":"result".*"exitCode":5,.*"reason":"Error","hadEnded":true/);
  });

  // Proves: sync --replace
  test('runs again with --replace', async () => {
    const testbed = await createTestbed();
    const stdin = aManifest({...JOB, containers: [aScript('main', 'exit 5')]});
    const args = ['sync', '-', '--wait', 'complete', '--replace'];
    await testbed.run(args, {stdin});
    const [first] = testbed.runtime.sandboxes;
    const {stdout, stderr, exitCode} = await testbed.run(args, {stdin});
    expect(exitCode).toBe(5);
    expect(stderr).not.toContain('already ran');
    expect(stdout).toContain('container main started');
    expect(testbed.runtime.sandboxes.map(({id}) => id)).not.toContain(first?.id);
    expect(testbed.runtime.sandboxes).toHaveLength(1);
    expect(await testbed.records()).toHaveLength(1);
  });

  test('is admitted again before --replace deletes it', async () => {
    const testbed = await createTestbed();
    const stdin = aManifest({...JOB, nodeSelector: {}, containers: [aScript('main', 'true')]});
    await testbed.run(['sync', '-', '--wait', 'complete'], {stdin});
    const big = {...aContainerSpec('main'), resources: {requests: {cpu: '900m'}}};
    const flags = ['--node-cpu', '1'];
    const filled = await testbed.run(['sync', '-', ...flags], {
      stdin: aManifest({name: 'filler', containers: [big]}),
    });
    expect(filled).toMatchObject({exitCode: 0});
    const again = aManifest({...JOB, containers: [big]});
    const before = await testbed.records();
    const {exitCode, stderr} = await testbed.run(['sync', '-', '--replace', ...flags], {stdin: again});
    expect(exitCode).toBe(1);
    expect(stderr).toContain('OutOfcpu');
    expect(await testbed.records()).toEqual(before);
  });
});

describe('--logs', () => {
  test('prints the last output of a pod that --rm deletes after the timeout', async () => {
    const testbed = await createTestbed({behaviour: () => LAST_WORDS});
    const file = await testbed.write('job.json', aManifest(JOB));
    const {stdout, exitCode} = await runToTimeLimit(
      testbed,
      ['sync', file, '--logs', '--rm', '--wait', 'complete'],
      {limitMs: 60_000, isReached: (output) => output.stdout.includes('first words')},
    );
    expect(exitCode).toBe(124);
    expect(stdout).toContain('default/web/main | last words\n');
  });

  test.each([
    ['with --rm prints the last output after Ctrl-C', ['--rm'], 'last words'],
    ['prints the output until Ctrl-C', [], 'first words'],
  ])('%s', async (_, flags, text) => {
    const testbed = await createTestbed({behaviour: () => LAST_WORDS});
    const file = await testbed.write('job.json', aManifest(JOB));
    const controller = new AbortController();
    const args = ['sync', file, '--logs', '--wait', 'complete', ...flags];
    const syncing = testbed.run(args, {signal: controller.signal});
    await until(() => testbed.runtime.containers.some(({state}) => state === 'CONTAINER_RUNNING'));
    controller.abort(new InterruptedError('SIGINT'));
    const {stdout, exitCode} = await syncing;
    expect(exitCode).toBe(130);
    expect(stdout).toContain(`default/web/main | ${text}\n`);
  });

  test('has the stream of each line in JSON', async () => {
    const testbed = await createTestbed({behaviour: () => ({stdout: 'out\n', stderr: 'err\n', exitCode: 0})});
    const file = await testbed.write('job.json', aManifest(JOB));
    const {stdout} = await testbed.run(['sync', file, '--logs', '--wait', 'complete', '-o', 'json']);
    expect(stdout).toContain('"container":"main","stream":"stdout","line":"out"}\n');
    expect(stdout).toContain('"container":"main","stream":"stderr","line":"err"}\n');
  });
});

test('the error of a failed container has its reason and its last output, without --logs', async () => {
  const testbed = await createTestbed({behaviour: () => ({stdout: 'eat\n', exitCode: 137, oomKilled: true})});
  const file = await testbed.write('job.json', aManifest(JOB));
  const {stderr, exitCode} = await testbed.run(['sync', file, '--wait', 'complete', '--rm']);
  expect({stderr, exitCode}).toEqual({
    stderr:
      'default/web/main | eat\nkcri: pod "default/web": container "main" exited with code 137 (OOMKilled)\n',
    exitCode: 137,
  });
});

test('the summary counts pods by their results', async () => {
  const testbed = await createTestbed();
  const pods = [
    aManifest({...JOB, name: 'a', containers: [aScript('main', 'true')]}),
    aManifest({...JOB, name: 'b', containers: [aScript('main', 'true')]}),
    aManifest({...JOB, name: 'c', containers: [aScript('main', 'exit 2')]}),
  ];
  const file = await testbed.write('pods.yaml', pods.join('\n---\n'));
  const {stdout, exitCode} = await testbed.run(['sync', file, '--wait', 'complete']);
  expect(exitCode).toBe(2);
  expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^2 pods complete, 1 failed in [\d.]+m?s$/);
});

describe('--junit', () => {
  // Proves: sync --junit
  test('writes the results of all pods, with their output, even of deleted pods', async () => {
    const testbed = await createTestbed();
    const pods = [
      aManifest({...JOB, name: 'good', containers: [aScript('main', 'echo fine')]}),
      aManifest({...JOB, name: 'bad', containers: [aScript('main', 'echo wrong; exit 2')]}),
      aManifest({...JOB, name: 'absent', containers: [aContainerSpec('main', {image: 'nothing:1'})]}),
    ];
    const file = await testbed.write('pods.yaml', pods.join('\n---\n'));
    const junit = join(testbed.directory, 'results.xml');
    const {exitCode} = await testbed.run(['sync', file, '--wait', 'complete', '--rm', '--junit', junit]);
    expect(exitCode).toBe(2);
    const xml = await readFile(junit, 'utf8');
    expect(xml).toContain('<testsuites name="kcri sync" tests="3" failures="1" errors="1"');
    expect(xml).toContain('<testsuite name="default/good" tests="1" failures="0" errors="0" skipped="0"');
    expect(xml).toContain('<system-out>fine</system-out>');
    expect(xml).toContain('<failure message="exited with code 2 (Error)" type="Error">');
    expect(xml).toContain('exited with code 2 (Error)\n\nwrong</failure>');
    expect(xml).toMatch(/<error message="ErrImagePull: .*" type="ErrImagePull">/);
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
    expect((await readdir(testbed.directory)).filter((name) => name.includes('results'))).toEqual([
      'results.xml',
    ]);
  });

  test('a pipe is written to and not replaced', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write(
      'job.json',
      aManifest({...JOB, containers: [aScript('main', 'echo fine')]}),
    );
    const pipe = join(testbed.directory, 'results');
    execFileSync('mkfifo', [pipe]);
    const read = readFile(pipe, 'utf8');
    const {exitCode} = await testbed.run(['sync', file, '--wait', 'complete', '--junit', pipe]);
    expect(exitCode).toBe(0);
    expect((await lstat(pipe)).isFIFO()).toBe(true);
    expect(await read).toContain('<system-out>fine</system-out>');
  });

  test.each([[false], [true]])(
    'a path of - is standard output; the progress and logs are on standard error (terminal: %s)',
    async (terminal) => {
      const testbed = await createTestbed();
      const job = {...JOB, containers: [aScript('main', 'echo fine')]};
      const {stdout, stderr, exitCode} = await testbed.run(
        ['sync', '-', '--wait=complete', '--logs', '--junit=-'],
        {stdin: aManifest(job), terminal, env: {TERM: 'xterm'}},
      );
      expect(exitCode).toBe(0);
      expect(stdout).toMatch(/^<\?xml [^]*<\/testsuites>\n$/);
      expect(stdout).toContain('<system-out>fine</system-out>');
      expect(stderr).toMatch(/^\S+ default\/\S+ main: fine$|main.*fine/m);
      expect(stderr).toMatch(/^1 pod complete/m);
      expect(existsSync('-')).toBe(false);
    },
  );

  test('a path of - is an error with JSON on standard output, before any call', async () => {
    const testbed = await createTestbed();
    const {stdout, stderr, exitCode} = await testbed.run(['sync', '-', '--junit=-', '-o', 'json'], {
      stdin: aManifest(),
    });
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(stderr).toContain('--junit=- and --output=json would both write to standard output');
    expect(testbed.runtime.calls).toEqual([]);
  });

  test('has the Timeout of a container', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('job.json', aManifest(JOB));
    const junit = join(testbed.directory, 'results.xml');
    const args = ['sync', file, '--wait', 'complete', '--junit', junit];
    const isReached = ({stdout}: {readonly stdout: string}) => stdout.includes('container main running');
    await runToTimeLimit(testbed, args, {limitMs: 60_000, isReached});
    expect(await readFile(junit, 'utf8')).toContain(
      '<failure message="still running at the time limit" type="Timeout">',
    );
  });

  test.each([
    ['nowhere/results.xml', 'is not a directory'],
    ['.', 'it is a directory'],
  ])('rejects the path %s before any call', async (path, text) => {
    const testbed = await createTestbed();
    const junit = join(testbed.directory, path);
    const {stderr, exitCode} = await testbed.run(['sync', '-', '--junit', junit], {stdin: aManifest()});
    expect(stderr).toMatch(new RegExp(`^kcri: invalid --junit ".*": .*${text}`, 'm'));
    expect(exitCode).toBe(1);
    expect(testbed.runtime.calls).toEqual([]);
  });
});
