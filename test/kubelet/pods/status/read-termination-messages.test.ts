import {execFileSync} from 'node:child_process';
import {mkdir, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {Mount} from '../../../../src/cri/index.js';
import {readTerminationMessages} from '../../../../src/kubelet/pods/status/read-termination-messages.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {anInstance} from '../runtime-pod-builders.js';

const PATH = '/dev/termination-log';

function aMount(hostPath: string, containerPath = PATH): Mount {
  return {
    hostPath,
    containerPath,
    readonly: false,
    selinuxRelabel: false,
    propagation: 'PROPAGATION_PRIVATE',
    uidMappings: [],
    gidMappings: [],
    recursiveReadOnly: false,
    imageSubPath: '',
    mountOptions: [],
  };
}

interface Exit {
  readonly policy?: 'File' | 'FallbackToLogsOnError';
  readonly exitCode?: number;
  readonly reason?: string;
  readonly state?: 'CONTAINER_RUNNING' | 'CONTAINER_EXITED';
  /** As the Pod writes it. */
  readonly path?: string;
}

/** The last words of a container with these files. */
async function lastWords(directory: string, exit: Exit = {}): Promise<string | undefined> {
  const {policy = 'File', exitCode = 1, reason = 'Error', state = 'CONTAINER_EXITED', path = PATH} = exit;
  const instance = anInstance('main', state, {
    exitCode,
    reason,
    mounts: [aMount('/elsewhere', '/other'), aMount(join(directory, 'message'))],
    logPath: join(directory, '0.log'),
    annotations: {
      'io.kubernetes.container.terminationMessagePath': path,
      'io.kubernetes.container.terminationMessagePolicy': policy,
    },
  });
  return (await readTerminationMessages({containers: [instance]})).get(instance.id);
}

function logLine(text: string, tag = 'F', stream = 'stdout'): string {
  return `2026-11-20T10:00:00.000000001Z ${stream} ${tag} ${text}\n`;
}

test('what is in the file is the message, also of a container that ended well', async () => {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, 'message'), 'bye\n');
  expect(await lastWords(directory)).toBe('bye\n');
  expect(await lastWords(directory, {exitCode: 0, reason: 'Completed'})).toBe('bye\n');
  expect(await lastWords(directory, {state: 'CONTAINER_RUNNING'})).toBeUndefined();
});

test('a path that is not from the root is meant from the root', async () => {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, 'message'), 'bye');
  expect(await lastWords(directory, {path: 'dev/termination-log'})).toBe('bye');
});

test('of a long message the last 4096 bytes count', async () => {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, 'message'), `${'a'.repeat(5000)}${'b'.repeat(4096)}`);
  expect(await lastWords(directory)).toBe('b'.repeat(4096));
});

test('a file that is missing or empty says nothing', async () => {
  const directory = await temporaryDirectory();
  expect(await lastWords(directory)).toBeUndefined();
  await writeFile(join(directory, 'message'), '');
  expect(await lastWords(directory)).toBeUndefined();
});

test('the end of the log stands in for an empty file, when the container failed and asks for it', async () => {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, 'message'), '');
  await writeFile(join(directory, '0.log'), logLine('line1') + logLine('line2', 'F', 'stderr'));
  const policy = 'FallbackToLogsOnError';
  expect(await lastWords(directory, {policy})).toBe('line1\nline2\n');
  expect(await lastWords(directory)).toBeUndefined();
  expect(await lastWords(directory, {policy, exitCode: 0})).toBeUndefined();
  expect(await lastWords(directory, {policy, reason: 'ContainerCannotRun'})).toBeUndefined();
  await writeFile(join(directory, 'message'), 'bye');
  expect(await lastWords(directory, {policy})).toBe('bye');
});

test('of the log the last 80 lines count, and of them the last 2048 bytes', async () => {
  const directory = await temporaryDirectory();
  const policy = 'FallbackToLogsOnError';
  const lines = [...Array(100).keys()].map((index) => logLine(String(index)));
  await writeFile(join(directory, '0.log'), lines.join(''));
  expect((await lastWords(directory, {policy}))?.split('\n').slice(0, 2)).toEqual(['20', '21']);
  await writeFile(join(directory, '0.log'), logLine('x'.repeat(9000), 'P') + logLine('end').repeat(2));
  expect(await lastWords(directory, {policy})).toBe(`${'x'.repeat(2048 - 8)}end\nend\n`);
});

test('a log that is larger than what is read of it gives its end', async () => {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, '0.log'), logLine('y'.repeat(3000)).repeat(100));
  expect(await lastWords(directory, {policy: 'FallbackToLogsOnError'})).toBe(`${'y'.repeat(2047)}\n`);
});

test('a log that cannot be read is what is said', async () => {
  const directory = await temporaryDirectory();
  expect(await lastWords(directory, {policy: 'FallbackToLogsOnError'})).toBe(
    'Error on reading termination message from logs: no such file or directory',
  );
});

test('no link is followed to another file of the node', async () => {
  const directory = await temporaryDirectory();
  await symlink('/etc/hostname', join(directory, 'message'));
  expect(await lastWords(directory)).toBe(
    `Error on reading termination log ${directory}/message: too many symbolic links encountered`,
  );
});

test.each([
  ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
  ['a directory', async (path: string) => mkdir(path)],
])('%s in the place of the file is not waited for and says nothing', async (_title, place) => {
  const directory = await temporaryDirectory();
  await place(join(directory, 'message'));
  expect(await lastWords(directory)).toBeUndefined();
});
