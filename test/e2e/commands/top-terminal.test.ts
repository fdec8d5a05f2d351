import {readFileSync} from 'node:fs';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {until} from '../../base/until.js';
import {KCRI_COMMAND} from '../../kcri-command.js';
import {aContainer, aManifest, shellCommand} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed} from '../harness/pod-testbed.js';
import {runPod} from '../harness/run-pod.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';
import {TmuxTerminal} from '../harness/tmux-terminal.js';

const TICKS = shellCommand('trap "exit 0" TERM; i=0; while :; do echo tick $i; i=$((i+1)); sleep 0.5; done');

describe.each(newestRuntime)('top on a terminal: $name', (which) => {
  let testbed: PodTestbed;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
    await startPods();
  });
  afterAll(async () => {
    await testbed.delete('top-web', 'top-api');
    await testbed[Symbol.asyncDispose]();
  });

  /** Starts the pods that do not run. */
  async function startPods(): Promise<void> {
    const pod = (name: string, command: readonly string[]) =>
      aManifest(name, {
        terminationGracePeriodSeconds: 0,
        hostNetwork: true,
        containers: [aContainer('main', {command})],
      });
    const manifests = [pod('top-web', TICKS), pod('top-api', ['sleep', '3600'])].join('\n---\n');
    const {exitCode, stderr} = await testbed.sync(manifests);
    expect(exitCode, stderr).toBe(0);
    if ((await testbed.find('top-other')) === undefined)
      await runPod(testbed.runtime.connection, {name: 'top-other'});
  }

  /** Opens a terminal whose shell knows kcri as `K` and the initial settings of the terminal. */
  async function atTerminal(
    columns: number,
    rows: number,
    env: Readonly<Record<string, string>> = {},
  ): Promise<TmuxTerminal> {
    const terminal = new TmuxTerminal(columns, rows, {
      KCRI_ROOT_DIR: testbed.runtime.rootDir,
      CONTAINER_RUNTIME_ENDPOINT: testbed.runtime.endpoint,
      K: KCRI_COMMAND.join(' '),
      LANG: 'C.UTF-8',
      ...env,
    });
    onTestFinished(() => {
      terminal[Symbol.dispose]();
    });
    terminal.typeLine('before=$(stty -g)');
    await terminal.clear();
    return terminal;
  }

  /** Expects this exit code, and the terminal as it was: its settings, its screen and its cursor. */
  async function endsWith(terminal: TmuxTerminal, exitCode: number): Promise<void> {
    // Until then keys would go to kcri.
    await until(() => terminal.describe('#{alternate_on}') === '0' && terminal.screen.endsWith('$'));
    terminal.typeLine('echo "code $? $([ "$(stty -g)" = "$before" ] && echo as before)"');
    await terminal.waitForScreen(new RegExp(`^(\\$ )?code ${exitCode} as before$`, 'm'));
    expect(terminal.screen).toMatch(/cleared$/m);
    expect(terminal.describe('#{cursor_flag}')).toBe('1');
  }

  /** Returns the pods on the screen in their order. */
  const podsOf = (terminal: TmuxTerminal): readonly string[] =>
    [...terminal.screen.matchAll(/^\S+\/(top-\w+) /gm)].map(([, name = '']) => name);

  test('the view has 60 by 20 and 200 by 60 cells, sorts, filters, has help, and restores the terminal', async () => {
    const terminal = await atTerminal(60, 20);
    terminal.typeLine('$K top --seconds 1');
    await terminal.waitForScreen(/^default\/top-web +(1\/1 +)?Running +0 +\d+\.\d+ +\S+B$/m);
    expect(terminal.screen).toMatch(/^ kcri top {3}CPU .* of \d+ {2}MEM .*B {2}PODS 3/m);
    expect(terminal.screen).toMatch(/^NAME +(READY )?STATE +RESTARTS +CPU%▼ +MEM\n/m);
    terminal.resize(200, 60);
    await terminal.waitForScreen(/^NAME .* CPU HISTORY +MEM HISTORY +PROBES +CONTAINER ID\n/m);
    await terminal.waitForScreen(/^\S+\/top-other .* <none> .*\n └ .*Running/m);
    expect(terminal.screen).toMatch(/^ node CPU .*[▁-█]$/m);

    terminal.pressKeys('N');
    await until(() => podsOf(terminal).join() === 'top-api,top-web,top-other');
    terminal.pressKeys('I');
    await until(() => podsOf(terminal).join() === 'top-other,top-web,top-api');
    terminal.pressKeys('<');
    await terminal.waitForScreen(/AGE▼/);
    terminal.pressKeys('/', 'P', '-', 'A');
    await until(() => podsOf(terminal).join() === 'top-api');
    await terminal.waitForScreen(/^ filter: P-A█$/m);
    terminal.pressKeys('Enter', 't');
    await terminal.waitForScreen(/^default\/top-api\/main /m);
    terminal.pressKeys('t');
    await until(() => podsOf(terminal).join() === 'top-api');
    terminal.pressKeys('Escape');
    await until(() => podsOf(terminal).length === 3);
    terminal.pressKeys('?');
    await terminal.waitForScreen(/Ctrl-D +delete the pod; asks first/);
    terminal.pressKeys('Escape');
    await until(() => podsOf(terminal).length === 3);
    terminal.pressKeys('q');
    await endsWith(terminal, 0);
  });

  test('a row leads to logs, description, events and a shell; the view can be suspended', async () => {
    const terminal = await atTerminal(100, 24, {NO_COLOR: '1'});
    terminal.typeLine('$K top top-web --seconds 1');
    await terminal.waitForScreen(/^default\/top-web .*\n └ main +yes +Running/m);
    // Without colors there are only bold, underlined and inverse text.
    expect(terminal.styledScreen).not.toMatch(/\u001B\[(?:\d+;)*(?:[34][0-8]|9\d)[;m]/);
    terminal.pressKeys('Down', 'l');
    await terminal.waitForScreen(/^ Logs {2}default\/top-web\/main .*following/);
    const last = (): number => Number(/.*^tick (\d+)$/ms.exec(terminal.screen)?.[1] ?? -1);
    const seen = last();
    await until(() => last() > seen + 2);
    terminal.pressKeys('/', 't', 'i', 'c', 'k', 'Space', '1', 'Enter');
    await terminal.waitForScreen(/^ search: tick 1 {2}line \d+$/m);
    // A key that follows Esc too soon would be read as a key with Alt.
    terminal.pressKeys('Escape');
    await terminal.waitForScreen(/^ *\n Esc back/m);
    terminal.pressKeys('Escape');
    await terminal.waitForScreen(/^ └ main /m);
    terminal.pressKeys('d');
    await terminal.waitForScreen(/^ Description {2}default\/top-web .*\nName: +top-web$/m);
    terminal.pressKeys('q');
    await terminal.waitForScreen(/^ └ main /m);
    terminal.pressKeys('e');
    await terminal.waitForScreen(/^ Events {2}default\/top-web[\s\S]*Started/m);
    terminal.pressKeys('q');
    await terminal.waitForScreen(/^ └ main /m);
    terminal.pressKeys('s');
    await terminal.waitForScreen(/^.*# *$/m);
    terminal.typeLine('echo in""side; exit');
    await terminal.waitForScreen(/^ └ main .*Running/m);
    terminal.pressKeys('C-z');
    await terminal.waitForScreen(/Stopped/);
    expect(terminal.screen).toMatch(/^inside$/m);
    terminal.typeLine('fg');
    await terminal.waitForScreen(/^ └ main .*Running/m);
    const {pid} = terminal;
    const [kcri] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    process.kill(Number(kcri), 'SIGTERM');
    await endsWith(terminal, 0);
  });

  test('pods are deleted after a question; containers of kcri are not', async () => {
    // A failed try may have deleted some.
    await startPods();
    const terminal = await atTerminal(100, 24);
    terminal.typeLine('$K top --seconds 1');
    await until(() => podsOf(terminal).length === 3);
    terminal.pressKeys('/', 'a', 'p', 'i', 'Enter');
    await until(() => podsOf(terminal).join() === 'top-api');
    terminal.pressKeys('Down', 'x');
    await terminal.waitForScreen(/this container is part of a pod of kcri/);
    const before = (await testbed.find('top-api'))?.containers[0]?.id;
    terminal.pressKeys('r', 'y');
    await terminal.waitForScreen(/^ default\/top-api\/main restarted$/m);
    // The last instance is kept for its state and logs.
    expect((await testbed.find('top-api'))?.containers.map(({id}) => id)).toHaveLength(2);
    terminal.pressKeys('Up', 'x');
    await terminal.waitForScreen(/^ Delete pod default\/top-api\? \(y\/n\)$/m);
    terminal.pressKeys('n');
    await terminal.waitForScreen(/^ 1 of 2/m);
    expect((await testbed.find('top-api'))?.containers.map(({id}) => id)).toContain(before);
    terminal.pressKeys('C-d', 'y');
    await until(async () => (await testbed.find('top-api')) === undefined);
    terminal.pressKeys('Escape');
    await until(() => podsOf(terminal).length === 2);
    terminal.pressKeys('/', 'o', 't', 'h', 'e', 'r', 'Enter', 'Home', 'x', 'y');
    await until(async () => (await testbed.find('top-other')) === undefined);
    await terminal.pressUntil('C-c', () => terminal.describe('#{alternate_on}') === '0');
    await endsWith(terminal, 0);
  });

  test.each(['dumb', 'linux'])('a terminal without a full screen, TERM=%s, shows the table', async (TERM) => {
    const terminal = await atTerminal(110, 24);
    terminal.typeLine(`TERM=${TERM} $K top --seconds 1`);
    for (const columns of [110, 70]) {
      terminal.resize(columns, 16);
      await terminal.waitForScreen(/^POD +READY +STATE[\s\S]*^default\/top-web +1\/1 +Running/m);
    }
    await terminal.pressUntilScreen('C-c', /\$ *$/);
    terminal.typeLine('echo "code $?"');
    await terminal.waitForScreen(/^(\$ )?code 0$/m);
  });
});
