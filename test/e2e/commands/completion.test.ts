import {mkdtemp, rm, symlink, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {FakeRuntime, aContainer, aSandbox, anImage} from '../../fakes/fake-runtime.js';
import {KCRI_FILE} from '../../kcri-command.js';
import {runKcriProcess} from '../harness/kcri-process.js';
import {TmuxTerminal} from '../harness/tmux-terminal.js';

const ID = '1234567890abc'.padEnd(64, '0');
const DEAD_ID = '9876543210abc'.padEnd(64, '0');

/** How each shell starts without user configuration, and how it loads the completion. */
const SHELLS = [
  {shell: 'bash', start: 'bash --norc --noprofile', load: 'source <(kcri completion bash)'},
  {
    shell: 'zsh',
    start: 'zsh -f',
    load: 'autoload -U compinit && compinit -u -D && source <(kcri completion zsh)',
  },
  {shell: 'fish', start: 'fish --no-config', load: 'kcri completion fish | source'},
] as const;

let runtime: FakeRuntime;
let folder: string;
beforeEach(async () => {
  const sandbox = aSandbox({name: 'web', namespace: 'default'});
  runtime = await FakeRuntime.start({
    sandboxes: [sandbox],
    containers: [
      aContainer({id: ID, sandbox, name: 'server'}),
      aContainer({id: DEAD_ID, sandbox, name: 'setup', state: 'CONTAINER_EXITED'}),
    ],
    images: [anImage({name: 'localhost:5000/team/app:1'})],
  });
  folder = await mkdtemp(join(tmpdir(), 'kcri-completion-'));
  await symlink(KCRI_FILE, join(folder, 'kcri'));
  await writeFile(join(folder, 'manifest.yaml'), '');
});
afterEach(async () => {
  await runtime.stop();
  await rm(folder, {recursive: true});
});

describe.each(SHELLS)('in $shell', ({start, load}) => {
  test('a tab completes commands, flags, values, files, names, IDs and images', async () => {
    using terminal = new TmuxTerminal(100, 30, {
      CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint,
      PATH: `${folder}:${process.env['PATH'] ?? ''}`,
      HOME: folder,
    });
    terminal.typeLine(`cd ${folder}; exec ${start}`);
    terminal.typeLine(`${load}; echo lo"ad"ed`);
    await terminal.waitForScreen(/^loaded$/m);
    const completes = async (typed: string, complete: string): Promise<void> => {
      terminal.pressKeys('-l', typed);
      terminal.pressKeys('Tab');
      terminal.pressKeys('-l', '#');
      await terminal.waitForScreen(new RegExp(`kcri ${complete} #`));
      // A shell drops keys, Ctrl-C included, until it has drawn the completed line, and input until it shows its prompt.
      await terminal.pressUntilScreen('C-c', /\n(?!.*kcri )[^\n]*[$#]$/);
    };
    await completes('kcri port-', 'port-forward');
    await completes('kcri -D logs --timest', '-D logs --timestamps');
    await completes('kcri ps --state=exi', 'ps --state=exited');
    await completes('kcri runp mani', 'runp manifest.yaml');
    await completes('kcri exec serv', 'exec server');
    await completes('kcri rm 98', 'rm 9876543210abc');
    await completes('kcri rmi localhost:5', 'rmi localhost:5000/team/app:1');
    await completes('kcri runtime sta', 'runtime status');
  });
});

describe('suggestions', () => {
  const suggest = async (...words: string[]): Promise<string[]> => {
    const args = ['completion', '--suggest', '--', ...words];
    const {stdout, stderr, exitCode} = await runKcriProcess(args, {
      env: {CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint},
    });
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    return stdout.split('\n').slice(0, -1);
  };

  test('are objects that the command accepts', async () => {
    expect(await suggest('stop', '')).toEqual([
      '1234567890abc\tcontainer server of pod web, running',
      'server\tcontainer of pod web, running',
    ]);
    expect(await suggest('logs', 's')).toHaveLength(2);
    expect(await suggest('start', '')).toEqual([]);
  });

  test('use the runtime on the command line, and are empty if it is unavailable', async () => {
    expect(await suggest('-r', '/nowhere/cri.sock', 'stop', '')).toEqual([]);
    runtime.injectError('ListContainers', {code: 'INTERNAL', message: 'no'});
    expect(await suggest('stop', '')).toEqual([]);
  });

  test('are empty after the container of exec', async () => {
    expect(await suggest('exec', 'server', '--t')).toEqual([]);
    expect(await suggest('exec', '--tt')).toEqual(['--tty\tAllocate a terminal for the command']);
  });
});
