import {chmod, mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {get} from 'node:http';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {text} from 'node:stream/consumers';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {until} from '../../base/until.js';
import {KCRI_COMMAND} from '../../kcri-command.js';
import {runtimes} from '../harness/runtimes-under-test.js';
import {startPrivateRuntime, type TestRuntime} from '../harness/test-runtime.js';
import {TmuxTerminal} from '../harness/tmux-terminal.js';

const IMAGE = 'busybox:1.36';

describe.each(runtimes)('run IMAGE: $name', (which) => {
  let runtime: TestRuntime;
  beforeAll(async () => {
    runtime = await startPrivateRuntime(which);
  });
  afterAll(async () => {
    await runtime.stop();
  });

  /** Names of the pods, and the number of logs of `run`. */
  async function left(): Promise<object> {
    const {items} = await runtime.connection.runtime.listPodSandbox();
    const sandboxes = items.map(({metadata}) => metadata?.name ?? '');
    return {sandboxes, logs: (await readdir(join(runtime.rootDir, 'kcri/run'))).length};
  }
  const NOTHING = {sandboxes: [], logs: 0};

  test('shows the complete output of a command, and exits with its exit code', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'kcri-run-'));
    onTestFinished(async () => {
      await rm(directory, {recursive: true});
    });
    // On a busy machine, containerd 1.6 loses output of a container that exits before it has been read.
    const script =
      'seq 1 20000; echo note >&2; printf end; until [ -e /test/exit ]; do sleep 0.1; done; exit 7';
    const running = runtime.start(['run', '--rm', '-v', `${directory}:/test`, IMAGE, 'sh', '-c', script]);
    await running.waitForOutput(/^20000$/m);
    await writeFile(join(directory, 'exit'), '');
    const {stdout, stderr, exitCode} = await running.exited;
    const lines = Array.from({length: 20_000}, (_, index) => `${index + 1}\n`).join('');
    expect({stderr, exitCode, lines: stdout.length}).toEqual({
      stderr: 'note\n',
      exitCode: 7,
      lines: lines.length + 3,
    });
    expect(stdout).toBe(`${lines}end`);
    expect(await left()).toEqual(NOTHING);
  });

  test('-i passes on standard input and its end', async () => {
    const input = 'b\na\n'.repeat(20_000);
    const result = await runtime.kcri(['run', '-i', '--rm', IMAGE, '--', 'sort', '-u'], {input});
    expect(result).toEqual({stdout: 'a\nb\n', stderr: '', exitCode: 0});
  });

  test("docker's flags for isolation have their effect in the container", async () => {
    const directory = await mkdtemp(join(tmpdir(), 'kcri-run-'));
    onTestFinished(async () => {
      await rm(directory, {recursive: true});
    });
    const script =
      'cat /proc/sys/net/ipv4/ip_forward /etc/resolv.conf /proc/self/oom_score_adj; id -G; ' +
      'grep NoNewPrivs /proc/self/status; touch /data/x 2>&1; echo x > /dev/sink && echo written';
    const flags = [
      ...['--sysctl=net.ipv4.ip_forward=1', '--dns=192.0.2.1', '--oom-score-adj=100', '--group-add=77'],
      ...['--security-opt=no-new-privileges', '--device=/dev/null:/dev/sink:rw'],
      ...['--mount', `type=bind,src=${directory},dst=/data,readonly`, '--cidfile', join(directory, 'id')],
    ];
    const {stdout, exitCode} = await runtime.kcri(['run', '--rm', ...flags, IMAGE, 'sh', '-c', script]);
    expect(stdout.split('\n')).toEqual([
      ...['1', 'nameserver 192.0.2.1', '100', '0 77', 'NoNewPrivs:\t1'],
      ...['touch: /data/x: Read-only file system', 'written', ''],
    ]);
    expect(exitCode).toBe(0);
    expect(await readFile(join(directory, 'id'), 'utf8')).toMatch(/^[0-9a-f]{64}$/);
    expect(await runtime.kcri(['run', '-u', 'nobody2', IMAGE])).toMatchObject({
      stderr: expect.stringMatching(/has no user "nobody2"\nhint: /) as string,
      exitCode: 125,
    });
  });

  test('system prune removes the pod of a detached container that has exited', async () => {
    const {stdout} = await runtime.kcri(['run', '-d', '--name=brief', IMAGE, '--', 'true']);
    await runtime.kcri(['wait', stdout.trim(), '--for=exit']);
    const pruned = await runtime.kcri(['system', 'prune', '-f']);
    expect(pruned.stdout).toContain('Removed pod default/brief');
    expect(await left()).toEqual(NOTHING);
  });

  test('the settings have their effect in the container', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'kcri-run-'));
    onTestFinished(async () => {
      await rm(directory, {recursive: true});
    });
    await chmod(directory, 0o755);
    await writeFile(join(directory, 'file'), 'content\n');
    const script = [
      ...[
        'id -u',
        'id -g',
        'pwd',
        'hostname',
        'echo $A',
        'cat /data/file',
        'touch /data/x 2>&1',
        'touch /x 2>&1',
      ],
      ...['grep CapBnd /proc/self/status', 'ls /proc/acpi | wc -l'],
    ].join('; ');
    const flags = [
      '-u',
      'nobody:7',
      '-w',
      '/home',
      '--hostname=www',
      '-e',
      'A=1',
      '-v',
      './:/data:ro',
      '--read-only',
    ];
    const {stdout} = await runtime.kcri(
      ['run', '--rm', ...flags, '--cap-drop=ALL', '--cap-add=NET_ADMIN', IMAGE, '--', 'sh', '-c', script],
      {cwd: directory},
    );
    expect(stdout.split('\n').map((line) => line.replace(/^touch: .*: /, ''))).toEqual([
      ...['65534', '7', '/home', 'www', '1', 'content', 'Read-only file system', 'Read-only file system'],
      'CapBnd:\t0000000000001000',
      ...['0', ''],
    ]);
  });

  test('a published port of a detached container answers, and rmp removes it', async () => {
    const flags = ['-d', '--name=www', '-p', '127.0.0.1:18321:80'];
    const script = 'echo hello >/var/www/index.html; exec httpd -f -p 80 -h /var/www';
    const id = await runtime.output('run', ...flags, IMAGE, '--', 'sh', '-c', script);
    expect(id).toMatch(/^[0-9a-f]{64}\n$/);
    const answer = async (): Promise<string> =>
      await new Promise<string>((resolve) => {
        get('http://127.0.0.1:18321/', (response) => {
          resolve(text(response));
        }).on('error', () => {
          resolve('');
        });
      });
    await until(async () => (await answer()) === 'hello\n');
    expect(await runtime.output('ps', '-o', 'name', '--no-headers')).toContain('default/www/www');
    expect((await runtime.kcri(['run', '--name=www', IMAGE])).stderr).toContain(
      'pod "default/www" already exists',
    );
    await runtime.output('rm', '--force', 'www');
    await runtime.output('rmp', '--force', 'www');
    expect(await left()).toEqual(NOTHING);
  });

  test('a missing command exits with 127 and leaves nothing', async () => {
    const {exitCode, stderr} = await runtime.kcri(['run', IMAGE, 'no-such-program']);
    expect({exitCode, ...(await left())}).toEqual({exitCode: 127, ...NOTHING});
    expect(stderr).toContain('no-such-program');
  });

  test('SIGTERM stops the container, and --rm removes it', async () => {
    const script = "trap 'exit 0' TERM; echo ready; while true; do sleep 0.1; done";
    const kcri = runtime.start(['run', '--rm', IMAGE, '--', 'sh', '-c', script]);
    await kcri.waitForOutput(/ready/);
    kcri.kill('SIGTERM');
    expect(await kcri.exited).toMatchObject({exitCode: 143, stderr: 'kcri: interrupted\n'});
    expect(await left()).toEqual(NOTHING);
  });

  // Proves: run --detach-keys
  test('a shell on a terminal has its size and receives Ctrl-C, and the detach keys leave it running', async () => {
    using terminal = new TmuxTerminal(80, 24, {
      CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint,
      KCRI_ROOT_DIR: runtime.rootDir,
      K: KCRI_COMMAND.join(' '),
    });
    terminal.typeLine(`$K run -it --rm --name=shell ${IMAGE} -- sh`);
    await terminal.waitForScreen(/# *$/m);
    terminal.typeLine('stty size');
    await terminal.waitForScreen(/^24 80$/m);
    terminal.resize(100, 30);
    // The new size and what is typed reach the container separately.
    terminal.typeLine('until stty size | grep "^30 100$"; do sleep 0.05; done');
    await terminal.waitForScreen(/^30 100$/m);
    terminal.typeLine('echo sta""rted; sleep 1000; echo interr""upted');
    // Before the command runs, Ctrl-C would be a character for the line editor of the shell.
    await terminal.waitForScreen(/^started$/m);
    await terminal.pressUntilScreen('C-c', /# *$/);
    terminal.typeLine('echo still "here"; exit 9');
    // What is typed earlier could be read by kcri.
    await terminal.waitForScreen(/^still here\s+\$ *$/m);
    terminal.typeLine('echo "code $?"');
    await terminal.waitForScreen(/^(\$ )?code 9$/m);
    expect(await left()).toEqual(NOTHING);
    await terminal.clear();
    terminal.typeLine(`$K run -it --detach-keys=ctrl-x,x --name=shell ${IMAGE} -- sh`);
    await terminal.waitForScreen(/# *$/m);
    terminal.pressKeys('C-x', 'x');
    await terminal.waitForScreen(/kcri: detached from "shell"\s+kcri: "shell" keeps running/);
    expect(await runtime.output('ps', '-q', '--name=shell')).toMatch(/^\S+\n$/);
    await runtime.output('rm', '--force', 'shell');
    await runtime.output('rmp', '--force', 'shell');
  });
});
