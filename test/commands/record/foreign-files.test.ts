import {
  lchown,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import {createServer} from 'node:net';
import {once} from 'node:events';
import {dirname, join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {canonicalEndpoint, recorderLink, recorderTarget} from '../../../src/cri/endpoint.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {runKcri} from '../../cli/run-kcri.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';
import {startRecorder} from './recorder.js';

const isRoot = process.getuid?.() === 0;
const STRANGER = 1234;

/** Listens on a socket until the test ends. */
async function listen(path: string): Promise<void> {
  const server = createServer().listen(path);
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
}

/** Things that a recorder may find at one of its paths, and has not made. */
const FOREIGN: readonly (readonly [string, (path: string) => Promise<void>])[] = [
  [
    'a file',
    async (path) => {
      await writeFile(path, 'mine');
    },
  ],
  [
    'a directory',
    async (path) => {
      await mkdir(path);
    },
  ],
  [
    'a link',
    async (path) => {
      await symlink('/etc/hostname', path);
    },
  ],
];
const FOREIGN_SOCKET = [
  'a socket of another user',
  async (path: string): Promise<void> => {
    await listen(path);
    await lchown(path, STRANGER, STRANGER);
  },
] as const;

/** Returns what can be seen of each file of a directory. */
async function filesOf(directory: string): Promise<readonly object[]> {
  const names = (await readdir(directory)).toSorted();
  return await Promise.all(
    names.map(async (name) => {
      const {ino, mode, uid, mtimeMs} = await lstat(join(directory, name));
      return {name, ino, mode, uid, mtimeMs};
    }),
  );
}

describe('record --swap', () => {
  const paths = ['kcri-runtime', 'kcri-record', 'kcri-record.next'];
  test.each(
    paths.flatMap((name) =>
      [...FOREIGN, ...(isRoot ? [FOREIGN_SOCKET] : [])].map(([what, make]) => [what, name, make] as const),
    ),
  )('%s at SOCKET.%s is refused, and nothing is touched', async (_, name, make) => {
    await using runtime = await FakeRuntime.start();
    const foreign = `${runtime.socketPath}.${name}`;
    await make(foreign);
    const directory = dirname(runtime.socketPath);
    const before = await filesOf(directory);
    const {stderr, exitCode} = await runKcri(['record', '--swap', '--summary', '--', 'true'], {
      endpoint: runtime.endpoint,
    });
    expect({stderr, exitCode}).toEqual({
      exitCode: 1,
      stderr: `kcri: cannot swap "${runtime.socketPath}": "${foreign}" was not made by a recorder\nhint: move it away\n`,
    });
    expect(await filesOf(directory)).toEqual(before);
  });

  test('sockets that a killed recorder has left are removed', async () => {
    await using runtime = await FakeRuntime.start();
    const left = `${runtime.socketPath}.kcri-record`;
    await listen(`${left}.listening`);
    await rename(`${left}.listening`, left);
    const {end} = await startRecorder(runtime, ['--swap']);
    expect((await end()).exitCode).toBe(0);
    await expect(stat(left)).rejects.toThrow('ENOENT');
  });
});

describe('record --listen', () => {
  test.each([
    ...FOREIGN,
    ...(isRoot
      ? [
          [
            'a link of another user',
            async (path: string): Promise<void> => {
              await symlink(recorderTarget(1, '/run/runtime.sock'), path);
              await lchown(path, STRANGER, STRANGER);
            },
          ] as const,
        ]
      : []),
  ])('%s at SOCKET.kcri-recorded is refused, and nothing is touched', async (_, make) => {
    await using runtime = await FakeRuntime.start();
    const directory = await temporaryDirectory();
    const socket = join(directory, 'record.sock');
    await make(recorderLink(socket));
    const before = await filesOf(directory);
    const {stderr, exitCode} = await runKcri(['record', `--listen=${socket}`, '--summary', '--', 'true'], {
      endpoint: runtime.endpoint,
    });
    expect({stderr, exitCode}).toEqual({
      exitCode: 1,
      stderr:
        `kcri: cannot create the link "${recorderLink(socket)}": it exists and was not made by a recorder\n` +
        'hint: move it away, or listen on another path\n',
    });
    expect(await filesOf(directory)).toEqual(before);
  });

  test('the link of a killed recorder is replaced', async () => {
    await using runtime = await FakeRuntime.start();
    const socket = join(await temporaryDirectory(), 'record.sock');
    await symlink(recorderTarget(1, '/run/other.sock'), recorderLink(socket));
    const script = `test -S "$1" && readlink "$1.kcri-recorded" | grep -qv '^1:'`;
    const program = ['--', 'sh', '-c', script, 'sh', socket];
    const args = ['record', `--listen=${socket}`, '--summary', ...program];
    expect(await runKcri(args, {endpoint: runtime.endpoint})).toMatchObject({exitCode: 0});
    await expect(readFile(recorderLink(socket))).rejects.toThrow('ENOENT');
  });

  test.runIf(isRoot)('a link beside the socket of another user is not followed (needs root)', async () => {
    const path = join(await temporaryDirectory(), 'cri.sock');
    await writeFile(path, '');
    const own = await canonicalEndpoint(path);
    await symlink(recorderTarget((await stat(path)).ino, '/run/runtime.sock'), recorderLink(path));
    expect(await canonicalEndpoint(path)).toBe('unix:///run/runtime.sock');
    await lchown(recorderLink(path), STRANGER, STRANGER);
    expect(await canonicalEndpoint(path)).toBe(own);
    await rm(recorderLink(path));
  });
});
