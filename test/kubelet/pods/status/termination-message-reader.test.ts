import {execFileSync} from 'node:child_process';
import {mkdir, rm, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {Mount} from '../../../../src/cri/index.js';
import {TerminationMessageReader} from '../../../../src/kubelet/pods/status/termination-message-reader.js';
import type {RuntimeContainerStatus} from '../../../../src/kubelet/contract/runtime-pod-status.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {anInstance} from '../../../fakes/a-runtime-pod.js';

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
  /** terminationMessagePath as written in the Pod. */
  readonly path?: string;
}

/** Returns the termination message of a container with the files of this directory. */
async function terminationMessage(directory: string, exit: Exit = {}): Promise<string | undefined> {
  const instance = aContainer(directory, exit);
  return (await new TerminationMessageReader().read({containers: [instance]})).get(instance.id);
}

function aContainer(directory: string, exit: Exit = {}): RuntimeContainerStatus {
  const {policy = 'File', exitCode = 1, reason = 'Error', state = 'CONTAINER_EXITED', path = PATH} = exit;
  return anInstance('main', state, {
    exitCode,
    reason,
    mounts: [aMount('/elsewhere', '/other'), aMount(join(directory, 'message'))],
    logPath: join(directory, '0.log'),
    annotations: {
      'io.kubernetes.container.terminationMessagePath': path,
      'io.kubernetes.container.terminationMessagePolicy': policy,
    },
  });
}

function logLine(text: string, tag = 'F', stream = 'stdout'): string {
  return `2026-11-20T10:00:00.000000001Z ${stream} ${tag} ${text}\n`;
}

test('the content of the file is the message, also after a successful exit', async () => {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, 'message'), 'bye\n');
  expect(await terminationMessage(directory)).toBe('bye\n');
  expect(await terminationMessage(directory, {exitCode: 0, reason: 'Completed'})).toBe('bye\n');
  expect(await terminationMessage(directory, {state: 'CONTAINER_RUNNING'})).toBeUndefined();
});

test('a relative path is resolved from the root of the container', async () => {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, 'message'), 'bye');
  expect(await terminationMessage(directory, {path: 'dev/termination-log'})).toBe('bye');
});

test('a long message is truncated to its last 4096 bytes', async () => {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, 'message'), `${'a'.repeat(5000)}${'b'.repeat(4096)}`);
  expect(await terminationMessage(directory)).toBe('b'.repeat(4096));
});

test('a missing or empty file gives no message', async () => {
  const directory = await temporaryDirectory();
  expect(await terminationMessage(directory)).toBeUndefined();
  await writeFile(join(directory, 'message'), '');
  expect(await terminationMessage(directory)).toBeUndefined();
});

test('FallbackToLogsOnError uses the end of the log if the container failed and the file is empty', async () => {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, 'message'), '');
  await writeFile(join(directory, '0.log'), logLine('line1') + logLine('line2', 'F', 'stderr'));
  const policy = 'FallbackToLogsOnError';
  expect(await terminationMessage(directory, {policy})).toBe('line1\nline2\n');
  expect(await terminationMessage(directory)).toBeUndefined();
  expect(await terminationMessage(directory, {policy, exitCode: 0})).toBeUndefined();
  expect(await terminationMessage(directory, {policy, reason: 'ContainerCannotRun'})).toBeUndefined();
  await writeFile(join(directory, 'message'), 'bye');
  expect(await terminationMessage(directory, {policy})).toBe('bye');
});

test('the message from the log is limited to the last 80 lines and 2048 bytes', async () => {
  const directory = await temporaryDirectory();
  const policy = 'FallbackToLogsOnError';
  const lines = [...Array(100).keys()].map((index) => logLine(String(index)));
  await writeFile(join(directory, '0.log'), lines.join(''));
  expect((await terminationMessage(directory, {policy}))?.split('\n').slice(0, 2)).toEqual(['20', '21']);
  await writeFile(join(directory, '0.log'), logLine('x'.repeat(9000), 'P') + logLine('end').repeat(2));
  expect(await terminationMessage(directory, {policy})).toBe(`${'x'.repeat(2048 - 8)}end\nend\n`);
});

test('the end of a log larger than the read limit is used', async () => {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, '0.log'), logLine('y'.repeat(3000)).repeat(100));
  expect(await terminationMessage(directory, {policy: 'FallbackToLogsOnError'})).toBe(
    `${'y'.repeat(2047)}\n`,
  );
});

test('a log that cannot be read gives an error message', async () => {
  const directory = await temporaryDirectory();
  expect(await terminationMessage(directory, {policy: 'FallbackToLogsOnError'})).toBe(
    'Error on reading termination message from logs: no such file or directory',
  );
});

test('symbolic links to other files of the node are not followed', async () => {
  const directory = await temporaryDirectory();
  await symlink('/etc/hostname', join(directory, 'message'));
  expect(await terminationMessage(directory)).toBe(
    `Error on reading termination log ${directory}/message: too many symbolic links encountered`,
  );
});

test.each([
  ['a named pipe', (path: string) => execFileSync('mkfifo', [path])],
  ['a directory', async (path: string) => mkdir(path)],
])('%s in place of the file does not block and gives no message', async (_title, create) => {
  const directory = await temporaryDirectory();
  await create(join(directory, 'message'));
  expect(await terminationMessage(directory)).toBeUndefined();
});

test('the message of an exited container is read once, and again after an error', async () => {
  const directory = await temporaryDirectory();
  const reader = new TerminationMessageReader();
  const container = aContainer(directory);
  const read = async (): Promise<string | undefined> =>
    (await reader.read({containers: [container]})).get(container.id);
  const path = join(directory, 'message');
  await symlink('/etc/passwd', path);
  expect(await read()).toContain('Error on reading termination log');
  await rm(path);
  await writeFile(path, 'bye');
  expect(await read()).toBe('bye');
  await writeFile(path, 'written by another container');
  expect(await read()).toBe('bye');
  await reader.read({containers: []});
  expect(await read()).toBe('written by another container');
});

test('the message from the log is read again, since the runtime may still write it', async () => {
  const directory = await temporaryDirectory();
  const reader = new TerminationMessageReader();
  const container = aContainer(directory, {policy: 'FallbackToLogsOnError'});
  const read = async (): Promise<string | undefined> =>
    (await reader.read({containers: [container]})).get(container.id);
  await writeFile(join(directory, '0.log'), logLine('one'));
  expect(await read()).toBe('one\n');
  await writeFile(join(directory, '0.log'), logLine('one') + logLine('two'));
  expect(await read()).toBe('one\ntwo\n');
});
