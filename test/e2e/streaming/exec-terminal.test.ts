import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {text} from 'node:stream/consumers';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import type {ContainerId} from '../../../src/cri/index.js';
import {IMAGE} from '../harness/manifests.js';
import {containerState, runPod, type RunningPod} from '../harness/run-pod.js';
import {startPrivateRuntime, type TestRuntime} from '../harness/test-runtime.js';
import {KCRI_COMMAND} from '../../kcri-command.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';
import {TmuxTerminal} from '../harness/tmux-terminal.js';

describe.each(newestRuntime)('exec and attach on a terminal: $name', (which) => {
  let runtime: TestRuntime;
  let pod: RunningPod;
  beforeAll(async () => {
    runtime = await startPrivateRuntime(which);
    pod = await runPod(runtime.connection, {name: 'terminal'});
  });
  afterAll(async () => {
    await runtime.connection.runtime.removePodSandbox({podSandboxId: pod.podSandboxId});
    await runtime.stop();
  });

  /**
   * Opens a terminal of 80 by 24 whose shell has variables `K` for kcri and `C` for the container, and the initial
   * settings of the terminal.
   */
  async function atTerminal(): Promise<TmuxTerminal> {
    const terminal = new TmuxTerminal(80, 24, {
      CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint,
      KCRI_ROOT_DIR: runtime.rootDir,
      K: KCRI_COMMAND.join(' '),
      C: pod.containerId,
    });
    onTestFinished(() => {
      terminal[Symbol.dispose]();
    });
    terminal.typeLine('before=$(stty -g)');
    await terminal.clear();
    return terminal;
  }

  /** Expects this exit code of the last command and the initial settings of the terminal. */
  async function endsWith(terminal: TmuxTerminal, exitCode: number): Promise<void> {
    terminal.typeLine('echo "code $? $([ "$(stty -g)" = "$before" ] && echo as before)"');
    await terminal.waitForScreen(new RegExp(`^(\\$ )?code ${exitCode} as before$`, 'm'));
  }

  test('a shell has the size of the terminal, follows it, receives Ctrl-C, and kcri exits with its exit code', async () => {
    const terminal = await atTerminal();
    terminal.typeLine('$K exec -it $C sh');
    await terminal.waitForScreen(/# *$/m);
    terminal.typeLine('stty size');
    await terminal.waitForScreen(/^24 80$/m);
    terminal.resize(100, 30);
    // The new size and what is typed reach the container separately.
    terminal.typeLine('until stty size | grep "^30 100$"; do sleep 0.05; done');
    await terminal.waitForScreen(/^30 100$/m);
    terminal.typeLine('echo sta""rted; sleep 1000');
    await terminal.waitForScreen(/^started$/m);
    await terminal.pressUntilScreen('C-c', /# *$/);
    terminal.typeLine('echo still "here"');
    await terminal.waitForScreen(/^still here$/m);
    terminal.typeLine('exit 9');
    await terminal.waitForScreen(/exit 9\s+\$ *$/);
    await endsWith(terminal, 9);
  });

  test.each(['exec -it main', 'run --rm -it --pull=never $IMAGE'])(
    '%s shows the output of the terminal unchanged',
    async (command) => {
      const script = `$KCRI ${command} sh -c 'printf "a\\n\\tb\\r\\n"'`;
      const env = {
        ...process.env,
        CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint,
        KCRI_ROOT_DIR: runtime.rootDir,
        KCRI: KCRI_COMMAND.join(' '),
        IMAGE,
        SHELL: '/bin/sh',
      };
      // Its input stays open: script would send the end of input to the terminal, which echoes it until it is raw.
      const child = spawn('script', ['-qec', script, '/dev/null'], {
        env,
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const [stdout] = await Promise.all([text(child.stdout), once(child, 'close')]);
      expect({stdout, status: child.exitCode}).toEqual({stdout: 'a\r\n\tb\r\r\n', status: 0});
    },
  );

  test('an editor uses the whole screen', async () => {
    const terminal = await atTerminal();
    terminal.typeLine('$K exec -it $C vi /tmp/note');
    // vi may take a late answer of the terminal to be a key, and say so in place of the file name.
    await terminal.waitForScreen(/^~$/m);
    terminal.pressKeys('i');
    terminal.typeLine('written in vi');
    await terminal.waitForScreen(/^written in vi[\s\S]*^I \/tmp\/note/m);
    terminal.pressKeys('Escape');
    // A key that follows too soon would be read as a key with Alt.
    await terminal.waitForScreen(/^- \/tmp\/note/m);
    terminal.typeLine(':wq');
    await terminal.waitForScreen(/\$ *$/m);
    await endsWith(terminal, 0);
    expect((await runtime.kcri(['exec', pod.containerId, 'cat', '/tmp/note'])).stdout).toBe(
      'written in vi\n\n',
    );
  });

  test.each([
    ['', ['C-p', 'C-q'], '3601'],
    ['--detach-keys ctrl-x,x ', ['C-x', 'x'], '3602'],
  ])(
    '%s%j detach from a command, which continues if the runtime supports it',
    async (flags, keys, seconds) => {
      const terminal = await atTerminal();
      terminal.typeLine(`$K exec -it ${flags}$C sh -c 'echo re""ady; sleep ${seconds}'`);
      await terminal.waitForScreen(/^ready$/m);
      terminal.pressKeys(...keys);
      await terminal.waitForScreen(/detached from/);
      await endsWith(terminal, 0);
      // containerd 2 ends a command when its client disconnects.
      if (!which.name.startsWith('containerd 1.')) return;
      const {stdout} = await runtime.kcri(['exec', pod.containerId, 'ps']);
      expect(stdout).toMatch(new RegExp(`sleep ${seconds}$`, 'm'));
    },
  );

  test('SIGTERM exits with 143 and restores the terminal', async () => {
    const terminal = await atTerminal();
    terminal.typeLine('$K exec -it $C sh -c \'echo re""ady; sleep 3603\'');
    await terminal.waitForScreen(/^ready$/m);
    const {pid} = terminal;
    const [kcri] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    process.kill(Number(kcri), 'SIGTERM');
    await terminal.waitForScreen(/interrupted/);
    await endsWith(terminal, 143);
  });

  test('Ctrl-C ends a command without a terminal immediately, with exit code 130', async () => {
    const terminal = await atTerminal();
    terminal.typeLine('$K exec $C sh -c \'echo re""ady; sleep 3604\'');
    await terminal.waitForScreen(/^ready$/m);
    await terminal.pressUntilScreen('C-c', /interrupted/);
    await endsWith(terminal, 130);
  });

  async function shellContainer(name: string): Promise<ContainerId> {
    const {runtime: cri} = runtime.connection;
    const {podSandboxId} = pod;
    const {containerId} = await cri.createContainer({
      podSandboxId,
      config: {metadata: {name}, image: {image: IMAGE}, command: ['sh'], stdin: true, tty: true},
      sandboxConfig: {metadata: {name: 'terminal', uid: 'uid-of-terminal', namespace: 'kcri-e2e'} as never},
    });
    await cri.startContainer({containerId});
    return containerId;
  }

  test("attach detaches and attaches again, and exits with the container's exit code", async () => {
    const terminal = await atTerminal();
    const id = await shellContainer('attached');
    terminal.typeLine(`$K attach -it ${id}`);
    terminal.typeLine('stty size');
    await terminal.waitForScreen(/^24 80$/m);
    terminal.pressKeys('C-p', 'C-q');
    await terminal.waitForScreen(/detached from/);
    await endsWith(terminal, 0);
    expect(await containerState(runtime.connection, id)).toBe('CONTAINER_RUNNING');
    await terminal.clear();
    terminal.typeLine(`$K attach -it ${id}`);
    terminal.typeLine('echo aga""in');
    await terminal.waitForScreen(/^again$/m);
    terminal.typeLine('exit 3');
    // There is an earlier prompt too.
    await terminal.waitForScreen(/exit 3\s+\$ *$/);
    await endsWith(terminal, 3);
  });
});
